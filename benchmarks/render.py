"""Markdown tables from records, and from nothing else.

* one table per metric: a row for each setting, a column for each method (many settings);
* one table per setting: a row for each method, a column for each metric (many methods);
* how many times faster than one method the others were, on the same data.

What failed is in the tables too, with its reason.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from benchmarks.records import Record
from benchmarks.summary import (
    latest,
    setting_of,
    summarise,
    table,
    values_of,
)

__all__ = [
    "WORDS",
    "failures",
    "method_tables",
    "methods_of",
    "metric_table",
    "metrics_of",
    "render",
    "settings_of",
    "speed_table",
    "split_keys",
]

# What the tables of a task show unless asked otherwise; for other tasks, every number.
_HEADLINES = {
    "constraint-cost": ["ratio", "milliseconds"],
    "learn": ["shd", "shd_cpdag", "tpr", "fdr", "f1", "seconds"],
}
# More methods than this do not fit side by side.
_WIDE = 8
WORDS = {
    "shd": "SHD",
    "shd_cpdag": "SHD-CPDAG",
    "shd_favourable": "SHD, undirected edges favourably",
    "tpr": "TPR",
    "fdr": "FDR",
    "f1": "F1",
    "cpu_seconds": "processor seconds",
    "wall_seconds": "seconds with start-up",
    "peak_rss_mib": "peak memory, MiB",
    "shd_class": "SHD of a random member of its class",
    "right/labelled": "labels right",
}


def render(records: Sequence[Record], metrics: Sequence[str] = ()) -> str:
    """Tables for ``metrics`` (the headlines of the task if none is named), plan by plan."""
    parts = []
    for plan in dict.fromkeys(record["plan"] for record in records):
        group = latest([record for record in records if record["plan"] == plan])
        parts.append(f"## {plan}")
        wanted = metrics or metrics_of(group)
        if len(methods_of(group)) > max(len(settings_of(group)), _WIDE):
            parts.append(method_tables(group, wanted))
        else:
            parts += [metric_table(group, metric) for metric in wanted]
        parts += [f"### cells without a result\n\n{text}" for text in failures(group)]
    return "\n\n".join(parts) + "\n" if parts else "No records yet.\n"


def metrics_of(records: Sequence[Record]) -> list[str]:
    """The headlines of the records' task, or every number in them in order of appearance."""
    if records and records[0]["task"] in _HEADLINES:
        return _HEADLINES[records[0]["task"]]
    names = dict.fromkeys(
        name
        for record in records
        for name, value in record["metrics"].items()
        if isinstance(value, int | float)
    )
    return list(names)


def metric_table(records: Sequence[Record], metric: str) -> str:
    """A row for each setting, a column for each method."""
    methods = methods_of(records)
    varying, fixed = split_keys(records)
    rows = []
    for setting in settings_of(records):
        group = [record for record in records if setting_of(record) == setting]
        seeds = len({record["repeat"] for record in group})
        cells = [summarise(_of(group, name), metric).text(seeds) for name in methods]
        rows.append([*_entries(setting, varying), *cells, str(seeds)])
    caption = ", ".join(f"{key} = {value}" for key, value in fixed.items())
    title = f"### {WORDS.get(metric, metric)}" + (f" ({caption})" if caption else "")
    return f"{title}\n\n{table([*varying, *methods, 'seeds'], rows)}"


def method_tables(records: Sequence[Record], metrics: Sequence[str]) -> str:
    """For each setting a row for each method, a column for each metric and the seeds run."""
    varying, _ = split_keys(records)
    parts = []
    for setting in settings_of(records):
        group = [record for record in records if setting_of(record) == setting]
        rows = []
        for name in methods_of(group):
            own = _of(group, name)
            # The column of seeds says how many; only failures need a note.
            entries = [summarise(own, metric).text(0) for metric in metrics]
            rows.append([name, *entries, str(len(own))])
        words = ", ".join(f"{key} {value}" for key, value in setting if key in varying)
        header = ["method", *(WORDS.get(metric, metric) for metric in metrics), "seeds"]
        parts += [f"**{words}**"] * bool(words) + [table(header, rows)]
    return "\n\n".join(parts)


def speed_table(records: Sequence[Record], base: str, metric: str = "cpu_seconds") -> str:
    """How many times the processor time of each method ``base`` took, on the data both finished."""
    varying, _ = split_keys(records)
    others = [name for name in methods_of(records) if name not in (base, "empty")]
    rows = []
    for setting in settings_of(records):
        group = [record for record in records if setting_of(record) == setting]
        reference = values_of(_of(group, base), metric)
        rows.append(
            [*_entries(setting, varying)]
            + [_times(reference, values_of(_of(group, name), metric)) for name in others]
        )
    return table([*varying, *others], rows)


def _times(reference: dict[int, float], own: dict[int, float]) -> str:
    common = sorted(set(reference) & set(own))
    if not common:
        return "–"
    mine = statistics.fmean(own[repeat] for repeat in common)
    base = statistics.fmean(reference[repeat] for repeat in common)
    times = base / max(mine, 1e-9)
    return f"{times:.3g}" if times < 1000 else f"{times:.0f}"


def methods_of(records: Sequence[Record]) -> list[str]:
    """Names of the methods, in the order of the records."""
    return list(dict.fromkeys(record["method"] for record in records))


def settings_of(records: Sequence[Record]) -> list[tuple[tuple[str, object], ...]]:
    """The settings, in the order of the records."""
    return list(dict.fromkeys(setting_of(record) for record in records))


def split_keys(records: Sequence[Record]) -> tuple[list[str], dict[str, object]]:
    """Keys whose value differs between settings (columns), and the others (the caption)."""
    tables = [dict(setting) for setting in settings_of(records)]
    keys = dict.fromkeys(key for entry in tables for key in entry)
    varying = [key for key in keys if len({str(entry.get(key)) for entry in tables}) > 1]
    fixed = {key: tables[0][key] for key in keys if key not in varying}
    return varying, fixed


def failures(records: Sequence[Record]) -> list[str]:
    """Why cells failed, each reason once: one list, or nothing."""
    reasons = Counter(
        f"{record['method']}: {record['reason']}" for record in records if record["exit"] != "ok"
    )
    lines = [f"- {reason} ({count} cell{'s' * (count > 1)})" for reason, count in reasons.items()]
    return ["\n".join(lines)] if lines else []


def _of(records: Sequence[Record], method: str) -> list[Record]:
    return [record for record in records if record["method"] == method]


def _entries(setting: tuple[tuple[str, object], ...], keys: Sequence[str]) -> list[str]:
    values = dict(setting)
    return [str(values.get(key, "")) for key in keys]
