"""The gate for arguments: every bad one is refused in one line of our own; NumPy's scalars pass."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyticdag import AnalyticDAG, Knowledge
from analyticdag._parameters import (
    choice,
    flag,
    is_missing,
    level_of,
    number,
    seed_of,
    shown,
    whole,
)
from analyticdag.candidates import candidate_mask
from analyticdag.errors import DataError, InputError, KnowledgeError, ParameterError
from analyticdag.interventions import intervention_mask
from analyticdag.simulate import random_dag, sample, simulate
from analyticdag.stability import bootstrap

ARRAY = np.arange(6.0).reshape(2, 3)
# What should never be taken for a number, a flag, a name or a seed.
STRANGE = ["no", "1", b"1", 1j, [1], {}, ARRAY, pd.NA, np.nan, object(), 10**400, -(10**5000)]


def table() -> Any:
    return np.random.default_rng(0).normal(size=(20, 3))


def refused(call: Any, error: type[Exception] = InputError) -> str:
    """The message of the refusal, which has to be one line of bounded length."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert 0 < len(message) < 500
    return message


@pytest.mark.parametrize("value", [*STRANGE, 1, 0, None, "True"], ids=lambda v: type(v).__name__)
def test_only_true_and_false_are_flags(value: Any) -> None:
    assert "refine must be True or False, not " in refused(lambda: flag("refine", value))


@given(st.one_of(st.text(), st.binary(), st.none(), st.floats(), st.lists(st.integers())))
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    refused(lambda: whole("k", value, 0), ParameterError)


@given(st.floats(min_value=0.0, allow_infinity=False, allow_nan=False))
def test_numbers_pass_as_they_are(value: float) -> None:
    assert number("x", value) == value
    assert number("x", np.float64(value)) == value


def test_scalars_of_numpy_pass() -> None:
    assert flag("x", np.bool_(False)) is False
    assert type(whole("x", np.int32(3), 1)) is int
    assert number("x", np.float32(0.5)) == 0.5
    assert number("x", Fraction(1, 4)) == 0.25
    assert choice("x", np.str_("a"), ("a", "b")) == "a"
    assert seed_of(np.uint8(7)) == seed_of(7)
    assert seed_of(np.random.RandomState(7)) == seed_of(7)
    assert seed_of(None) == 0


def test_limits_are_named() -> None:
    assert refused(lambda: whole("k", 0, 1, 9)).endswith("of at least 1 and at most 9, not 0")
    assert refused(lambda: number("x", 3, 0, 2)).endswith("of at least 0 and at most 2, not 3")
    assert refused(lambda: choice("x", "c", ("a", "b"))) == "x must be one of ('a', 'b'), not 'c'"


def test_a_quoted_value_is_one_short_line() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError

    assert shown(Broken()) == "a Broken"
    assert shown(10**5000) == "a int"
    assert len(shown("x" * 1000)) == 80
    assert "\n" not in shown(np.eye(30))


def test_missing_values_are_recognised() -> None:
    assert all(map(is_missing, [None, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.ma.masked]))
    assert not any(map(is_missing, [0, "", "nan", ARRAY, [None]]))


@pytest.mark.parametrize(
    "name",
    ["loss", "constraint", "lambda1", "w_threshold", "solver", "refine", "knowledge", "candidates",
     "standardize", "random_state", "n_jobs", "verbose"],
)  # fmt: skip
@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_strange_parameters_are_refused(name: str, value: Any) -> None:
    assert name.rstrip("_")[:5] in refused(lambda: AnalyticDAG(**{name: value}).fit(table()))


@pytest.mark.parametrize("random_state", [-1, 2**32, True, 1.0, np.random.default_rng(0)])
def test_seeds_are_whole_numbers(random_state: Any) -> None:
    message = refused(lambda: AnalyticDAG(random_state=random_state).fit(table()))
    assert message.startswith("random_state must be a numpy RandomState, None, or a whole number")


def test_an_absurd_order_is_refused_before_work_begins() -> None:
    for constraint in ("order-10000", "order-101"):
        message = refused(lambda c=constraint: AnalyticDAG(constraint=c).fit(table()))
        assert "use an order of at most 100, or solver='adam'" in message
    assert "is not known" in refused(lambda: AnalyticDAG("mse", "order-" + "9" * 5000).fit(table()))


