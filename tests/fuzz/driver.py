"""Runs damaged files and random command lines through the command line, and says what did not end as it must.

`python tests/fuzz/driver.py --files 5000 --lines 5000 --seed 21`. A case is a function of (seed, kind, number). Cases
run in this process's children, a hundred each, through `hardness.cli.run`; one in two hundred as a command of its own.
It must end with exit code 0, 1 or 2, one line of error on 2, no traceback, within 20 s of CPU and 1 GB, and with no
file beside the output that it names.
"""

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
from formats import FORMATS
from lines import line

from hardness import cli

SECONDS, WALL, BYTES, BATCH, APART = 20, 120, 1 << 30, 100, 200
ROOM = 6 << 30  # of addresses, so that what is too much fails instead of taking the machine


class Hang(BaseException):
    """A case took too long."""


def case(seed: int, kind: str, number: int, folder: Path) -> list[list[str]]:
    """The command lines of a case, whose files are written to `folder`."""
    place = [*FORMATS, "lines"].index(kind)
    rng = np.random.default_rng([seed, place, number])
    return [line(rng, folder)] if kind == "lines" else FORMATS[kind](rng, folder)


def complaint(seed: int, kind: str, number: int, folder: Path) -> str:
    """What is wrong with how a case ended; nothing if all is well."""
    os.chdir(folder)
    for words in case(seed, kind, number, folder):
        before = {str(p) for p in folder.rglob("*")}
        code, said = command(words) if number % APART == APART - 1 else here(words)
        named = {words[i + 1] for i, word in enumerate(words[:-1]) if word == "--out"} | {"out"}
        wrong = judged(code, said)
        tops = {str(Path(p).relative_to(folder)).split("/")[0] for p in {str(p) for p in folder.rglob("*")} - before}
        page = {"index.html", "rows.csv", "summary.json"} if "report" in words else set()
        stray = {t for t in tops if t not in page and not t.startswith("rows.db-") and not t.endswith((".svg", ".pdf"))}
        stray -= {Path(name).parts[0] for name in named if name and Path(name).parts}
        wrong = wrong or (f"stray files {sorted(stray)}" if stray else "")
        if wrong:
            return f"{[w if len(w) < 60 else w[:20] + f'…({len(w)})' for w in words]}: {wrong}"
    return ""


def judged(code: object, said: str) -> str:
    """What is wrong with an exit code and what was said on stderr."""
    if code not in (0, 1, 2):
        return f"ended with {code}: {said[-600:]}"
    if "Traceback (most recent call last)" in said:
        return f"traceback: {said[-600:]}"
    errors = re.findall(r"(?m)^error: .*$", said)
    if code == 2 and (len(errors) != 1 or len(errors[0]) > 2000):
        return f"{len(errors)} lines of error, {sum(map(len, errors))} characters: {said[-300:]!r}"
    return "control characters on the terminal" if re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", said) else ""


def command(words: list[str]) -> tuple[object, str]:
    """Run as a command of its own."""
    start = [sys.executable, "-c", "from hardness.cli import main; main()"]
    raw = [os.fsencode(word) for word in words]
    if any(b"\0" in word for word in raw) or sum(map(len, raw)) > 100_000:
        return here(words)
    told = subprocess.run([*start, *raw], capture_output=True, timeout=60)
    return told.returncode, told.stderr.decode("utf-8", "replace")


def here(words: list[str]) -> tuple[object, str]:
    """Run in this process, stdout and stderr to files as strict and as lenient as the real ones."""
    folder = tempfile.mkdtemp(prefix="fuzz-said-")
    kept = sys.stdout, sys.stderr
    out, err = Path(folder, "out"), Path(folder, "err")
    with (
        out.open("w", encoding="utf-8") as stdout,
        err.open("w", encoding="utf-8", errors="backslashreplace") as stderr,
    ):
        sys.stdout, sys.stderr = stdout, stderr
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of CPU: a busy machine is no hang
        signal.alarm(WALL)
        try:
            code: object = cli.run(list(words))
        except Hang:
            code = "hang"
        except BaseException as error:
            code = f"{type(error).__name__} at {where(error)}"
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
            sys.stdout, sys.stderr = kept
    said = err.read_text(encoding="utf-8", errors="replace")
    for path in (out, err):
        path.unlink()
    Path(folder).rmdir()
    return code, said


def where(error: BaseException) -> str:
    """The deepest line of ours in a traceback, and the text."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f"{Path(f.filename).name}:{f.lineno}" for f in frames if "/hardness/" in f.filename][-2:]
    return f"{' '.join(ours)}: {str(error)[:100]!r}"


def batch(seed: int, kind: str, numbers: range) -> list[str]:
    """Complaints about a few cases, run in a child that may die."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, _hang)
        signal.signal(signal.SIGPROF, _hang)
        resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
        with os.fdopen(writing, "w", errors="backslashreplace") as out:
            for number in numbers:
                print(f"#{number}", file=out, flush=True)
                with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as folder:
                    wrong = complaint(seed, kind, number, Path(folder).resolve())
                    os.chdir("/")
                most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                if most * 1024 > BYTES and not wrong:
                    wrong = f"{most / 2**20:.1f} GB of memory (or by one before it)"
                if wrong:
                    print(f"{kind} {number}: {wrong}".replace("\n", " | "), file=out, flush=True)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, errors="replace") as told:
        lines = told.read().splitlines()
    status = os.waitpid(child, 0)[1]
    found = [each for each in lines if not each.startswith("#")]
    if status:
        last = int([each for each in lines if each.startswith("#")][-1][1:])
        found.append(f"{kind} {last}: its process ended with {os.waitstatus_to_exitcode(status)}")
        found += batch(seed, kind, range(last + 1, numbers.stop)) if last + 1 < numbers.stop else []
    return found


def _hang(*_: object) -> None:
    raise Hang


def fuzz(seed: int, kind: str, count: int, show: bool = False) -> list[str]:
    """Complaints about the first `count` cases of a kind."""
    found: list[str] = []
    for first in range(0, count, BATCH):
        new = batch(seed, kind, range(first, min(count, first + BATCH)))
        found += new
        if show:
            for each in new:
                print("  " + each, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=5000, help="damaged files a format")
    parser.add_argument("--lines", type=int, default=5000, help="random command lines")
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--only", choices=[*FORMATS, "lines"])
    options = parser.parse_args()
    import_module("numba")  # once here, not in every child

    total = 0
    for kind in [options.only] if options.only else [*FORMATS, "lines"]:
        count = options.lines if kind == "lines" else options.files
        began, used = time.monotonic(), sum(os.times()[:4])
        found = fuzz(options.seed, kind, count, show=True)
        total += len(found)
        ways = Counter(re.sub(r".* at ([\w.]+:\d+).*", r"\1", each)[-40:] for each in found).most_common(6)
        spent = f"{time.monotonic() - began:.0f} s, {sum(os.times()[:4]) - used:.0f} s of CPU"
        print(
            f"{kind}: {len(found)} of {count} did not end as they must, seed {options.seed}; {spent}", ways, flush=True
        )
    sys.exit(1 if total else 0)


if __name__ == "__main__":
    main()
