"""docs/theory.md as the tests read it: its sections, its tables, and what a printed figure stands for."""

import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "theory.md").read_text()
SECTIONS = {
    m[1]: m[2] for m in re.finditer(r"(?ms)^#{2,3} (\d(?:\.\d+)?[a-z]?)\.? (.*?)(?=^#{2,3} |\Z)", TEXT)
}


def table(section, first):
    """The cells of the table of a section whose header begins with `first`."""
    lines = SECTIONS[section].splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def near(shown, value):
    """Whether `value` rounds to the figure shown."""
    digits = len(shown.split(".")[1]) if "." in shown else 0
    return abs(float(shown) - value) <= 0.5000001 * 10**-digits


def characters(points, r):
    """Characters of the sets `points` (masks) over all 2^r sign vectors, int (len(points), 2^r)."""
    return 1 - 2 * (np.bitwise_count(np.array(points)[:, None] & np.arange(2**r)) & 1).astype(int)