@pytest.mark.parametrize(
    "edges",
    [[(None, "a")], [("a", np.nan)], [("a", pd.NA)], [(["a"], "b")], [(("a", []), "b")],
     [(True, "a")], ["ab"], [("a",)], [("a", "b", "c")], [1], "ab", None, 3, [ARRAY], {"a": "b"}],
)  # fmt: skip
@pytest.mark.parametrize("argument", ["required_edges", "forbidden_edges"])
def test_edges_that_are_none_are_refused(argument: str, edges: Any) -> None:
    assert argument in refused(lambda: Knowledge(**{argument: edges}), KnowledgeError)


@pytest.mark.parametrize("tiers", [None, "ab", [None], [[None]], [[["a"]]], [1], [["a"], ["a"]]])
def test_tiers_that_are_none_are_refused(tiers: Any) -> None:
    assert "tier" in refused(lambda: Knowledge(tiers=tiers), KnowledgeError)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "2", np.nan, [2]])
def test_a_limit_on_parents_is_a_whole_number(limit: Any) -> None:
    assert "max_parents" in refused(lambda: Knowledge(max_parents=limit), KnowledgeError)
    assert Knowledge(max_parents=np.int64(2)).max_parents == 2


@pytest.mark.parametrize("record", [None, 3, ["tiers"], {1: 2, "x": 3}])
def test_a_record_of_knowledge_is_a_mapping(record: Any) -> None:
    assert "the keys" in refused(lambda: Knowledge.from_dict(record), KnowledgeError)


@pytest.mark.parametrize(
    "interventions",
    [["a"], [["a"], ["b", "c"]], 3, "a", [True, False], [("a", []), None], np.eye(2),
     np.ma.array([0, 1], mask=[0, 1]), [{}, None], [2, None], ["x", None]],
)  # fmt: skip
def test_interventions_that_name_no_columns_are_refused(interventions: Any) -> None:
    refused(lambda: intervention_mask(interventions, ["a", "b"], 2), DataError)


def test_missing_targets_are_rows_left_alone() -> None:
    for nothing in (None, np.nan, pd.NA, pd.NaT, ""):
        mask = intervention_mask([nothing, "b", nothing, nothing], ["a", "b"], 4)
        assert mask is not None
        assert np.argwhere(mask).tolist() == [[1, 1]]


def test_a_mask_of_nullable_booleans_is_a_mask() -> None:
    frame = pd.DataFrame({"a": [True, False, False], "b": [False] * 3}, dtype="boolean")
    mask = intervention_mask(frame, ["a", "b"], 3)
    assert mask is not None
    assert np.argwhere(mask).tolist() == [[0, 0]]


@pytest.mark.parametrize("mask", [[[True], [True, False]], np.eye(3), 3, {"a": 1}])
def test_a_mask_of_candidates_is_boolean(mask: Any) -> None:
    assert "candidates mask must be boolean" in refused(lambda: candidate_mask(mask, np.eye(3), 9))


@pytest.mark.parametrize(
    "change",
    [{"graph": "ER" + "9" * 5000}, {"graph": ARRAY}, {"n_nodes": 10**9}, {"n_nodes": True},
     {"n_samples": 10**12}, {"noise": []}, {"mechanism": {}}, {"standardize": "no"},
     {"noise_scale": 10**400}, {"weight_range": (1, 10**400)}, {"seed": ARRAY},
     {"weight_range": (1e300, 1e300)}, {"noise_scale": 1e300}],
)  # fmt: skip
def test_simulations_that_cannot_be_are_refused(change: dict[str, Any]) -> None:
    refused(lambda: simulate(**({"graph": "ER2", "n_nodes": 10, "n_samples": 5} | change)))


def test_draws_need_a_generator() -> None:
    for rng in (None, 3, np.random.RandomState(0)):
        assert "default_rng" in refused(lambda r=rng: random_dag("ER1", 5, r))
        assert "default_rng" in refused(lambda r=rng: sample(np.zeros((2, 2)), 5, rng=r))


@pytest.mark.parametrize(
    "change",
    [{"n_resamples": 0}, {"n_resamples": "9"}, {"n_resamples": 10**400},
     {"subsample": ARRAY}, {"subsample": np.nan},
     {"subsample": True}, {"random_state": -1}, {"random_state": "x"},
     {"n_jobs": 0}, {"n_jobs": 1.5}, {"n_jobs": "x"}],
)  # fmt: skip
def test_resamples_that_cannot_be_are_refused(change: dict[str, Any]) -> None:
    refused(lambda: bootstrap(AnalyticDAG(), table(), **change), ParameterError)


@pytest.mark.parametrize("level", [0, 1, 1.0, -0.1, 2, "x", float("nan")])
def test_a_level_lies_between_0_and_1(level: Any) -> None:
    with pytest.raises(ParameterError, match="level must"):
        level_of(level)
