"""Markdown tables from records, and from nothing else.

One table per metric: a row for each setting, a column for each method, mean ± standard deviation
over the repeats that were really run. What failed is in the table too, with its reason.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

from analyticdag.bench.records import Record

__all__ = ["format_number", "latest", "metrics_of", "render"]

# What the table of a task shows unless asked otherwise; for other tasks, every number.
_HEADLINES = {
    "constraint-cost": ["ratio", "milliseconds"],
    "learn": ["shd", "shd_cpdag", "tpr", "fdr", "f1", "seconds"],
}
_COSTS = {"wall_seconds", "cpu_seconds", "peak_rss_mib"}


def render(records: Sequence[Record], metrics: Sequence[str] = ()) -> str:
    """Tables for ``metrics`` (the headlines of the task if none is named), plan by plan."""
    parts = []
    for plan in dict.fromkeys(record["plan"] for record in records):
        group = latest([record for record in records if record["plan"] == plan])
        parts.append(f"## {plan}")
        parts += [_table(group, metric) for metric in metrics or metrics_of(group)]
        parts += _failures(group)
    return "\n\n".join(parts) + "\n" if parts else "No records yet.\n"


def latest(records: Sequence[Record]) -> list[Record]:
    """One record for each setting, method and repeat, in the order of the plan.

    A later record replaces an earlier one of the same place.
    """
    found = {}
    for record in records:
        found[_setting(record), record["method"], record["repeat"], record["seed"]] = record
    return sorted(found.values(), key=lambda record: int(record["place"]))


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


def format_number(value: float) -> str:
    """Short and never in scientific notation for everyday sizes: 1234, 56.7, 0.0123."""
    if value == round(value) and abs(value) < 1e6:
        return f"{value:.0f}"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"


def _table(records: Sequence[Record], metric: str) -> str:
    methods = list(dict.fromkeys(record["method"] for record in records))
    settings = list(dict.fromkeys(_setting(record) for record in records))
    varying, fixed = _split_keys(settings)
    header = [*varying, *methods, "seeds"]
    lines = [_row(header), _row(["---"] * len(header))]
    for setting in settings:
        group = [record for record in records if _setting(record) == setting]
        values = dict(setting)
        cells = [_cell([r for r in group if r["method"] == name], metric) for name in methods]
        seeds = len({record["repeat"] for record in group})
        lines.append(_row([*(str(values.get(key, "")) for key in varying), *cells, str(seeds)]))
    caption = ", ".join(f"{key} = {value}" for key, value in fixed.items())
    title = f"### {metric}" + (f" ({caption})" if caption else "")
    return f"{title}\n\n" + "\n".join(lines)


def _cell(records: Sequence[Record], metric: str) -> str:
    """Mean ± std of what finished, and how many did not."""
    found = [_value(record, metric) for record in records]
    values = [value for value in found if value is not None]
    failed = Counter(record["exit"] for record in records if record["exit"] != "ok")
    notes = [f"{count} {what}" for what, count in failed.items()]
    if not values:
        return ", ".join(notes) or "–"
    text = format_number(statistics.fmean(values))
    if len(values) > 1:
        text += f" ± {format_number(statistics.stdev(values))}"
    return f"{text} ({', '.join(notes)})" if notes else text


def _value(record: Record, metric: str) -> float | None:
    value = record[metric] if metric in _COSTS else record["metrics"].get(metric)
    return None if value is None or isinstance(value, str) else float(value)


def _setting(record: Record) -> tuple[tuple[str, object], ...]:
    return tuple(record["setting"].items())


def _split_keys(
    settings: Sequence[tuple[tuple[str, object], ...]],
) -> tuple[list[str], dict[str, object]]:
    """Keys whose value differs between settings (columns), and the others (the caption)."""
    tables = [dict(setting) for setting in settings]
    keys = dict.fromkeys(key for table in tables for key in table)
    varying = [key for key in keys if len({str(table.get(key)) for table in tables}) > 1]
    fixed = {key: tables[0][key] for key in keys if key not in varying}
    return varying, fixed


def _failures(records: Sequence[Record]) -> list[str]:
    """Why cells failed, each reason once."""
    reasons = Counter(
        f"{record['method']}: {record['reason']}" for record in records if record["exit"] != "ok"
    )
    if not reasons:
        return []
    lines = [f"- {reason} ({count} cell{'s' * (count > 1)})" for reason, count in reasons.items()]
    return ["### cells without a result\n\n" + "\n".join(lines)]


def _row(values: Sequence[str]) -> str:
    return "| " + " | ".join(value.replace("|", "\\|") for value in values) + " |"
