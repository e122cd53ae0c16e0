from __future__ import annotations

from pathlib import Path

import pytest
from making import cells_of, failed, keep, made_up, some_records

from analyticdag.errors import DataError, ParameterError
from benchmarks.records import BusyError, RecordFile
from benchmarks.report import fill, pack, rebuild

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = ROOT / "docs" / "benchmarks"


def block(order: str) -> str:
    return f"Before.\n\n<!-- bench {order} -->\nold\n<!-- bench end -->\n\nAfter.\n"


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_committed_pages_are_what_their_records_say(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert fill(text, PAGES / "records") == text, "run `make bench-report`"


def test_only_blocks_change_and_only_once(tmp_path: Path) -> None:
    keep(tmp_path, "quick", [made_up(cell, shd=4) for cell in cells_of("quick", method="empty")])
    (tmp_path / "page.md").write_text(block("methods quick shd"))
    (tmp_path / "other.md").write_text("No block here.\n")
    assert rebuild(tmp_path) == [tmp_path / "page.md"]
    text = (tmp_path / "page.md").read_text()
    assert text.startswith(
        "Before.\n\n<!-- bench methods quick shd -->\n\n| method | SHD | seeds |"
    )
    assert "| empty | 4 ± 0 | 2 |" in text
    assert "old" not in text
    assert text.endswith("<!-- bench end -->\n\nAfter.\n")
    assert rebuild(tmp_path) == []


def test_gaps_say_what_failed_what_is_missing_and_the_command(tmp_path: Path) -> None:
    cells = cells_of("engine-unequal")
    records = [
        failed(cell, "timeout", "stopped after 9 seconds")
        if cell.method.name == "dagma"
        else made_up(cell, shd=0)
        for cell in cells
        if cell.method.name != "path + search" or cell.repeat == 0
    ]
    keep(tmp_path, "engine-unequal", records)
    text = fill(block("gaps engine-unequal"), tmp_path / "records")
    assert "- dagma: stopped after 9 seconds (20 cells)" in text
    assert (
        "| path + search | 18 of 20 | `python -m benchmarks run engine-unequal --out runs "
        '--where "method=path + search"` |'
    ) in text
    assert text.count("python -m benchmarks run") == 1


def test_cells_from_before_the_engines_last_change_are_named(tmp_path: Path) -> None:
    cells = cells_of("quick", method="analyticdag")
    old = [made_up(cell, shd=1) | {"started": "2026-11-01T00:00:00+00:00"} for cell in cells]
    keep(tmp_path, "quick", old)
    named = f"analyticdag ({len(cells)} cells)."
    assert named in fill(block("gaps quick"), tmp_path / "records")
    keep(tmp_path, "quick", [made_up(cell, shd=1) for cell in cells])
    assert named not in fill(block("gaps quick"), tmp_path / "records")


def test_nothing_missing_is_said_too(tmp_path: Path) -> None:
    keep(tmp_path, "quick", [made_up(cell, shd=0) for cell in cells_of("quick")])
    text = fill(block("gaps quick"), tmp_path / "records")
    assert "Every cell of the plan was run" in text


def test_pages_say_when_their_records_were_made(tmp_path: Path) -> None:
    records = [made_up(cell, shd=0) for cell in cells_of("quick")]
    keep(tmp_path, "quick", [one | {"started": "2026-11-03T01:00:00+00:00"} for one in records])
    text = fill(block("gaps quick"), tmp_path / "records")
    assert "Records of 2026-11-03." in text
    keep(tmp_path, "quick", [records[0] | {"started": "2026-11-01T01:00:00+00:00"}])
    text = fill(block("gaps quick"), tmp_path / "records")
    assert "Records of 2026-11-01" in text


def test_records_of_cells_that_the_plan_no_longer_has_are_left_out(tmp_path: Path) -> None:
    record = made_up(cells_of("quick", method="empty", repeat=0)[0], shd=1)
    keep(tmp_path, "quick", [record | {"key": "of another plan"}])
    assert "Not run yet." in fill(block("methods quick"), tmp_path / "records")


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("paper paper-table-1", "### The engine"),
        ("metrics paper-table-1 shd", "### SHD (graph = ER2, nodes = 500, samples = 1000)"),
        ("speed paper-table-1 dagma", "| noise |"),
        ("methods paper-table-1", "peak memory, MiB"),
        ("paired paper-table-1 shd dagma < empty", "| dagma < empty |"),
        ("growth paper-table-1 seconds", "| dagma | 500 – 500 | – |"),
        ("figure paper-table-1 pareto", "(figures/paper-table-1-pareto.svg)"),
        ("figure paper-table-1 shd-nodes", "Not run yet."),
        ("paper paper-table-2", "Not run yet."),
        ("growth paper-table-2 seconds", "Not run yet."),
    ],
)
def test_every_kind_of_block(order: str, expected: str, tmp_path: Path) -> None:
    keep(tmp_path, "paper-table-1", some_records("paper-table-1", graph="ER2", nodes=500, repeat=0))
    assert expected in fill(block(order), tmp_path / "records")


