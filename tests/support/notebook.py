"""Notebooks, executed: `python notebook.py FILE` writes the outputs of a notebook into it.

What depends on the clock or the machine is left out, so that the same notebook gives the same file, pictures apart.
"""

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient


def executed(path: Path, folder: Path) -> Any:
    """The notebook as it ends when all its cells are run in `folder`. Raises `CellExecutionError` where one fails."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=300, record_timing=False, resources={"metadata": {"path": str(folder)}}
    ).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return notebook


def printed(notebook: Any) -> list[str]:
    """The texts of the outputs, in order."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return [output.get("text") or output["data"]["text/plain"] for output in outputs]


def main(path: Path):
    """Execute a notebook in a new folder, and keep its outputs in it."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        nbformat.write(executed(path, Path(folder)), path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
