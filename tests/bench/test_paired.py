"""Paired tests of claims: what is shown, what is not, what is contradicted."""

from __future__ import annotations

import pytest
from making import cells_of, made_up
from scipy.stats import ttest_rel

from analyticdag.errors import DataError
from benchmarks.paired import Claim, holm, paired_table


def records(**shd: list[int]) -> list[dict]:
    """Records of paper-claims, ER4 with 100 nodes: the SHD of each method by repeat."""
    return [
        made_up(cell, shd=values[cell.repeat])
        for name, values in shd.items()
        for cell in cells_of("paper-claims", graph="ER4", nodes=100, method=name)[: len(values)]
    ]


def row(text: str, **shd: list[int]) -> list[str]:
    """The line of one claim, entry by entry."""
    table = paired_table(records(**shd), ["shd", *text.split()], ["dagma", "empty"])
    line = table.splitlines()[2]
    return [entry.strip() for entry in line.strip("|").split("|")]


FEW, MANY = [10, 12, 9, 11, 10, 8, 7, 12], [30, 33, 28, 30, 32, 31, 29, 36]


def test_a_clear_difference_is_shown_or_contradicted() -> None:
    shown = row("dagma < empty", dagma=FEW, empty=MANY)
    assert shown[0] == "dagma < empty"
    assert shown[3] == "8 / 0 / 0"
    assert shown[6] == "**shown** (8 pairs)"
    assert row("empty < dagma", dagma=FEW, empty=MANY)[6] == "**contradicted** (8 pairs)"


def test_where_only_one_test_says_so_the_verdict_says_which() -> None:
    few = row("dagma < empty", dagma=FEW[:5], empty=MANY[:5])  # five ranks cannot show anything
    assert few[6] == "**shown** by the mean (5 pairs)"
    outlier = row("dagma < empty", dagma=FEW, empty=[*(value + 1 for value in FEW[:7]), 400])
    assert outlier[6] == "**shown** by the ranks (8 pairs)"


def test_no_difference_and_noise_are_not_shown() -> None:
    assert row("dagma < empty", dagma=FEW, empty=FEW)[6] == "not shown with 8 pairs"
    noise = row("dagma < empty", dagma=[3, 8, 1, 9], empty=[9, 1, 8, 3])
    assert noise[6] == "not shown with 4 pairs"


def test_differences_that_are_all_alike_are_no_proof() -> None:
    alike = row("dagma < empty", dagma=[1, 2, 3], empty=[2, 3, 4])
    assert alike[2] == "–"
    assert alike[4:] == ["0.500", "0.500", "not shown with 3 pairs", "−1 (3)"]


def test_data_without_a_number_of_nodes_are_compared_in_plain_errors() -> None:
    names = ["exponential float64", "exponential float32"]
    cells = [cell for name in names for cell in cells_of("paper-table-4", method=name)[:3]]
    made = [made_up(cell, shd=cell.repeat * (cell.method.name == names[1])) for cell in cells]
    header, _, line = paired_table(made, ["shd", " < ".join(names)], names).splitlines()
    assert header.startswith("| claim | difference | 95 % interval |")
    assert line.startswith(f"| {' < '.join(names)} | −1 | ")


def test_only_graphs_that_both_were_run_on_count() -> None:
    assert row("dagma < empty", dagma=FEW, empty=MANY[:2])[6] == "too few pairs (2)"


def test_the_smallest_p_value_is_that_of_scipy_times_the_number_of_tests() -> None:
    one, other = [3, 8, 1, 9, 4], [9, 9, 8, 12, 6]
    alone = ttest_rel(one, other).pvalue
    both = row("dagma < empty; dagma < empty", dagma=one, empty=other)
    single = row("dagma < empty", dagma=one, empty=other)
    assert float(single[4]) == pytest.approx(2 * alone, abs=5e-4)
    assert float(both[4]) == pytest.approx(4 * alone, abs=5e-4)


def test_holm_goes_on_with_the_largest_so_far() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


def test_conditions_choose_settings() -> None:
    nothing = row("nodes=50 dagma < empty", dagma=FEW, empty=MANY)
    assert nothing[0] == "50: dagma < empty"
    assert nothing[6] == "too few pairs (0)"


def test_what_is_no_claim_is_named() -> None:
    with pytest.raises(DataError, match=r"a claim is 'method < method'.*got 'dagma'"):
        Claim.read("dagma")


def test_a_method_that_the_plan_does_not_have_is_a_typo() -> None:
    with pytest.raises(DataError, match=r"no method \['damga'\]; it has \['dagma', 'empty'\]"):
        row("damga < empty", dagma=FEW, empty=MANY)
