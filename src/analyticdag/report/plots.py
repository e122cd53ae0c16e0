"""Line plots as SVG, computed here, so that a report needs no plotting library.

`trace_panels` are those of the paper's figure: the score, the constraint, and the two gradients
that pull against each other, over the steps of all stages. `selection_panels` show the series of
lambdas that one was chosen from: what each scored, and how many edges it left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 340.0, 200.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 12.0, 14.0, 34.0
# Numbers of this size and more are no points: the range of an axis would not be finite.
_HUGE = 1e300

Point = tuple[float, float]

# How each criterion is read; smaller is better in all of them.
CRITERIA = {
    "ebic": "EBIC of the refitted graph",
    "cv": "−2 log-likelihood of held-out rows",
    "stars": "instability between subsamples",
}


@dataclass(frozen=True)
class Series:
    """One line: its name, its class for the colour, and its points in pixels."""

    label: str
    css: str
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        """The line as SVG path data."""
        return "M" + " L".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


@dataclass(frozen=True)
class Panel:
    """One plot: title, lines, ticks, and vertical lines where something changes."""

    title: str
    unit: str
    x_name: str
    series: tuple[Series, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    borders: tuple[float, ...]


def trace_panels(trace: Sequence[Mapping[str, Any]]) -> tuple[Panel, ...]:
    """Return the panels of a trace; a panel without a finite number in it is left out."""
    steps, borders = _total_steps(trace)
    wanted = (
        ("Score", "loss", (("loss", "loss", "first"),), False),
        ("Acyclicity", "h(W)", (("h", "h", "first"),), True),
        (
            "Gradients",
            "norm",
            (
                ("of the loss", "loss_gradient_norm", "first"),
                ("of the constraint", "constraint_gradient_norm", "second"),
            ),
            True,
        ),
    )
    end = max(steps, default=0.0) or 1.0
    ticks = [(tick, _count(tick)) for tick in (0.0, end / 2.0, end)]
    panels = []
    for title, unit, lines, log in wanted:
        data = [(label, css, _finite(trace, steps, key, log)) for label, key, css in lines]
        panels.append(_panel(title, unit, "steps", data, ticks, borders, log=log))
    return tuple(panel for panel in panels if panel is not None)


def selection_panels(selection: Mapping[str, Any] | None) -> tuple[Panel, ...]:
    """Return the panels of a series of lambdas; none where there was nothing to choose from."""
    points = [] if selection is None else selection["points"]
    if selection is None or len(points) < 2:
        return ()
    x = [math.log10(point["lambda1"]) for point in points]
    ticks = [(place, f"{10.0**place:.2g}") for place in (min(x), (min(x) + max(x)) / 2, max(x))]
    pairs = [(a, point["score"]) for a, point in zip(x, points, strict=True)]
    scores = [(a, score) for a, score in pairs if score is not None and abs(score) < _HUGE]
    edges = [(a, float(point["n_edges"])) for a, point in zip(x, points, strict=True)]
    chosen = [x[selection["chosen"]]]
    panels = (
        _panel(title, unit, "lambda1", [("", "first", line)], ticks, chosen, whole=whole)
        for title, unit, line, whole in (
            ("Score", CRITERIA.get(selection["criterion"], selection["criterion"]), scores, False),
            ("Edges", "left by each lambda1", edges, True),
        )
    )
    return tuple(panel for panel in panels if panel is not None)


def _total_steps(trace: Sequence[Mapping[str, Any]]) -> tuple[list[float], list[float]]:
    """Return the steps since the start of each record, and where a new stage begins."""
    steps, borders, before, last, stage = [], [], 0.0, 0.0, None
    for record in trace:
        if stage is not None and record.get("stage") != stage:
            before, last = before + last, 0.0
            borders.append(before)
        stage = record.get("stage")
        last = float(record.get("step") or 0)
        steps.append(before + last)
    return steps, borders


def _panel(
    title: str,
    unit: str,
    x_name: str,
    lines: Sequence[tuple[str, str, Sequence[Point]]],
    x_ticks: Sequence[tuple[float, str]],
    borders: Sequence[float],
    *,
    log: bool = False,
    whole: bool = False,
) -> Panel | None:
    """Place (label, class, points) lines between the first and the last tick of the x axis."""
    values = [value for _, _, points in lines for _, value in points if math.isfinite(value)]
    if not values:
        return None
    low, high = _padded(min(values), max(values))
    left, right = x_ticks[0][0], x_ticks[-1][0]

    def place(x: float, value: float) -> Point:
        across = (x - left) / ((right - left) or 1.0)
        up = (value - low) / (high - low)
        return (
            LEFT + (WIDTH - LEFT - RIGHT) * across,
            HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * up,
        )

    series = tuple(
        Series(label, css, tuple(place(*point) for point in points))
        for label, css, points in lines
        if points
    )
    y_ticks = tuple(
        (place(left, tick)[1], _tick_label(tick, high - low, log=log, whole=whole))
        for tick in _ticks(low, high, whole=log or whole)
    )
    return Panel(
        title,
        unit,
        x_name,
        series,
        tuple((place(tick, low)[0], text) for tick, text in x_ticks),
        y_ticks,
        tuple(place(border, low)[0] for border in borders),
    )


def _finite(
    trace: Sequence[Mapping[str, Any]], steps: Sequence[float], key: str, log: bool
) -> list[Point]:
    points = []
    for step, record in zip(steps, trace, strict=True):
        value = record.get(key)
        if value is None or not abs(value) < _HUGE or (log and value <= 0.0):
            continue
        points.append((step, math.log10(value) if log else float(value)))
    return points


def _padded(low: float, high: float) -> tuple[float, float]:
    pads = (0.06 * (high - low), 0.5 * abs(high), 1.0)
    pad = next(pad for pad in pads if pad * _HUGE > 1.0)
    return low - pad, high + pad


def _ticks(low: float, high: float, *, whole: bool) -> list[float]:
    """Return three to six round numbers between two bounds."""
    raw = (high - low) / 4.0
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(m * size for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * size >= raw)
    if whole:
        step = max(1.0, math.ceil(step))
    first = math.ceil(low / step)
    ticks = [k * step for k in range(first, math.floor(high / step) + 1)]
    return ticks or [round(low) if whole else low]


def _tick_label(tick: float, span: float, *, log: bool, whole: bool) -> str:
    """Write a tick: a power of ten, or with as many places as tell it from the next one."""
    if log or whole:
        return f"1e{tick:.0f}" if log else f"{tick:.0f}"
    if abs(tick) >= 1e6 or span < 1e-6:
        return f"{tick:.4g}"
    return f"{tick:.{max(0, 1 - math.floor(math.log10(span)))}f}"


def _count(number: float) -> str:
    return f"{number / 1000.0:g}k" if number >= 1000 else f"{number:g}"
