"""A hook of mkdocs: notebooks are pages, as they were executed; nothing is fetched for them."""

from __future__ import annotations

import json
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


class NotebookFile(File):
    """A notebook that is read as the Markdown of its cells and their outputs."""

    def is_documentation_page(self) -> bool:
        """Say that it becomes a page."""
        return True

    @property
    def content_string(self) -> str:
        """The Markdown."""
        cells = json.loads(super().content_string)["cells"]
        return "\n\n".join(_markdown(cell) for cell in cells)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace notebooks, which mkdocs would only copy, by pages."""
    for file in [one for one in files if one.src_uri.endswith(".ipynb")]:
        files.remove(file)
        folders = (config.docs_dir, config.site_dir)
        files.append(NotebookFile(file.src_uri, *folders, config.use_directory_urls))
    return files


def _markdown(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n\n".join([f"```python\n{source}\n```", *map(_output, cell["outputs"])])


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        image = "".join(data["image/png"]).strip()
        return f'<img alt="output of the cell above" src="data:image/png;base64,{image}">'
    if "text/html" in data:
        return f'<div class="output">{"".join(data["text/html"])}</div>'
    return f"```text\n{''.join(data['text/plain']).rstrip()}\n```"
