"""A small table of a large plan: metrics averaged over some of its axes.

    means noise-shape shd shd_class right/labelled over samples,noise without noise=gaussian

Rows are what is left of a setting, columns are metrics and methods. `a/b` is the sum of one metric
by the sum of another, in per cent. How many graphs an entry is the mean of stands beside it.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence

from analyticdag.errors import DataError
from benchmarks.records import Record
from benchmarks.render import WORDS, methods_of
from benchmarks.summary import format_number, table, value_of

__all__ = ["means_table"]

_ORDER = re.compile(
    r"(?P<metrics>.+) over (?P<axes>\S+)(?: (?P<sign>with|without) (?P<key>\w+)=(?P<value>\S+))?"
)


def means_table(records: Sequence[Record], words: Sequence[str]) -> str:
    """Return the table that the words of a block ask for."""
    metrics, averaged, kept = _asked(records, words)
    if not kept:
        return "Nothing of this is recorded."
    columns = [
        (metric, method)
        for metric in metrics
        for method in methods_of(kept)
        if any(_numbers(record, metric) for record in kept if record["method"] == method)
    ]
    rows: dict[tuple[str, ...], list[Record]] = {}
    keys = _row_keys(kept, averaged)
    for record in kept:
        rows.setdefault(tuple(str(record["setting"].get(key, "")) for key in keys), []).append(
            record
        )
    header = [*keys, *(f"{method}, {WORDS.get(metric, metric)}" for metric, method in columns)]
    return table(header, [[*row, *(_entry(of, *c) for c in columns)] for row, of in rows.items()])


def _asked(
    records: Sequence[Record], words: Sequence[str]
) -> tuple[list[str], list[str], list[Record]]:
    """Return the metrics, the axes to average over, and the records that count."""
    asked = _ORDER.fullmatch(" ".join(words))
    if asked is None:
        raise DataError(
            "a block of means is 'METRIC … over AXIS,AXIS', then perhaps 'with KEY=VALUE' or "
            f"'without KEY=VALUE'; not {' '.join(words)!r}"
        )
    kept = [
        record
        for record in records
        if not asked["key"]
        or (str(record["setting"].get(asked["key"])) == asked["value"]) == (asked["sign"] == "with")
    ]
    return asked["metrics"].split(), asked["axes"].split(","), kept


def _row_keys(records: Sequence[Record], averaged: Sequence[str]) -> list[str]:
    """Return the keys that differ between settings, but for those averaged over."""
    keys = dict.fromkeys(key for record in records for key in record["setting"])
    return [
        key
        for key in keys
        if key not in averaged and len({str(one["setting"].get(key)) for one in records}) > 1
    ]


def _numbers(record: Record, metric: str) -> list[float]:
    """Return the value of a metric, or both of a share; nothing where one is missing."""
    found = [value_of(record, one) for one in metric.split("/")]
    return [] if None in found else [value for value in found if value is not None]


def _entry(records: Sequence[Record], metric: str, method: str) -> str:
    own = [_numbers(record, metric) for record in records if record["method"] == method]
    own = [numbers for numbers in own if numbers]
    if not own:
        return "–"
    if "/" in metric:
        part, whole = (round(sum(side)) for side in zip(*own, strict=True))
        return f"{part} of {whole}" + (f" ({100.0 * part / whole:.1f} %)" if whole else "")
    return f"{format_number(statistics.fmean(one[0] for one in own))} ({len(own)})"
