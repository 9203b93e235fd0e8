"""Sets the formulas of the docs, plain Unicode text in Markdown, as MathML, which browsers draw by themselves."""

import html
import re
import unicodedata
from collections.abc import Callable

UPRIGHT = re.compile(
    "sin|cos|tanh?|sinh|cosh|log|ln|exp|sign|max|min|mod|deg|det|diag|Pr|Re|Var|Cov|tr|gcd|rank"
)
WORDS = re.compile("if|is|in|of|or|to|at|by|on|so|we|as|an|be|it|no|do|for|and|all|off|the")
GROUP = {"(": ")", "{": "}"}
OPENING = " ([{⟨⌊⌈,=<>≤≥/·"  # after these, or nothing, a minus is a sign
RELATIONS = [*"=+−·∈≤≥<>⊆×"]
SUMS = {"Σ": "∑", "Π": "∏"}
NUMBER, WORD = re.compile(r"\d+(?:\.\d+)?(?:,\d{3})*"), re.compile(r"[A-Za-z]+")
INDEX = re.compile(r"[A-Za-z0-9\u0370-\u03ffℓ]+[⋆*]?|[⋆*∞]")
POWER = re.compile(r"[−-]?(?:[OoΩΘC]\([^()\s]*\)|\d+(?:\.\d+)?|\w\u0302?)|[⋆*]")
DISPLAY = re.compile(
    r'<div class="language-output highlight"><pre><span></span><code>(.*?)</code></pre></div>', re.DOTALL
)
TRAIL = re.compile(r"[.,;:…]*$")
# A word of a sentence that is a formula: with an index, a power, a Greek letter, or a letter that is a number.
FORMULA = re.compile(
    r"[\u0370-\u03ff√∑⟨⌊⌈ℝℤ′\u0302ⁿᵀ⁻⁰¹²³⁴-⁹₀-₉ₐ-ₜᵢⱼℓ]|[A-Za-z0-9)\]|]\^|(?<![A-Za-z])[A-Za-z]_[(\w∞]"
    r"|(?<![A-Za-z])[A-Za-z]\(|^[(\[|]*\d*(?![aAI]\b)[A-Za-z][)\]|]*$"
    r"|(?<![A-Za-z.])[A-Za-z][−+=/·<>≤≥]|[−+=/·<>≤≥][A-Za-z](?![A-Za-z.])"
)
NAMES = re.compile(
    r"(?i)\b(theorem|lemma|corollary|section|part|case|appendix|statement|remark|kind|table)s?$"
)


def marked(character: str) -> str:
    """`sub` or `sup` of a character that stands below or above the line by itself."""
    kind = unicodedata.decomposition(character).partition(" ")[0]
    return {"<sub>": "sub", "<super>": "sup"}.get(kind, "")


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at `start` closes; the end of the text if it does not."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in GROUP) - (text[i] in GROUP.values())
        if depth == 0:
            return i
    return len(text)


def _argument(text: str, at: int, pattern: re.Pattern[str]) -> tuple[str, int]:
    """What stands below or above: a group, without its brackets, or what the pattern takes."""
    if at < len(text) and text[at] in GROUP:
        end = _closing(text, at)
        return row(text[at + 1 : end]), end + 1
    found = pattern.match(text, at)
    return (row(found[0]), found.end()) if found else ("<mo>_</mo>", at)


def _atoms(text: str, at: int) -> tuple[list[str], int]:
    """The next things on the line; the last of them is what an index or a power belongs to."""
    if found := NUMBER.match(text, at):
        return [f"<mn>{found[0]}</mn>"], found.end()
    if found := WORD.match(text, at):
        word = found[0]
        name = UPRIGHT.fullmatch(word)
        whole = len(word) > 2 or name or WORDS.fullmatch(word)
        kind = "mi" if name or not whole else "mtext"
        return [f"<{kind}>{word}</{kind}>"] if whole else [
            f"<mi>{letter}</mi>" for letter in word
        ], found.end()
    if text[at] == "√" and at + 1 < len(text):
        inside, end = _argument(text, at + 1, re.compile(r"[^\W_]+"))
        return [f"<msqrt>{inside}</msqrt>"], end
    if text[at].isspace():
        return ['<mspace width="0.25em"></mspace>'], at + 1
    end = at + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    if text[at] in SUMS and len(text) > 1:  # alone it is a name
        return [
            f'<mo largeop="false" lspace="0" rspace="0.1em" movablelimits="false">{SUMS[text[at]]}</mo>'
        ], end
    if text[at].isalpha():
        return [f"<mi>{unicodedata.normalize('NFC', text[at:end])}</mi>"], end
    tight = text[at] in "|‖/" or (text[at] in "−±" and text[:at].rstrip()[-1:] in OPENING)
    still = ' stretchy="false"' + (' lspace="0" rspace="0"' if tight else "")
    return [f"<mo{still}>{html.escape(text[at:end])}</mo>"], end


