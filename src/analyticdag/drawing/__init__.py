"""Graphs as pictures, for estimators and reports alike: causes above their effects.

| module        | holds                                                                         |
|---------------|-------------------------------------------------------------------------------|
| `layout.py`   | where the nodes go: layers, few crossings                                     |
| `graphviz.py` | the same by Graphviz's dot, where it is installed                             |
| `picture.py`  | nodes and edges as shapes, in numbers                                         |
| `figure.py`   | the shapes in matplotlib, for `plot()`                                        |
| `svg.py`      | the shapes as a piece of SVG, for notebooks                                   |
"""

from __future__ import annotations

from analyticdag.drawing.picture import Link, Picture, draw

__all__ = ["Link", "Picture", "draw"]
