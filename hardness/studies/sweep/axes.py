"""The axes of a grid: lists make a product, zipped lists go in step, and an expression follows from other parameters.

>>> ray = {"dim": "4*heads", "heads": [2, 3]}
>>> [(cell["dim"], cell["heads"]) for cell in cells(ray)]
[(8, 2), (12, 3)]
>>> [(cell["dim"], cell["heads"]) for cell in cells({"dim": [8, 10], "heads": [2, 3]}, zipped=["dim", "heads"])]
[(8, 2), (10, 3)]
"""

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import product
from math import prod
from operator import add, floordiv, mul, sub
from typing import Any

from hardness.errors import InputError, unknown

OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: add,
    ast.Sub: sub,
    ast.Mult: mul,
    ast.FloorDiv: floordiv,
}
LONGEST = 100  # characters of an expression: what is nested deeper than Python evaluates is longer


def listed(value: Any) -> list[Any]:
    """Return the values of one parameter of a grid: a list as it is, anything else as a list of one."""
    return value if isinstance(value, list) else [value]


def cells(
    table: Mapping[str, Any], zipped: Sequence[str] = (), words: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return every cell of a grid, a dict of one value per parameter in `table`, whose lists make a product.

    Lists named in `zipped` are paired by index and vary fastest. A text with an operator, as "4*heads", is an
    expression of others, unless its name is in `words`. Raises `InputError` for lists or expressions that do not fit.
    """
    trees = {name: _parsed(value) for name, value in table.items() if name not in words}
    formulas = {name: tree for name, tree in trees.items() if tree is not None}
    order = _order(formulas, table)
    if strange := [name for name in zipped if name not in table]:
        raise unknown("axis of zip", strange[0], table)
    lengths = [len(listed(table[name])) for name in zipped]
    if len({*lengths}) > 1 or len({*zipped}) < len(zipped):
        raise InputError(
            f"zip pairs axes of equal lengths, each named once: {', '.join(zipped)} have {lengths}"
        )
    free = [name for name in table if name not in (*zipped, *formulas)]
    steps = zip(*(listed(table[name]) for name in zipped), strict=True) if zipped else [()]
    every = []
    for *values, step in product(*(listed(table[name]) for name in free), steps):
        cell = dict(zip([*free, *zipped], [*values, *step], strict=True))
        for name in order:
            cell[name] = _value(formulas[name], cell, name)
        every.append({name: cell[name] for name in table})
    return every


def size(table: Mapping[str, Any], zipped: Sequence[str] = ()) -> int:
    """Return the number of cells of a grid without making them; the lists named in `zipped` are paired by index."""
    lengths = {name: len(value) for name, value in table.items() if isinstance(value, list)}
    in_step = max((lengths.pop(name, 1) for name in zipped), default=1)
    return in_step * prod(lengths.values())


def _parsed(value: Any) -> ast.expr | None:
    """Return the syntax tree of a text with an operator, such as "4*heads"; None for any other value or text."""
    if not isinstance(value, str) or len(value) > LONGEST:
        return None
    try:
        tree = ast.parse(value.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return tree if isinstance(tree, ast.BinOp | ast.UnaryOp) else None


def _value(tree: ast.expr, cell: Mapping[str, Any], name: str) -> int:
    """Return the integer value of the expression for `name`, given a cell's other values. Raises `InputError`."""
    match tree:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=entry) if type(cell[entry]) is int:
            return int(cell[entry])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, cell, name)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            first, second = _value(left, cell, name), _value(right, cell, name)
            if second or not isinstance(operator, ast.FloorDiv):
                return OPERATORS[type(operator)](first, second)
    raise InputError(
        f"{name}: {ast.unparse(tree)} has no value; an expression holds integers, names of other parameters that are "
        "integers, + - * // (by no zero) and brackets"
    )


def _order(formulas: Mapping[str, ast.expr], table: Mapping[str, Any]) -> list[str]:
    """Return the names given by expressions (`formulas`) in an order of evaluation; `InputError` for a circle."""
    used = {
        name: {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for name, tree in formulas.items()
    }
    for name, entries in used.items():
        if strange := sorted(entries - table.keys()):
            raise unknown(f"parameter in {name} = {ast.unparse(formulas[name])}", strange[0], table)
    try:
        return [name for name in TopologicalSorter(used).static_order() if name in formulas]
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise InputError(f"expressions of the grid lead in a circle: {circle}; give a number") from None
