"""How fast a cost grows with the number of nodes: the slope of a line through logarithms."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from benchmarks.records import Record
from benchmarks.render import methods_of
from benchmarks.summary import summarise, table

__all__ = ["along", "curve", "exponent", "growth_table"]

# Below this many nodes fixed costs hide the growth.
_LARGE = 200


def along(records: Sequence[Record], key: str) -> list[Record]:
    """The records of the longest series in which only ``key`` differs from setting to setting."""
    families: dict[str, list[Record]] = {}
    for record in records:
        others = {name: value for name, value in record["setting"].items() if name != key}
        if key in record["setting"]:
            families.setdefault(str(sorted(others.items())), []).append(record)
    lengths = {name: len({r["setting"][key] for r in own}) for name, own in families.items()}
    return families[max(lengths, key=lambda name: lengths[name])] if families else []


def curve(
    records: Sequence[Record], method: str, metric: str, key: str = "nodes"
) -> tuple[list[float], list[float]]:
    """The values of ``key`` at which the method finished, and the mean of the metric there."""
    own = [record for record in records if record["method"] == method]
    found = []
    for place in sorted({record["setting"][key] for record in own}):
        mean = summarise([r for r in own if r["setting"][key] == place], metric).mean
        if mean is not None:
            found.append((float(place), mean))
    return [place for place, _ in found], [mean for _, mean in found]


def exponent(places: Sequence[float], means: Sequence[float]) -> float | None:
    """The k of the best fit c·d^k through the large sizes; None with fewer than three."""
    points = [(d, y) for d, y in zip(places, means, strict=True) if d >= _LARGE and y > 0]
    if len(points) < 3:
        return None
    logs = [(math.log(d), math.log(y)) for d, y in points]
    return statistics.linear_regression(*zip(*logs, strict=True)).slope


def growth_table(records: Sequence[Record], metrics: Sequence[str]) -> str:
    """For each method the range of sizes that it finished and the exponents that were fitted."""
    records, rows = along(records, "nodes"), []
    for method in methods_of(records):
        places, _ = curve(records, method, metrics[0])
        slopes = [exponent(*curve(records, method, metric)) for metric in metrics]
        sizes = f"{places[0]:.0f} – {places[-1]:.0f}" if places else "none"
        rows.append([method, sizes, *("–" if s is None else f"{s:.2f}" for s in slopes)])
    return table(["method", "nodes", *(f"exponent of {metric}" for metric in metrics)], rows)
