"""Tables of results, to nine digits: prices, plans, bounds and games, each a function at some arguments.

A number that moves is a decision. `PYTHONPATH=tests/support python tests/support/kept.py tests/*/kept.json` computes
every result anew, and the commit that changes a table says why.
"""

import json
import sys
from dataclasses import is_dataclass
from math import isclose
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
from attack_examples import examples, planted

from hardness import registry
from hardness.errors import InputError


def test_no_result_has_moved(request):
    """Rows of the table beside the test: arguments and options of a function, its result."""
    table = json.loads(request.path.with_name("kept.json").read_text())
    fresh = [(name, *row, result(name, *row[:2])) for name, rows in table.items() for row in rows]
    assert [row for row in fresh if len(row[3]) != len(row[4]) or not all(map(alike, row[3], row[4]))] == []


def alike(was, now):
    return was == now or (isinstance(now, float) and isclose(was, now, rel_tol=1e-9, abs_tol=1e-11))


def result(name, arguments, options):
    """What a function returns, then the arrays given to it that it has changed; or the name of its error."""
    given = made(arguments)
    before = [each.copy() if isinstance(each, np.ndarray) else None for each in given]
    try:
        returned = resolve_name(name)(*given, **options)
    except (InputError, ArithmeticError) as error:
        return [type(error).__name__]
    changed = [a for a, b in zip(given, before, strict=True) if b is not None and not np.array_equal(a, b)]
    return [*numbers(returned), *numbers(changed)]


def made(value):
    """An argument; {"module:function": arguments} stands for what that call returns."""
    if isinstance(value, list):
        return [made(each) for each in value]
    if isinstance(value, dict) and ":" in (name := next(iter(value), "")):
        return resolve_name(name)(*made(value[name]))
    return value


def numbers(value):
    """The numbers and names in a result, but no sentences; of a large array its shape, norm and a sum."""
    if is_dataclass(value) and not isinstance(value, type):
        value = vars(value)
    if isinstance(value, dict):
        value = [part for key, part in value.items() if key not in ("seconds", "version")]
    if isinstance(value, np.ndarray) and value.size > 12:
        flat = np.nan_to_num(value.ravel().astype(np.complex128), posinf=7)
        turned = complex(flat @ np.exp(1j * np.arange(flat.size)))
        yield from (*value.shape, float(np.linalg.norm(flat)), turned.real, turned.imag)
    elif isinstance(value, np.ndarray | np.generic):
        yield from numbers(value.tolist())
    elif value is None or isinstance(value, int | float | str):
        yield from () if " " in str(value) else (value,)
    elif hasattr(value, "__iter__"):
        for part in value:
            yield from numbers(part)
    elif hasattr(value, "__float__"):  # a rational, or a number of mpmath
        yield str(value)


def recovery(attack, n, q, p, weight, rows, **options):
    data = examples(planted(n, q, weight), q, p, count=rows, seed=1, **options)
    return registry.get("attack", attack)(*data)


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        table = json.loads(path.read_text())
        lines = [
            f'"{name}": [\n'
            + ",\n".join(json.dumps([*row[:2], result(name, *row[:2])]) for row in rows)
            + "]"
            for name, rows in table.items()
        ]
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
