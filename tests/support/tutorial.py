"""Runs a tutorial of docs/tutorials in the folder it is started in: `python tutorial.py PAGE`.

It exits with 1 where what happens differs from what the page shows.

Blocks run in order, as a reader would: ```python in one program, with what it prints in the ```text block after it;
```console line by line; and a block with a title is a file that the reader writes. "…" stands for any text.
"""

import contextlib
import io
import linecache
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r'(?ms)^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$')


class Block(NamedTuple):
    """A fenced block: its language, the file it is if it is one, its text, and what is to be printed."""

    language: str
    file: str
    text: str
    shown: str | None


def blocks(page: str) -> Iterator[Block]:
    """The blocks of a page that do something."""
    fenced = [Block(*fence.groups(default=""), None) for fence in FENCE.finditer(page)]
    for block, after in zip(fenced, [*fenced, None][1:], strict=True):
        if block.language != "text":
            yield block._replace(shown=after.text if after and after.language == "text" else None)


def compare(page: str, place: str, printed: str, shown: str):
    """End where what was printed is not what the page shows, up to "…" and blanks."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in shown.split("…")]
    if not re.fullmatch(r"\s*" + r"\s*.*?\s*".join(parts) + r"\s*", printed, flags=re.S):
        sys.exit(f"{page}: {place}\n--- the page shows\n{shown}\n--- what came\n{printed}")


def run_python(page: str, number: int, block: Block):
    name, out = f"{page}[{number}]", io.StringIO()
    linecache.cache[name] = (len(block.text), None, block.text.splitlines(keepends=True), name)
    with contextlib.redirect_stdout(out):
        exec(compile(block.text, name, "exec"), vars(sys.modules["__main__"]))  # the page is ours
    if block.shown is not None:
        compare(page, block.text, out.getvalue(), block.shown)


def run_console(page: str, block: Block):
    for command, shown in re.findall(r"(?m)^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n?)*)", block.text):
        completed = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        if completed.returncode != 0:
            sys.exit(
                f"{page}: $ {command} (exit {completed.returncode})\n{completed.stdout}{completed.stderr}"
            )
        compare(page, f"$ {command}", completed.stdout, shown if shown.strip() else "…")


def main(path: Path):
    """Run one page."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    sys.path.insert(0, os.getcwd())
    for number, block in enumerate(blocks(path.read_text(encoding="utf-8"))):
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run_python(path.name, number, block)
        elif block.language == "console":
            run_console(path.name, block)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
