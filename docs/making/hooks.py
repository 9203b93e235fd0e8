"""What mkdocs does beside Markdown: pages that are made of the repository, and links that lead out of docs/."""

import ast
import html
import json
import posixpath
import re
from base64 import b64decode
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from formulas import display, inline
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
REPORTS, EXAMPLES = ROOT / "reports", ROOT / "examples"
NOTEBOOK = EXAMPLES / "ray.ipynb"
# Files of the repository's root that are pages of the site.
PICTURE = "image/png"
ROOTED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
API = {
    "hardness": ("The package `hardness`", ("hardness/*.py",)),
    "families": ("Families of instances", ("hardness/families/*.py",)),
    "sq": ("Statistical queries", ("hardness/sq/**/*.py",)),
    "attacks": ("Attacks and what they cost", ("hardness/attacks/**/*.py",)),
    "study": ("Studies and their pages", ("hardness/engine/**/*.py", "hardness/report/*.py")),
    "learner": ("The package `learner`", ("learner/*.py", "learner/linear/*.py", "learner/provable/*.py")),
}
ROLES = {
    "answer": "The question, answered on one page",
    "proved": "What is proved, and what strategies pay",
    "measured": "What was measured of learners",
    "broken": "What breaks it",
    "appendix": "What neighbouring theories claim",
    "speed": "Speed",
}
# What a search puts first, by the beginning of a page's name; all else counts one.
FOUND = {"tutorials/": 8, "glossary": 8, "api/": 0.1, "changelog": 0.1, "commands": 0.5, "schemas": 0.5}
LINK = re.compile(r"(?s)(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")
OPAQUE = re.compile(r"(?s)<(pre|code|a|h\d|th|script|style|math)\b.*?</\1>|<[^>]+>")
REFERENCE = re.compile(
    r"\b((?:[Tt]heory|[Ll]earner) \d+(?:\.\d+)?b?)\b(?!\(\d)"
)  # a journal\'s 44(6) is no section


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are made of something else, the studies' pages and the files that docs link to."""
    made = {name: (ROOT / source).read_text(encoding="utf-8") for source, name in ROOTED.items()}
    made |= {"gallery.md": gallery(), "bibliography.md": bibliography(), "commands.md": commands()}
    made |= {"schemas.md": schemas(), "examples.md": examples(), "notebook.md": notebook(NOTEBOOK)}
    made |= {f"api/{name}.md": reference(*about) for name, about in API.items()}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    for path in sorted(REPORTS.rglob("*")):
        if path.is_file() and path.suffix != ".db":
            _carry(files, config, path)
    for path in (*_linked(), *sorted(EXAMPLES.glob("*.*"))):
        _carry(files, config, path)
    for name, picture in pictures(NOTEBOOK).items():
        files.append(File.generated(config, name, content=picture))
    return files


def _carry(files: Files, config: MkDocsConfig, path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    if files.get_file_from_path(name) is None:
        files.append(File.generated(config, name, abs_src_path=str(path)))


def _linked() -> Iterator[Path]:
    """Files outside docs/ that a page of docs/ or of the root links to, pages left out."""
    for source in [*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ROOTED)]:
        for found in LINK.finditer(source.read_text(encoding="utf-8")):
            path = (source.parent / found[3].partition("#")[0]).resolve()
            inside = path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "docs")
            if path.is_file() and inside and path.suffix != ".md":
                yield path


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads links of a text of the repository to where the site has what they name; a folder has no page."""
    weights = [weight for start, weight in FOUND.items() if page.file.src_uri.startswith(start)]
    page.meta["search"] = {"boost": weights[0] if weights else 1}
    source = {name: key for key, name in ROOTED.items()}.get(page.file.src_uri, f"docs/{page.file.src_uri}")

    def lead(found: re.Match[str]) -> str:
        target, mark, part = found[3].partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        name = ROOTED.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else path)
        if name == "reports":
            name = "reports/index.html"
        if files.get_file_from_path(name) is None:
            return found[2] if (ROOT / path).exists() else found[0]
        here = posixpath.dirname(page.file.src_uri)
        return f"{found[1]}[{found[2]}]({posixpath.relpath(name, here or '.')}{mark}{part})"

    return "".join(
        part if i % 2 else LINK.sub(lead, part)
        for i, part in enumerate(re.split(r"(?ms)(^```.*?^```$|`[^`\n]+`(?!\]))", markdown))
    )


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Makes every "theory 2.5" a link to its section, and sets the formulas of all but commands and their help."""
    up = "../" * page.file.src_uri.count("/")
    sets = not page.file.src_uri.startswith(("api/", "commands", "schemas", "changelog"))

    def words(text: str) -> str:
        parts = REFERENCE.split(text)
        parts[::2] = map(inline, parts[::2]) if sets else parts[::2]
        for i, (page, section) in enumerate(part.split() for part in parts[1::2]):
            parts[2 * i + 1] = f'<a href="{up}{page.lower()}.html#{section}">{page} {section}</a>'
        return "".join(parts)

    html = display(html) if sets else html
    out, end = [], 0
    for tag in OPAQUE.finditer(html):
        out += [words(html[end : tag.start()]), tag[0]]
        end = tag.end()
    return "".join([*out, words(html[end:])])


