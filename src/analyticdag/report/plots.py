"""Line plots as SVG, drawn here: a page that needs no plotting library needs no plotting library.

The three panels are those of the paper's figure: the score, the constraint, and the two gradients
that pull against each other, over the steps of all stages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 340.0, 200.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 12.0, 14.0, 34.0

Point = tuple[float, float]


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
    """One plot: title, lines, ticks, and where the stages begin."""

    title: str
    unit: str
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
    panels = [
        _panel(title, unit, trace, steps, borders, lines, log) for title, unit, lines, log in wanted
    ]
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
    trace: Sequence[Mapping[str, Any]],
    steps: Sequence[float],
    borders: Sequence[float],
    lines: Sequence[tuple[str, str, str]],
    log: bool,
) -> Panel | None:
    data = {key: _finite(trace, steps, key, log) for _, key, _ in lines}
    values = [value for points in data.values() for _, value in points]
    if not values:
        return None
    low, high = _padded(min(values), max(values))
    end = max(steps) or 1.0

    def place(step: float, value: float) -> Point:
        x = LEFT + (WIDTH - LEFT - RIGHT) * step / end
        return x, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    series = tuple(
        Series(label, css, tuple(place(*point) for point in data[key]))
        for label, key, css in lines
        if data[key]
    )
    x_ticks = tuple((place(tick, low)[0], _count(tick)) for tick in (0.0, end / 2.0, end))
    y_ticks = tuple(
        (place(0.0, tick)[1], f"1e{tick:.0f}" if log else _decimal(tick, high - low))
        for tick in _ticks(low, high, whole=log)
    )
    return Panel(title, unit, series, x_ticks, y_ticks, tuple(place(b, low)[0] for b in borders))


def _finite(
    trace: Sequence[Mapping[str, Any]], steps: Sequence[float], key: str, log: bool
) -> list[Point]:
    points = []
    for step, record in zip(steps, trace, strict=True):
        value = record.get(key)
        if value is None or not math.isfinite(value) or (log and value <= 0.0):
            continue
        points.append((step, math.log10(value) if log else float(value)))
    return points


def _padded(low: float, high: float) -> tuple[float, float]:
    pad = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
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


def _decimal(tick: float, span: float) -> str:
    """Write a tick with as many places as tell it from the next one."""
    if abs(tick) >= 1e6 or span < 1e-6:
        return f"{tick:.4g}"
    return f"{tick:.{max(0, 1 - math.floor(math.log10(span)))}f}"


def _count(number: float) -> str:
    return f"{number / 1000.0:g}k" if number >= 1000 else f"{number:g}"
