"""An extension of griffe: "name : text" in our docstrings is a name and its description.

numpydoc would take the text for a type. The types are in the signatures already.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_SECTION = re.compile(r"^(Parameters|Attributes)\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", re.M | re.S)
_ITEM = re.compile(r"^(\w[\w, ]*?)(?: \([^)]*\))?(?:,\n)?(?: :)(?: (.*))?$", re.M)


class PlainDocstrings(griffe.Extension):
    """Write every item on two lines, as numpydoc wants descriptions."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite the docstring of an object once it is loaded."""
        if obj.docstring is not None:
            obj.docstring.value = _SECTION.sub(_described, obj.docstring.value)


def _described(match: re.Match[str]) -> str:
    return match[0].replace(match[2], _ITEM.sub(r"\1\n    \2", match[2]))
