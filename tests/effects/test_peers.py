"""Effects and adjustment sets agree with DoWhy and pgmpy on the same DAGs.

The two are not among the development dependencies: their pins clash with ours. In an environment
of their own (`pip install dowhy pgmpy pytest hypothesis narwhals array-api-compat`) these run;
docs/figures/effects_against_peers.py writes down how that went.
"""

from __future__ import annotations

import pytest
from peers import CASES, Case, disagreements_with_dowhy, disagreements_with_pgmpy


@pytest.mark.parametrize("case", CASES[:6], ids=lambda case: f"seed {case.seed}")
def test_dowhy_agrees(case: Case) -> None:
    pytest.importorskip("dowhy")
    assert disagreements_with_dowhy(case) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"seed {case.seed}")
def test_pgmpy_agrees(case: Case) -> None:
    pytest.importorskip("pgmpy")
    assert disagreements_with_pgmpy(case) == []


@pytest.mark.parametrize("case", CASES[:2], ids=lambda case: f"seed {case.seed}")
def test_the_cases_have_effects_and_confounding(case: Case) -> None:
    assert len(case.pairs) > 5
    assert any(effect.adjustment_set for effect in case.pairs.values())
