"""Texts that come from strangers, made fit for a terminal, a page or a spreadsheet: bounded, and nothing but text."""

LONGEST = 300  # characters of one text
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of a formula


def shown(text: object, longest: int = LONGEST) -> str:
    """One line of a stranger's text: what is not printable is written as its escape, what is too long is cut.

    Control characters, surrogates and marks that turn the direction of writing could change what a terminal or a page
    shows of the text around them.

    >>> print(shown("red \\x1b[31m and \\u202e left"), shown("x" * 9, longest=4))
    red \\x1b[31m and \\u202e left x… (9 characters)
    """
    whole = str(text)
    line = printable(whole[:longest]).replace("\n", "\\n")
    return line if len(whole) <= longest else f"{line[: max(1, longest - 3)]}… ({len(whole)} characters)"


def printable(text: str) -> str:
    """A text with what is not printable written as its escape; line feeds stay.

    >>> printable("a\\x1b[2J\\nb")
    'a\\\\x1b[2J\\nb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii") for c in text)


def cell(value: object) -> object:
    """A value of a table as a cell that no spreadsheet calculates: a text that looks like a formula gets an apostrophe.

    >>> cell("=HYPERLINK(1)"), cell("-x"), cell("parity"), cell(-1.5)
    ("'=HYPERLINK(1)", "'-x", 'parity', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