def on_post_build(config: MkDocsConfig) -> None:
    """Leads the studies' pages to the site's texts and home."""
    site = Path(config.site_dir)
    for page in site.glob("reports/**/*.html"):
        text = page.read_text(encoding="utf-8")
        up = "../" * len(page.parent.relative_to(site).parts)
        text = re.sub(r'(href=")(?:\.\./)+docs/(\w+)\.md', rf"\1{up}\2.html", text)
        home = f'<a class="name" href="{up}index.html">attention-hardness</a>'
        text = re.sub(r'<(span|a) class="name"[^>]*>attention-hardness</\1>', home, text)
        page.write_text(text, encoding="utf-8")


def gallery() -> str:
    """Every study that has a page: its first figure, question and verdict, by what kind of statement it makes."""
    studies: dict[str, list[str]] = {role: [] for role in ROLES}
    for path in sorted(REPORTS.glob("*/summary.json")):
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        name, page = path.parent.name, f"reports/{path.parent.name}/index.html"
        title = about.get("question") or name
        lines = [f"### [{title}]({page})", ""]
        for figure in about.get("figures", [])[:1]:
            alt = html.escape(figure["alt"].split(". ")[0])
            lines += [
                f'<img class="study" src="reports/{name}/{figure["file"]}" alt="{alt}" loading="lazy">',
                "",
            ]
        lines += [f"{about['verdict']}", "", f"Study `{name}`; [rows](reports/{name}/rows.csv), "
                  f"[summary](reports/{name}/summary.json).", ""]  # fmt: skip
        studies.setdefault(about.get("role", "measured"), []).append("\n".join(lines))
    parts = ["# Studies", "", "Every study has a page of its own; their common introduction is "
             "[the index of all studies](reports/index.html). `hardness study run NAME` makes each of them again.",
             ""]  # fmt: skip
    for role, title in ROLES.items():
        if studies[role]:
            parts += [f"## {title}", "", *studies[role]]
    return "\n".join(parts)


def examples() -> str:
    """Every example with its question, its picture, what that shows, and its code."""
    intro = "Questions of at most 25 lines each. The tests run them; `make gallery` draws the pictures again."
    lines = ["# Examples", "", intro, ""]
    for path in sorted(EXAMPLES.glob("*.py")):
        code = path.read_text(encoding="utf-8")
        question, _, shows = (ast.get_docstring(ast.parse(code)) or "").partition("\n\n")
        shows, name = " ".join(shows.split()), f"examples/{path.stem}"
        image = f'<img class="study" src="{name}.svg" alt="{html.escape(shows)}" loading="lazy">'
        body = code.split('"""', 2)[2].strip()
        lines += [
            f"## {question}",
            "",
            image,
            "",
            shows,
            "",
            "```python",
            body,
            "```",
            "",
            f"[{path.name}]({name}.py)",
            "",
        ]
    return "\n".join(lines)


def notebook(path: Path) -> str:
    """A notebook with its outputs, as Markdown: texts as they are, pictures under the names of `pictures`."""
    names, lines = iter(pictures(path)), list[str]()
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        lines += [text, ""] if cell["cell_type"] == "markdown" else ["```python", text, "```", ""]
        for output in cell.get("outputs", []):
            if PICTURE in output.get("data", {}):
                alt = html.escape(cell["metadata"]["alt"])
                lines += [f'<img class="study" src="{next(names)}" alt="{alt}">', ""]
            else:
                printed = output.get("text") or output["data"]["text/plain"]
                lines += ["```text", "".join(printed).rstrip(), "```", ""]
    return "\n".join([*lines, f"The notebook itself: [{path.name}](examples/{path.name}).", ""])


