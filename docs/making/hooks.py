"""Pages of the site that are made of the repository, and links of its texts that lead out of docs/."""

import ast
import html
import json
import posixpath
import re
from base64 import b64decode
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "ray.ipynb"
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
    "study": ("Studies and their articles", ("hardness/engine/**/*.py", "hardness/report/*.py")),
    "learner": ("The package `learner`", ("learner/*.py", "learner/linear/*.py", "learner/provable/*.py")),
}
# The search ranks pages by these weights, by the beginning of their names; all others count one.
WEIGHTS = {"tutorials/": 8, "glossary": 8, "api/": 0.1, "changelog": 0.1, "commands": 0.5, "schemas": 0.5}
LINK = r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s]+)\)"
SECTION = r"\b([Tt]heory|[Ll]earner) (\d+(?:\.\d+)?b?)\b(?!\(\d)"  # the 44(6) of a journal is no section
CODE = r"^```.*?^```$|`[^`\n]+`(?!\])|^#.*?$|\[[^\[\]]*\]\([^)]*\)"  # and headings and other links
MARKED = re.compile(rf"(?ms){LINK}|{CODE}|{SECTION}")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made of something else, the studies, the examples and the files that texts link to."""
    made = {name: (ROOT / source).read_text(encoding="utf-8") for source, name in ROOTED.items()}
    made |= {"commands.md": commands(), "schemas.md": schemas(), "examples.md": examples()}
    made |= {f"api/{name}.md": reference(*about) for name, about in API.items()}
    made["notebook.md"], pictures = notebook(NOTEBOOK)
    for name, content in {**made, **pictures}.items():
        files.append(File.generated(config, name, content=content))
    sources = [*(ROOT / "docs").rglob("*.md"), *map(ROOT.joinpath, ROOTED)]
    linked = {
        (source.parent / target.partition("#")[0]).resolve()
        for source in sources
        for _, _, target in re.findall(LINK, source.read_text(encoding="utf-8"))
    }
    shown = [path for path in (*linked, *ROOT.glob("examples/*.*")) if path.suffix != ".md"]
    for path in sorted({*shown, *ROOT.glob("reports/**/*.*")}):
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
        if path.is_file() and name and not name.startswith("docs/") and path.suffix != ".db":
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links to where the site has what they name, and each "theory 2.5" to its section; folders have no page."""
    name = page.file.src_uri
    page.meta["search"] = {"boost": next((w for start, w in WEIGHTS.items() if name.startswith(start)), 1)}
    here = posixpath.dirname(name)
    source = {made: root for root, made in ROOTED.items()}.get(name, f"docs/{name}")
    folder = posixpath.dirname(name if name.startswith("reports/") else source)

    def lead(found: re.Match[str]) -> str:
        mark, text, link, text_name, section = found.groups()
        if text_name:
            return f"[{found[0]}]({posixpath.relpath(f'{text_name.lower()}.md', here or '.')}#{section})"
        if not link:
            return found[0]
        target, hash_, part = link.partition("#")
        path = posixpath.normpath(posixpath.join(folder, target))
        there = ROOTED.get(path, path.removeprefix("docs/"))
        there = "reports/README.md" if there == "reports" else there
        if files.get_file_from_path(there) is None:
            return text if (ROOT / path).exists() else found[0]
        return f"{mark}[{text}]({posixpath.relpath(there, here or '.')}{hash_}{part})"

    return MARKED.sub(lead, markdown.replace("<details>", "<details markdown>"))


def picture(source: str, alt: str) -> str:
    """Return the HTML of a picture, with its alternative text."""
    return f'<img class="study" src="{source}" alt="{html.escape(alt)}" loading="lazy">'


def examples() -> str:
    """Return every example as Markdown: its question, its picture, what that shows, and its code."""
    intro = "Questions of at most 25 lines each. The tests run them; `make gallery` draws the pictures again."
    parts = ["# Examples", intro]
    for path in sorted(ROOT.glob("examples/*.py")):
        code = path.read_text(encoding="utf-8")
        question, _, shows = (ast.get_docstring(ast.parse(code)) or "").partition("\n\n")
        shows = " ".join(shows.split())
        body = code.split('"""', 2)[2].strip()
        parts += [f"## {question}", picture(f"examples/{path.stem}.svg", shows), shows]
        parts += [f"```python\n{body}\n```", f"[{path.name}](examples/{path.name})"]
    return "\n\n".join(parts)


def notebook(path: Path) -> tuple[str, dict[str, bytes]]:
    """Return a notebook with its outputs as Markdown, and the pictures among these by the names of their files."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for output in cell.get("outputs", []):
            if PICTURE in output.get("data", {}):
                name = f"notebooks/{path.stem}-{len(pictures)}.png"
                pictures[name] = b64decode("".join(output["data"][PICTURE]))
                parts.append(picture(name, cell["metadata"]["alt"]))
            else:
                printed = "".join(output.get("text") or output["data"]["text/plain"])
                parts.append(f"```text\n{printed.rstrip()}\n```")
    parts.append(f"The notebook itself: [{path.name}](examples/{path.name}).")
    return "\n\n".join(parts), pictures


def commands() -> str:
    """Return the help of every command as Markdown, by typer."""
    import typer
    from typer.cli import get_docs_for_click

    from hardness.cli import app

    command = typer.main.get_command(app)
    helps = get_docs_for_click(obj=command, ctx=typer.Context(command), name="hardness").partition("\n")[2]
    intro = (
        "Data goes to stdout and talk to stderr; with `--json` stdout holds exactly one JSON object. Exit codes: "
        "0 done; 1 `verify` or `judge` said no, or a trial crashed; 2 bad usage or input; 130 interrupted."
    )
    return f"# The command line\n\n{intro}\n{helps}"


def schemas() -> str:
    """Return a list of the JSON Schemas of docs/schemas, with what each describes."""
    intro = "JSON Schemas (draft 7) of the lab's files. [The families and their data](data.md) explains the arrays."
    lines = ["# File formats", "", intro, "", "| schema | what it describes |", "|---|---|"]
    for path in sorted(ROOT.glob("docs/schemas/*.schema.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        lines.append(f"| [{path.name}](schemas/{path.name}) | {about.get('description', '')} |")
    return "\n".join(lines)


def reference(title: str, patterns: tuple[str, ...]) -> str:
    """Return a page with every public module of some folders, for mkdocstrings."""
    paths = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
    public = [path for path in paths if path.stem == "__init__" or not path.stem.startswith(("_", "kernels"))]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in public]
    return "\n\n".join([f"# {title}", *(f"::: {name.removesuffix('.__init__')}" for name in names)])
