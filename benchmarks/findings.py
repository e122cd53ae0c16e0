"""The few findings that a reader in a hurry takes away, each with its numbers from the records.

A `Finding` says which records it is about and how it is told; the numbers in its sentence and in
the table of facts are means over them. `figures` draws it for light and for dark pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.records import Record
from benchmarks.select import planned_records
from benchmarks.summary import summarise, table

__all__ = ["FINDINGS", "Finding", "facts_table", "finding_text"]

OURS = "analyticdag"


@dataclass(frozen=True)
class Finding:
    """One chart: `methods` of a plan by the names they are shown under, ours first.

    `where` picks settings and `place` names each of them on the axis. `says` and `caveat` are
    texts with {method metric} in them, at the setting `told`, which the table of facts shows too.
    `page` has all of its plan.
    """

    key: str
    title: str
    plan: str
    methods: Mapping[str, str]
    metrics: Mapping[str, str]
    place: Callable[[Mapping[str, Any]], Any]
    told: Any
    fact: str
    says: str
    caveat: str
    page: str
    where: Mapping[str, Any] = field(default_factory=dict)

    def records(self, folder: Path) -> list[Record]:
        """Return the finished records that it is about."""
        return [
            record
            for record in planned_records(folder, self.plan)
            if record["exit"] == "ok"
            and record["method"] in self.methods
            and all(record["setting"].get(key) == value for key, value in self.where.items())
        ]

    def means(self, folder: Path, metric: str) -> dict[str, dict[Any, float]]:
        """Return the mean of a metric by shown method and place, in the order of both."""
        found: dict[str, dict[Any, float]] = {}
        records = self.records(folder)
        places = list(dict.fromkeys(self.place(record["setting"]) for record in records))
        if all(isinstance(place, int) for place in places):
            places.sort()
        for method, shown in self.methods.items():
            own = [record for record in records if record["method"] == method]
            for place in places:
                here = [record for record in own if self.place(record["setting"]) == place]
                mean = summarise(here, metric).mean if here else None
                if mean is not None:
                    found.setdefault(shown, {})[place] = mean
        return found


def _written(value: float) -> str:
    """Write a number as a person would say it."""
    if value == round(value) or value >= 100:
        return f"{value:,.0f}"
    digits = ".0f" if value >= 20 else ".1f" if value >= 0.1 else ".2f" if value >= 0.01 else ".1g"
    return f"{value:{digits}}"


def _numbers(finding: Finding, folder: Path) -> dict[str, str]:
    """Return what the texts of a finding may name: "dagma seconds", by shown method and metric."""
    return {
        f"{shown} {metric}": _written(by_place[finding.told])
        for metric in finding.metrics
        for shown, by_place in finding.means(folder, metric).items()
        if finding.told in by_place
    }


def finding_text(key: str, folder: Path) -> str:
    """Return a finding as a page shows it: the chart, one sentence, its caveat."""
    finding = next(one for one in FINDINGS if one.key == key)
    numbers = _numbers(finding, folder)
    if not numbers:
        return ""
    chart = "".join(
        f"![{finding.title}](figures/summary-{key}{ending}.svg#only-{theme}){{ loading=lazy }}"
        for theme, ending in (("light", ""), ("dark", "-dark"))
    )
    says, caveat = (text.format_map(numbers) for text in (finding.says, finding.caveat))
    return f"## {finding.title}\n\n{chart}\n\n**{says}** {caveat} [All of it]({finding.page})."


def facts_table(folder: Path) -> str:
    """Return the table of facts: what was measured, ours, and the others."""
    rows = []
    for finding in FINDINGS:
        first, *others = finding.methods.values()
        numbers = _numbers(finding, folder)
        if numbers:
            peers = [f"{name} {_entry(finding, numbers, name)}" for name in others]
            rows.append([finding.fact, _entry(finding, numbers, first), ", ".join(peers) or "–"])
    return table(["what was measured", OURS, "others"], rows)


def _entry(finding: Finding, numbers: Mapping[str, str], shown: str) -> str:
    main, *_ = finding.metrics
    # Processor time where the machine was shared, and the clock says nothing.
    seconds = numbers.get(f"{shown} seconds") or numbers.get(f"{shown} cpu_seconds")
    if main == "seconds":
        return f"{seconds} s, {numbers[f'{shown} peak_rss_mib']} MiB"
    return f"{numbers[f'{shown} {main}']} ({seconds} s)" if seconds else "no result"


_VIOLATIONS = {
    "noise": "heavy tails",
    "mechanism": "bent",
    "levels": "few levels",
    "hidden": "hidden causes",
    "regimes": "pooled",
}


def _violation(setting: Mapping[str, Any]) -> str:
    return next((name for key, name in _VIOLATIONS.items() if key in setting), "as modelled")


_SHD = {"shd": "SHD", "seconds": "seconds"}
_CLASS = {"shd_cpdag": "SHD of the class", "seconds": "seconds"}

FINDINGS: Sequence[Finding] = (
    Finding(
        key="nodes",
        title="Accuracy and time against nodes",
        plan="paper-small",
        where={"graph": "ER4", "noise": "gaussian"},
        methods={
            "analyticdag": OURS,
            "dagma": "dagma",
            "conditional-variance": "conditional variance",
        },
        metrics=_SHD,
        place=lambda setting: setting["nodes"],
        told=50,
        fact="ER4, 50 nodes, 1,000 rows, known scale: SHD",
        says="At 50 nodes of ER4, equal noise and known scale, the mean SHD is {analyticdag shd} "
        "for analyticdag and {dagma shd} for dagma, in {analyticdag seconds} and {dagma seconds} "
        "seconds.",
        caveat="This is the field's usual setting, and an easy one: ordering by conditional "
        "variance, a baseline of a few lines, gets {conditional variance shd}.",
        page="paper-small.md",
    ),
    Finding(
        key="real",
        title="Real cells",
        plan="sachs",
        methods={
            "analyticdag": OURS,
            "pc": "PC",
            "ges": "GES",
            "flop": "FLOP",
            "boss": "BOSS",
            "grasp": "GRaSP",
        },
        metrics=_CLASS,
        place=lambda setting: "Sachs",
        told="Sachs",
        fact="853 real cells (Sachs), raw: SHD of the class; the empty graph has 17",
        says="On 853 real cells everybody is far from the experts' network of 17 links: "
        "{analyticdag shd_cpdag} links differ for analyticdag, {FLOP shd_cpdag} for FLOP.",
        caveat="One table, raw scale, and its model does not hold for any of these methods; "
        "analyticdag's diagnostics say so.",
        page="../sachs.md",
    ),
    Finding(
        key="realistic",
        title="Realistic tables",
        plan="realistic",
        where={"graph": "UD1.5", "nodes": 50, "samples": 1000},
        methods={"analyticdag": OURS, "flop": "FLOP"},
        metrics={"shd_cpdag": "SHD of the class", "cpu_seconds": "processor seconds"},
        place=_violation,
        told="as modelled",
        fact="weak effects, own units, 50 nodes, 1,000 rows: SHD of the class",
        says="With effects over two decades and columns in units of their own, the class of 50 "
        "variables has a mean SHD of {analyticdag shd_cpdag} for analyticdag and {FLOP shd_cpdag} "
        "for FLOP.",
        caveat="Simulated; the other bars break the model on purpose, and everybody gets worse.",
        page="realistic.md",
    ),
    Finding(
        key="standardised",
        title="Standardised columns",
        plan="engine-standardised",
        methods={"order-search": OURS, "flop, 20 restarts": "FLOP"},
        metrics=_CLASS,
        place=lambda setting: f"{setting['graph']}, {setting['nodes']:,}",
        told="ER1, 1,000",
        fact="ER1, 1,000 nodes, 1,000 rows, standardised: SHD of the class",
        says="With scales hidden only the class can be learned; at 1,000 nodes of ER1 its mean "
        "SHD is {analyticdag shd_cpdag}, FLOP's {FLOP shd_cpdag}, in {analyticdag seconds} and "
        "{FLOP seconds} seconds.",
        caveat='analyticdag by its search alone (`solver="order"`); FLOP with its usual penalty '
        "and 20 restarts, on fewer seeds: paying the price of an edge that ours pays, it errs less "
        "and takes longer.",
        page="engine.md",
    ),
    Finding(
        key="nonlinear",
        title="Equations that bend",
        plan="nonlinear",
        methods={"mlp": OURS, "dagma-nonlinear": "dagma"},
        metrics=_SHD,
        place=lambda setting: f"{setting['graph']} {setting['mechanism']}, {setting['nodes']}",
        told="ER1 gp, 10",
        fact="bent equations (Gaussian processes), ER1, 10 nodes: SHD",
        says="On Gaussian-process equations between 10 variables `NonlinearDAG` has a mean SHD of "
        "{analyticdag shd}, dagma's network {dagma shd}, in {analyticdag seconds} and "
        "{dagma seconds} seconds.",
        caveat="Few seeds. On the dense graphs of 20 nodes with network equations (ER4 mlp) dagma "
        "is the better one, after half an hour.",
        page="nonlinear.md",
    ),
    Finding(
        key="growth",
        title="Growth",
        plan="scaling",
        where={"samples": 1000, "graph": "ER2"},
        methods={"order-search": OURS},
        metrics={"seconds": "seconds", "peak_rss_mib": "peak memory, MiB"},
        place=lambda setting: setting["nodes"],
        told=10000,
        fact="ER2, 10,000 nodes, 1,000 rows, one thread: time and memory",
        says="10,000 nodes take {analyticdag seconds} seconds and {analyticdag peak_rss_mib} MiB.",
        caveat='One seed each, known scale, the search alone (`solver="order"`). No peer was '
        "run at this size.",
        page="scaling.md",
    ),
)