def test_exponents_are_fitted(tmp_path: Path) -> None:
    keep(tmp_path, "scaling", some_records("scaling", samples=1000, method="order-search"))
    text = fill(block("growth scaling seconds"), tmp_path / "records")
    (row,) = [line for line in text.splitlines() if line.startswith("| order-search")]
    slope = float(row.split("|")[3])
    assert slope == pytest.approx(2.0, abs=0.3)  # the numbers were made up to grow like d²


def test_a_block_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no block is called 'pie quick'; known: paper, metrics"):
        fill(block("pie quick"), tmp_path)
    with pytest.raises(DataError, match="no block is called 'methods'"):
        fill(block("methods"), tmp_path)
    with pytest.raises(ParameterError, match="no plan is called 'no-such-plan'"):
        fill(block("methods no-such-plan"), tmp_path)


def test_a_block_without_an_end_swallows_nothing(tmp_path: Path) -> None:
    start = "<!-- bench methods quick -->\n"
    with pytest.raises(DataError, match="the block 'methods quick' has no end"):
        fill(f"{start}Prose that would be lost.\n{block('gaps quick')}", tmp_path)
    with pytest.raises(DataError, match="a page has a block without an end"):
        fill(f"{block('gaps quick')}{start}", tmp_path)


def test_a_figure_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="no figure is called 'pie'; known: shd-nodes"):
        fill(block("figure quick pie"), tmp_path)


def test_packing_leaves_a_running_run_alone(tmp_path: Path) -> None:
    with RecordFile(tmp_path / "quick.jsonl") as file:
        file.append(made_up(cells_of("quick")[0], shd=1))
        with pytest.raises(BusyError, match="another run is writing"):
            pack(tmp_path, tmp_path)
    assert (tmp_path / "quick.jsonl").exists()


def test_means_are_over_axes_and_say_of_how_many(tmp_path: Path) -> None:
    cells = cells_of("noise-shape", method="analyticdag", nodes=50, graph="ER1")
    records = [
        made_up(cell, shd=9 if cell.setting["noise"] == "gaussian" else 1, labelled=4, right=3)
        for cell in cells
    ]
    keep(tmp_path, "noise-shape", records)
    order = "means noise-shape shd right/labelled over samples,noise without noise=gaussian"
    text = fill(block(order), tmp_path / "records")
    assert "| analyticdag, SHD | analyticdag, labels right |" in text
    assert "| 1 (180) | 540 of 720 (75.0 %) |" in text
    assert "| 9 (30) |" in fill(
        block("means noise-shape shd over samples,noise with noise=gaussian"), tmp_path / "records"
    )
    with pytest.raises(DataError, match="over AXIS"):
        fill(block("means noise-shape shd"), tmp_path / "records")