def row(text: str) -> str:
    """A formula as the children of a MathML row.

    >>> row("x₁²=2")
    '<mrow><msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup><mo stretchy="false">=</mo><mn>2</mn></mrow>'
    """
    out: list[str] = []
    at = 0
    while at < len(text):
        made, at = _atoms(text, at)
        below, above = "", ""
        while at < len(text):
            if kind := marked(text[at]):
                end = at
                while end < len(text) and marked(text[end]) == kind:
                    end += 1
                inside, at = row(unicodedata.normalize("NFKD", text[at:end])), end
                below, above = (below + inside, above) if kind == "sub" else (below, above + inside)
            elif text[at] == "′":
                above, at = above + "<mo>′</mo>", at + 1
            elif text[at] in "_^" and at + 1 < len(text):
                kind, (inside, at) = text[at], _argument(text, at + 1, INDEX if text[at] == "_" else POWER)
                below, above = (below + inside, above) if kind == "_" else (below, above + inside)
            else:
                break
        *before, base = made
        out += [*before, _scripted(base, below, above)]
    return out[0] if len(out) == 1 else f"<mrow>{''.join(out)}</mrow>" if out else ""


def _scripted(base: str, below: str, above: str) -> str:
    tag = ("msub" if below else "") + (("sup" if below else "msup") if above else "")
    return f"<{tag}>{base}{_one(below)}{_one(above)}</{tag}>" if tag else base


def _one(inside: str) -> str:
    """One child of a script."""
    return f"<mrow>{inside}</mrow>" if inside.count("><") and not inside.startswith("<mrow>") else inside


def _words(text: str) -> list[str]:
    """Words and what stands between them; a group of an index, a power or a root is not torn."""
    parts = re.split(r"(\s+)", text)
    found = parts[:1]
    for part in parts[1:]:
        opens = [found[-1].rfind(mark) for mark in ("_(", "^(", "√(", "_{")]
        if max(opens) >= 0 and _closing(found[-1], max(opens) + 1) == len(found[-1]):
            found[-1] += part
        else:
            found.append(part)
    return found


def _set(text: str, is_formula: Callable[[str, str, str], object]) -> str:
    """Plain text as HTML in which every word that is a formula is set; lines still break between words."""
    words = _words(text)
    for i, word in enumerate(words):
        bare = TRAIL.sub("", word)
        before, after = "".join(words[max(0, i - 2) : i]).strip(), "".join(words[i + 1 : i + 3]).strip()
        words[i] = html.escape(word, quote=False)
        if bare and not bare.isspace() and is_formula(bare, before, after):
            words[i] = f"<math>{row(bare)}</math>{html.escape(word[len(bare) :])}"
    return "".join(words)


def inline(text: str) -> str:
    """A sentence, escaped as in HTML, with the formulas in it set; all else stays as it is.

    >>> inline("a tolerance τ, not a sum")
    'a tolerance <math><mi>τ</mi></math>, not a sum'
    """

    def is_formula(word: str, before: str, after: str) -> bool:
        if word in ("a", "A", "I"):
            return after[:1] in RELATIONS or before[-1:] in RELATIONS
        return bool(FORMULA.search(word)) and not NAMES.search(before)

    return _set(html.unescape(text), is_formula)


def _line(text: str) -> str:
    plain = re.compile(r"[A-Za-z]{3,}|\W*")
    return _set(
        text, lambda word, *_: not (plain.fullmatch(word) or WORDS.fullmatch(word)) or UPRIGHT.fullmatch(word)
    )


def display(content: str) -> str:
    """A page in which blocks of code without a language, which are formulas on lines of their own, are set."""

    def block(found: re.Match[str]) -> str:
        lines = html.unescape(re.sub(r"<[^>]+>", "", found[1])).rstrip("\n").split("\n")
        return f'<div class="formula" tabindex="0">{"<br>".join(map(_line, lines))}</div>'

    return DISPLAY.sub(block, content)
