"""Execute the notebooks of this folder where they are: python docs/notebooks/execute.py"""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def executed(path: Path, folder: str) -> nbformat.NotebookNode:
    """Return a notebook, run from the first cell to the last in an empty folder."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, record_timing=False)
    client.resources = {"metadata": {"path": folder}}
    client.execute()
    return notebook


if __name__ == "__main__":
    for file in sorted(Path(__file__).parent.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as empty:
            nbformat.write(executed(file, empty), file)
