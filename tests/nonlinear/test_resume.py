"""A killed fit goes on to the same numbers; another fit is refused the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag import NonlinearDAG
from analyticdag.errors import ParameterError
from analyticdag.nonlinear import gran_dag, mlp

X = np.random.default_rng(0).normal(size=(60, 4)) @ np.triu(np.ones((4, 4)))
SOLVERS = {"gran-dag": (gran_dag, "_subproblem", 3000), "mlp": (mlp.QuasiNewton, "minimise", 40)}

pytestmark = pytest.mark.filterwarnings("ignore::analyticdag.errors.NotConvergedWarning")


def model(name: str, file: Any, **changes: Any) -> NonlinearDAG:
    settings = {"max_steps": SOLVERS[name][2], "dtype": "float32", "checkpoint": file}
    return NonlinearDAG(name, **{**settings, **changes})


class KilledError(Exception):
    """Stands for a kill in the middle of a fit."""


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("stage", [0, 1, 2])
def test_a_killed_fit_goes_on_to_the_same_numbers(
    name: str, stage: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, file = model(name, None).fit(X), tmp_path / "fit.npz"
    assert len(expected.trace_) > 2
    module, function, _ = SOLVERS[name]
    solve = getattr(module, function)

    def dying(*arguments: Any) -> Any:
        if getattr(arguments[-1], "stage", arguments[-1]) == stage:
            raise KilledError
        return solve(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(module, function, dying)
        with pytest.raises(KilledError):
            model(name, file).fit(X)
    assert file.exists() == (stage > 0)
    resumed = model(name, str(file)).fit(X)
    np.testing.assert_array_equal(resumed.weights_, expected.weights_)
    assert resumed.trace_ == expected.trace_
    assert resumed.n_iter_ == expected.n_iter_


@pytest.mark.parametrize("name", SOLVERS)
def test_another_fit_is_refused_the_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "fit.npz"
    model(name, file).fit(X)
    for changes in ({"constraint": "order-3"}, {"random_state": 5}):
        with pytest.raises(ParameterError, match="belongs to a fit with other data or parameters"):
            model(name, file, **changes).fit(X)
