from __future__ import annotations

import numpy as np
import pytest

from analyticdag.errors import ParameterError
from benchmarks import constraint_cost as module
from benchmarks.plan import Method


@pytest.mark.parametrize("structure", ["dense", "sparse", "quarters", "acyclic"])
def test_weights_are_as_promised(structure: str) -> None:
    W = module.make_weights(structure, 40, np.random.default_rng(0))
    radius = np.abs(np.linalg.eigvals(W * W)).max()
    largest = max(map(len, module.cyclic_components(W)), default=1)
    if structure == "acyclic":
        assert largest == 1
    else:
        assert radius == pytest.approx(0.5, rel=0.01)
        assert largest == {"dense": 40, "quarters": 10}.get(structure, largest)
    assert not W.diagonal().any()


def test_a_cell_reports_a_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROUNDS", (2, 2))
    setting = {"nodes": 20, "structure": "dense"}
    found = module.constraint_cost(setting, Method("m", "order-2"), np.random.default_rng(0))
    assert found["ratio"] == pytest.approx(found["milliseconds"] / found["inverse_milliseconds"])
    assert found["rounds"] == 2


def test_the_reference_is_an_inverse() -> None:
    matrix = np.asfortranarray(np.eye(5) + np.random.default_rng(0).random((5, 5)))
    np.testing.assert_allclose(module._inverse(matrix) @ matrix, np.eye(5), atol=1e-12)


def test_an_unknown_structure_is_refused() -> None:
    with pytest.raises(ParameterError, match="no structure is called 'ring'"):
        module.make_weights("ring", 10, np.random.default_rng(0))
