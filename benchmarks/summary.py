"""From records to the entry of a table: which records count, their mean, how it is written."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.records import Record

__all__ = [
    "Summary",
    "format_number",
    "latest",
    "mean_and_std",
    "setting_of",
    "summarise",
    "table",
    "values_of",
]

_TINY = "< 0.001"
_COSTS = {"wall_seconds", "cpu_seconds", "peak_rss_mib"}


@dataclass(frozen=True)
class Summary:
    """One metric of one method in one setting, over the repeats that were run."""

    values: tuple[float, ...]
    failures: tuple[str, ...]  # how the other cells ended: "timeout", "missing", ...

    @property
    def mean(self) -> float | None:
        """The mean of what finished; None if nothing did."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def n_run(self) -> int:
        """How many cells were run, whatever their end."""
        return len(self.values) + len(self.failures)

    def text(self, seeds: int) -> str:
        """Mean ± std, and a note where cells failed or fewer than ``seeds`` were run."""
        if not self.n_run:
            return "–"
        notes = [f"{count} {what}" for what, count in Counter(self.failures).items()]
        if self.n_run < seeds:
            notes.append(f"{self.n_run} seed{'s' * (self.n_run > 1)}")
        if not self.values:
            return ", ".join(notes)
        text = mean_and_std(self.values)
        return f"{text} ({', '.join(notes)})" if notes else text


def summarise(records: Sequence[Record], metric: str) -> Summary:
    """What these records, of one method and setting, say about a metric."""
    found = [value_of(record, metric) for record in records]
    return Summary(
        values=tuple(value for value in found if value is not None),
        failures=tuple(record["exit"] for record in records if record["exit"] != "ok"),
    )


def values_of(records: Sequence[Record], metric: str) -> dict[int, float]:
    """The metric by repeat, so that two methods can be compared on the same data."""
    found = {record["repeat"]: value_of(record, metric) for record in records}
    return {repeat: value for repeat, value in found.items() if value is not None}


def value_of(record: Record, metric: str) -> float | None:
    """One number of a record: what the task measured, or else what the whole cell cost."""
    if record["exit"] != "ok":
        return None
    if metric == "peak_rss_mib" and not record["isolated"]:
        return None  # a cell that ran among others has the memory of all of them
    value = record["metrics"].get(metric)
    if value is None and metric in _COSTS:
        value = record[metric]
    return None if value is None or isinstance(value, str | dict | list) else float(value)


def latest(records: Sequence[Record]) -> list[Record]:
    """One record for each setting, method and repeat, in the order of the plan.

    A later record replaces an earlier one of the same place.
    """
    found = {}
    for record in records:
        found[setting_of(record), record["method"], record["repeat"], record["seed"]] = record
    return sorted(found.values(), key=lambda record: int(record["place"]))


def setting_of(record: Record) -> tuple[tuple[str, object], ...]:
    """The setting as a value that can be compared and looked up."""
    return tuple(record["setting"].items())


def mean_and_std(values: Sequence[float]) -> str:
    """Mean ± standard deviation; of one value, the value."""
    text = format_number(statistics.fmean(values))
    if len(values) == 1 or text == _TINY:
        return text
    return f"{text} ± {format_number(statistics.stdev(values))}"


def format_number(value: float) -> str:
    """Short and never in scientific notation for everyday sizes: 1234, 56.7, 0.0123."""
    if value == round(value) and abs(value) < 1e6:
        return f"{value:.0f}"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    if abs(value) < 0.001:
        return _TINY
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A markdown table."""
    return "\n".join(map(_row, [header, ["---"] * len(header), *rows]))


def _row(values: Sequence[str]) -> str:
    return "| " + " | ".join(value.replace("|", "\\|") for value in values) + " |"
