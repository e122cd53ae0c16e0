"""A picture as a piece of SVG that stands alone, in light or dark as the reader has it.

Names are data: they are escaped, and nothing else in the text comes from outside.
"""

from __future__ import annotations

from html import escape

from analyticdag.drawing.picture import Curve, Node, Picture

# Those of the report, with enough contrast on white and on black.
_STYLE = (
    "<style>.adag{--p:#2458a6;--n:#b3471d;--g:#8b9199;--i:#1e2329;--c:#fff}"
    "@media(prefers-color-scheme:dark){.adag{--p:#7eaefc;--n:#f59a70;--g:#9aa4ae;--i:#e5e2da;"
    "--c:#22272d}}.adag text{font:13px system-ui,sans-serif;fill:var(--i);text-anchor:middle}"
    ".adag .w{font-size:11px;paint-order:stroke;stroke:var(--c);stroke-width:5px}</style>"
)
_COLOURS = {"pos": "var(--p)", "neg": "var(--n)", "none": "var(--g)"}


def to_svg(picture: Picture) -> str:
    """Return the picture."""
    width, height = picture.width, picture.height
    parts = [
        f'<svg class="adag" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} '
        f'{height:.0f}" width="{width:.0f}" style="max-width:100%;height:auto" role="img">',
        _STYLE,
        *(_edge(curve) for curve in picture.curves),
        *(_node(node, dots=picture.dots) for node in picture.nodes),
        *(_label(curve) for curve in picture.curves if picture.labelled and curve.link.label),
        "</svg>",
    ]
    return "".join(parts)


def _edge(curve: Curve) -> str:
    link = curve.link
    colour = "var(--g)" if link.is_open else _COLOURS[link.sign]
    inside = colour if link.kind == "data" else "var(--c)"
    head = f'<path d="{curve.head}" fill="{inside}" stroke="{colour}"/>'
    return (
        f"<g><title>{escape(link.description)}</title>"
        f'<path d="{curve.path}" fill="none" stroke="{colour}" stroke-width="{curve.thickness}"/>'
        f"{'' if link.is_open else head}</g>"
    )


def _node(node: Node, *, dots: bool) -> str:
    title = f"<title>{escape(node.name)}</title>"
    if dots:
        x, y, r = node.x, node.y, node.width / 2
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="var(--g)">{title}</circle>'
    x, y = node.x - node.width / 2, node.y - node.height / 2
    return (
        f'<g>{title}<rect x="{x:.1f}" y="{y:.1f}" width="{node.width:.1f}" height="{node.height}" '
        'rx="6" fill="var(--c)" stroke="var(--g)"/>'
        f'<text x="{node.x:.1f}" y="{node.y + 4.5:.1f}">{escape(node.label)}</text></g>'
    )


def _label(curve: Curve) -> str:
    x, y = curve.label_at
    return f'<text class="w" x="{x}" y="{y}">{escape(curve.link.label)}</text>'
