"""What goes on from a fit: moments, centre, scale and noise, saved with the graph since format 2.

Fitted.of(estimator)      what is saved, as plain arrays
estimator_of(run)         a fitted `AnalyticDAG` again, for effects, scores and new rows
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag._validation import remember_columns
from analyticdag.errors import InputError
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.fitting.finish import Finished
from analyticdag.linear.estimator import AnalyticDAG
from analyticdag.losses import loss_class, loss_traits
from analyticdag.moments import Moments
from analyticdag.optimize.trace import Status, Trace

# Arrays of a state, their number of axes, and the kind of their numbers.
ARRAYS = {
    "covariances": (3, "f"),
    "means": (2, "f"),
    "counts": (1, "i"),
    "of": (1, "i"),
    "mean": (1, "f"),
    "scale": (1, "f"),
    "noise": (1, "f"),
}
# Parameters that a record holds as they are; the others are shown there, never rebuilt.
_PLAIN = (
    *("lambda1", "w_threshold", "refine", "standardize", "random_state", "gamma", "missing"),
    *("min_effect", "effort", "covariance"),
)


@dataclass(frozen=True, eq=False)
class Fitted:
    """Moments of the data as the fit saw them, and the rest of the model, in the columns' order."""

    moments: Moments
    mean: FloatArray
    scale: FloatArray
    noise: FloatArray

    @classmethod
    def of(cls, estimator: Any) -> Fitted | None:
        """Return the state of a fitted estimator; None for one without moments."""
        if not hasattr(estimator, "moments_"):
            return None
        mean, scale = np.asarray(estimator.mean_), np.asarray(estimator.scale_)
        return cls(estimator.moments_, mean, scale, np.asarray(estimator.noise_variances_))

    @property
    def n_sets(self) -> int:
        """How many sets of rows have moments of their own."""
        return len(self.moments.counts)

    def arrays(self) -> dict[str, Any]:
        """Return the arrays that `from_arrays` reads back."""
        own = {name: getattr(self, name) for name in ("mean", "scale", "noise")}
        names = ("covariances", "means", "counts", "of")
        return own | {name: getattr(self.moments, name) for name in names}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], n_sets: int, d: int) -> Fitted:
        """Read a state back; ValueError says what cannot be."""
        shapes = {"covariances": (n_sets, d, d), "means": (n_sets, d), "counts": (n_sets,)}
        for name, (_, kind) in ARRAYS.items():
            array = arrays[name]
            if array.shape != shapes.get(name, (d,)) or array.dtype.kind != kind:
                raise ValueError(f"{name} is not of {n_sets} sets of rows and {d} columns")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite")
        S, of = arrays["covariances"], arrays["of"]
        variances = np.diagonal(S, axis1=1, axis2=2)
        if variances.min() < 0.0 or not np.allclose(S, S.transpose(0, 2, 1), rtol=1e-6):
            raise ValueError("covariances must be symmetric, with variances on the diagonal")
        if of.min() < 0 or of.max() >= n_sets or arrays["counts"].min() < 1:
            raise ValueError("every column must have a set of rows")
        if arrays["scale"].min() <= 0.0 or arrays["noise"].min() < 0.0:
            raise ValueError("scale and noise must be above zero")
        moments = Moments(S, arrays["means"], arrays["counts"], of)
        return cls(moments, *(arrays[name] for name in ("mean", "scale", "noise")))


def estimator_of(run: Any) -> AnalyticDAG:
    """Return a fitted estimator of a `SavedRun`; what led to the graph, its trace, stays there."""
    if run.fitted is None:
        raise InputError(
            "the run holds a graph and no covariance (it is of format 1, of a nonlinear model, or "
            "a graph from elsewhere), so no model can be made of it; fit again"
        )
    given = {name: run.parameters[name] for name in _PLAIN if name in run.parameters}
    model = AnalyticDAG(loss=run.loss, **given)
    names = list(run.names)
    remember_columns(model, names, len(names))
    finished = Finished(run.weights, run.adjacency)
    model._keep_graph(names, finished, run.cpdag.astype(np.int8), _edges(run))
    model.causal_order_ = np.array(run.order, dtype=np.int64)
    model.removed_edges_ = list(run.removed_edges)
    model.h_, model.loss_, model.n_iter_ = run.h, run.loss, run.n_iter
    model.loss_traits_ = loss_traits(loss_class(run.loss))
    model.loss_choice_ = model.selection_ = model.interventions_ = None
    model.trace_, model.status_, model.advice_ = Trace(), Status[run.status], run.advice
    model.moments_, model.mean_ = run.fitted.moments, run.fitted.mean
    model.scale_, model.noise_variances_ = run.fitted.scale, run.fitted.noise
    model._ladder, model._rungs = None, tuple(rung.rung(len(names)) for rung in run.ladder)
    model.excess_ = (run.parameters.get("search") or {}).get("excess")
    model.recipe_ = None if run.look is None else run.look.recipe
    return model


def _edges(run: Any) -> tuple[Edge, ...]:
    return tuple(
        Edge(
            run.names[edge.source],
            run.names[edge.target],
            edge.weight,
            np.nan if edge.standard_error is None else edge.standard_error,
            np.nan if edge.partial_correlation is None else edge.partial_correlation,
            FixedBy(edge.fixed_by),
            bool(edge.near_threshold),
            edge.stability,
            edge.direction_stability,
            edge.probability,
            edge.direction_probability,
            edge.enters_at,
            edge.margin,
            edge.parts,
        )
        for edge in run.edges
    )
