"""What griffe needs to know of the lab's docstrings: they are Markdown in which examples stand without a fence."""

import re

import griffe

EXAMPLE = re.compile(r"(?m)(?:^>>> .*\n?(?:^(?!>>> |\s*$).+\n?)*)+")


def fenced(text: str) -> str:
    r"""A docstring whose examples are code, and whose square brackets are not taken for links.

    >>> fenced("One.\n\n>>> 1 + 1\n2\n\nX[i][j].")
    'One.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nX[i]\\[j].'
    """
    parts, end = [], 0
    for found in EXAMPLE.finditer(text):
        parts += [text[end : found.start()].replace("][", "]\\["), f"```pycon\n{found[0].rstrip()}\n```\n"]
        end = found.end()
    return "".join([*parts, text[end:].replace("][", "]\\[")])


class Doctests(griffe.Extension):
    """Puts examples of docstrings into fences."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Called once for every object found."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
