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


def row(text: str, *words: str, **shd: list[int]) -> list[str]:
    """The line of one claim, entry by entry."""
    line = paired_table(records(**shd), ["shd", *text.split(), *words]).splitlines()[2]
    return [entry.strip() for entry in line.strip("|").split("|")]


FEW, MANY = [10, 12, 9, 11, 10], [30, 33, 28, 30, 32]


def test_a_clear_difference_is_shown_or_contradicted() -> None:
    shown = row("dagma < empty", dagma=FEW, empty=MANY)
    assert shown[0] == "dagma < empty"
    assert shown[3] == "5 / 0 / 0"
    assert shown[5] == "**shown** (5 seeds)"
    assert row("empty < dagma", dagma=FEW, empty=MANY)[5] == "**contradicted** (5 seeds)"


def test_no_difference_and_noise_are_not_shown() -> None:
    assert row("dagma < empty", dagma=FEW, empty=FEW)[5] == "not shown with 5 seeds"
    noise = row("dagma < empty", dagma=[3, 8, 1, 9], empty=[9, 1, 8, 3])
    assert noise[5] == "not shown with 4 seeds"


def test_only_graphs_that_both_were_run_on_count() -> None:
    assert row("dagma < empty", dagma=FEW, empty=MANY[:2])[5] == "too few seeds (2)"


def test_the_p_value_is_that_of_scipy_times_the_number_of_claims() -> None:
    one, other = [3, 8, 1, 9, 4], [9, 9, 8, 10, 6]
    alone = ttest_rel(one, other).pvalue
    both = row("dagma < empty; dagma < empty", dagma=one, empty=other)
    assert float(row("dagma < empty", dagma=one, empty=other)[4]) == pytest.approx(alone, abs=5e-4)
    assert float(both[4]) == pytest.approx(2 * alone, abs=5e-4)


def test_holm_goes_on_with_the_largest_so_far() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])


def test_conditions_choose_settings() -> None:
    nothing = row("nodes=50 dagma < empty", dagma=FEW, empty=MANY)
    assert nothing[0] == "50: dagma < empty"
    assert nothing[5] == "too few seeds (0)"


def test_what_is_no_claim_is_named() -> None:
    with pytest.raises(DataError, match=r"a claim is 'method < method'.*got 'dagma'"):
        Claim.read("dagma")