def pictures(path: Path) -> dict[str, bytes]:
    """The pictures among the outputs of a notebook, by the names of files."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    every = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
    images = [b64decode("".join(data[PICTURE])) for data in every if PICTURE in data]
    return {f"notebooks/{path.stem}-{i}.png": picture for i, picture in enumerate(images)}


def bibliography() -> str:
    """The entries of docs/references.bib as a list, each with its key."""
    text = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    lines = ["# Bibliography", "", "The entries of [references.bib](references.bib); "
             "[what was checked of each](references.md) is said elsewhere. Fields that could not be supported by what "
             "was read are left out.", ""]  # fmt: skip
    for _, key, body in re.findall(r"(?ms)^@(\w+)\{(\w+),\n(.*?)^\}", text):
        entry = dict(re.findall(r"(?m)^\s*(\w+)\s*=\s*\{(.*)\},?$", body))
        fields = {name: re.sub(r"[{}]", "", _accents(value)) for name, value in entry.items()}
        title = f"*{fields['title']}*" if "title" in fields else ""
        shown = [fields.get("author", "").replace(" and ", "; "), title, *(fields.get(n, "") for n in
                 ("booktitle", "journal", "volume", "pages", "year", "note"))]  # fmt: skip
        lines.append(f'<a id="{key}"></a>**[{key}]** {", ".join(filter(None, shown)).replace("--", "–")}.\n')
    return "\n".join(lines)


def _accents(text: str) -> str:
    import unicodedata

    marks = {
        "'": "\u0301",
        '"': "\u0308",
        "`": "\u0300",
        "^": "\u0302",
        "~": "\u0303",
        "c": "\u0327",
        "v": "\u030c",
    }
    return re.sub(
        r"\{?\\(['\"`^~]|[cv](?=\{))\{?\\?(\w)\}?\}?",
        lambda m: unicodedata.normalize("NFC", m[2] + marks[m[1]]),
        text,
    )


def commands() -> str:
    """Every command with its help, as the command line prints it."""
    import typer

    with redirect_stdout(StringIO()):  # where the help is plain
        from hardness.cli import app

    lines = ["# The command line", "", "The help of every command, as `--help` prints it. Data goes to stdout and talk "
             "to stderr; with `--json` stdout holds exactly one JSON object. Exit codes: 0 done; 1 `verify` or `judge` "
             "said no, or a trial crashed; 2 bad usage or input; 130 interrupted.", ""]  # fmt: skip

    def walk(command: Any, path: tuple[str, ...], parent: Any) -> None:
        context = command.make_context(path[-1], [], parent=parent, resilient_parsing=True)
        if getattr(command, "hidden", False):
            return
        if not getattr(command, "commands", {}):
            lines.extend(
                [f"## {' '.join(path)}", "", "```text", command.get_help(context).rstrip(), "```", ""]
            )
        for name, inner in getattr(command, "commands", {}).items():
            walk(inner, (*path, name), context)

    walk(typer.main.get_command(app), ("hardness",), None)
    return "\n".join(lines)


def schemas() -> str:
    """The JSON Schemas of docs/schemas, with what each is of."""
    lines = ["# File formats", "", "JSON Schemas (draft 7) of the lab's files; what the arrays beside them mean is on "
             "the page on [families and their data](data.md).", "",
             "| schema | what it describes |", "|---|---|"]  # fmt: skip
    for path in sorted((ROOT / "docs" / "schemas").glob("*.schema.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        lines.append(f"| [{path.name}](schemas/{path.name}) | {about.get('description', '')} |")
    return "\n".join(lines) + "\n"


def reference(title: str, patterns: tuple[str, ...]) -> str:
    """Every public module of some folders, as mkdocstrings reads them."""
    paths = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
    lines = [f"# {title}", ""]
    for path in paths:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if not path.stem.startswith("kernels") and not path.stem.startswith("_") | (path.stem == "__main__"):
            lines += [f"::: {name}", ""]
    return "\n".join(lines)
