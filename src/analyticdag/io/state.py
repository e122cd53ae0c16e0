"""What goes on from a fit: moments, centre, scale and noise, saved with the graph; of a
graph by counts also these.

Fitted.of(estimator)      what is saved, as plain arrays
ladder_of(estimator)      the graphs of other prices, where somebody asked for them
estimator_of(run)         a fitted `AnalyticDAG` again, for effects, scores and new rows
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag._validation import remember_columns
from analyticdag.effects.families import Families, Family
from analyticdag.effects.levels import LevelColumns, level_names
from analyticdag.errors import InputError
from analyticdag.fitting.edges import Edge, FixedBy
from analyticdag.fitting.finish import Finished
from analyticdag.graphs import is_dag
from analyticdag.linear.estimator import AnalyticDAG
from analyticdag.linear.ladder import Rung
from analyticdag.losses import loss_class, loss_traits
from analyticdag.moments import Moments
from analyticdag.optimize.trace import Status, Trace
from analyticdag.tables.recipe import COUNTS

# Arrays of a state, and their numbers.
ARRAYS = {
    **dict.fromkeys(("covariances", "means", "mean", "scale", "noise"), np.float64),
    **dict.fromkeys(("counts", "of"), np.int64),
}
# Of a table with categories, also these, on the columns of all levels.
LEVEL_ARRAYS = {
    **dict.fromkeys(("level_covariances", "level_means"), np.float64),
    **dict.fromkeys(("level_counts", "level_of", "level_sizes"), np.int64),
    "level_codes": np.float64,
}
# Of a graph by counts, also these: of every column and those that may cause it.
FAMILY_ARRAYS = {
    **dict.fromkeys(("family_sizes", "family_nodes", "family_lengths"), np.int64),
    **dict.fromkeys(("family_times", "family_levels"), np.int64),
    "family_values": np.float64,
    "family_cells": np.uint8,
}
_MOST_ROWS = 2**50  # sums of a thousand such counts are exact
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
    levels: LevelColumns | None = None
    families: Families | None = None

    @classmethod
    def of(cls, estimator: Any) -> Fitted | None:
        """Return the state of a fitted estimator; None for one without moments."""
        if not hasattr(estimator, "moments_"):
            return None
        mean, scale = np.asarray(estimator.mean_), np.asarray(estimator.scale_)
        noise = np.asarray(estimator.noise_variances_)
        levels, families = estimator.level_columns_, getattr(estimator, "families_", None)
        return cls(estimator.moments_, mean, scale, noise, levels, families)

    @property
    def n_sets(self) -> int:
        """How many sets of rows have moments of their own."""
        return len(self.moments.counts)

    @property
    def n_levels(self) -> int:
        """How many columns there are with one for each level; zero without categories."""
        return 0 if self.levels is None else int(self.levels.sizes.sum())

    @property
    def n_cells(self) -> int:
        """How many cells of families there are; zero where the graph is not by counts."""
        return 0 if self.families is None else sum(one.cells.size for one in self.families.every)

    def arrays(self) -> dict[str, Any]:
        """Return the arrays that `from_arrays` reads back."""
        own = {name: getattr(self, name) for name in ("mean", "scale", "noise")}
        names = ("covariances", "means", "counts", "of")
        own |= {name: getattr(self.moments, name) for name in names}
        if self.families is not None:
            own |= _family_arrays(self.families)
        if self.levels is None:
            return own
        found = self.levels
        codes = np.array([code for codes in found.codes for code in codes])
        own |= {f"level_{name}": getattr(found.moments, name) for name in names}
        # A node has as many codes as columns, and one more for its reference, or none.
        signs = np.where(found.is_category, -1, 1)
        return own | {"level_sizes": found.sizes * signs, "level_codes": codes}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, Any], n_sets: int, d: int, n_levels: int = 0, n_cells: int = 0
    ) -> Fitted:
        """Read a state back; ValueError says what cannot be."""
        shapes = {"covariances": (n_sets, d, d), "means": (n_sets, d), "counts": (n_sets,)}
        for name, kind in ARRAYS.items():
            array = arrays[name]
            if array.shape != shapes.get(name, (d,)) or array.dtype != kind:
                raise ValueError(f"{name} is not {kind.__name__} of {n_sets} sets, {d} columns")
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
        levels = _levels_of(arrays, n_sets, d, n_levels) if n_levels else None
        families = _families_of(arrays, d, n_cells) if n_cells else None
        return cls(moments, arrays["mean"], arrays["scale"], arrays["noise"], levels, families)


def _levels_of(arrays: Mapping[str, Any], n_sets: int, d: int, columns: int) -> LevelColumns:
    """Read the columns of levels back; ValueError says what cannot be."""
    S, means, counts, of, marked, codes = (arrays[name] for name in LEVEL_ARRAYS)
    shapes = [(n_sets, columns, columns), (n_sets, columns), (n_sets,), (columns,), (d,)]
    kinds = [arrays[name].dtype for name in LEVEL_ARRAYS]
    if [one.shape for one in (S, means, counts, of, marked)] != shapes or kinds != [
        np.dtype(kind) for kind in LEVEL_ARRAYS.values()
    ]:
        raise ValueError("the columns of levels have other sizes than the model says")
    sizes = np.abs(marked)
    lengths = np.where(marked < 0, sizes + 1, 0)
    if sizes.min() < 1 or sizes.sum() != columns or codes.shape != (lengths.sum(),):
        raise ValueError("level_sizes must be those of the columns of levels")
    if not all(np.isfinite(one).all() for one in (S, means, codes)):
        raise ValueError("what is saved of levels must be finite")
    if counts.min() < 1 or of.min() < 0 or of.max() >= n_sets or S.diagonal(0, 1, 2).min() < 0.0:
        raise ValueError("every column of a level must have rows and a variance")
    ends = np.cumsum(lengths)
    own = tuple(
        tuple(codes[end - length : end].tolist()) for end, length in zip(ends, lengths, strict=True)
    )
    return LevelColumns(sizes, Moments(S, means, counts, of), level_names(own, None), own)


def _family_arrays(families: Families) -> dict[str, Any]:
    """Return what was counted as flat arrays, column after column."""
    every, values = families.every, families.values
    return {
        "family_sizes": np.array([len(one.nodes) for one in every]),
        "family_nodes": np.concatenate([one.nodes for one in every]),
        "family_lengths": np.array([len(one.times) for one in every]),
        "family_times": np.concatenate([one.times for one in every]),
        "family_levels": np.array([len(own) for own in values]),
        "family_values": np.concatenate(values),
        "family_cells": np.concatenate([one.cells.ravel() for one in every]),
    }


def _families_of(arrays: Mapping[str, Any], d: int, n_cells: int) -> Families:
    """Read back what was counted; ValueError says what cannot be."""
    if any(arrays[name].dtype != kind for name, kind in FAMILY_ARRAYS.items()):
        raise ValueError("the arrays of families have the wrong types")
    sizes, nodes, lengths, times, levels, values, cells = (arrays[name] for name in FAMILY_ARRAYS)
    fits = [one.shape == (d,) and one.min() >= 1 for one in (sizes, lengths, levels)]
    # Sizes are at most the number of cells, so that their product does not overflow.
    if not all(fits) or max(sizes.max(), lengths.max()) > n_cells:
        raise ValueError("family_sizes, family_lengths and family_levels must be those of columns")
    wanted = (sizes.sum(), lengths.sum(), levels.sum(), (sizes * lengths).sum())
    found = [one.shape for one in (nodes, times, values, cells)]
    if found != [(size,) for size in wanted] or cells.size != n_cells:
        raise ValueError("what was counted of families has other sizes than it says")
    if nodes.min() < 0 or nodes.max() >= d or not np.isfinite(values).all():
        raise ValueError("families must be of columns with finite levels")
    if times.min() < 1 or times.max() > _MOST_ROWS or levels.max() > 256:
        raise ValueError("families must be counted in rows, with 256 levels at most")
    own = np.split(values, np.cumsum(levels)[:-1])
    every = tuple(
        Family(nodes, cells.reshape(-1, len(nodes)), times)
        for nodes, cells, times in zip(
            np.split(nodes, np.cumsum(sizes)[:-1]),
            np.split(cells, np.cumsum(sizes * lengths)[:-1]),
            np.split(times, np.cumsum(lengths)[:-1]),
            strict=True,
        )
    )
    families = Families(tuple(own), every)
    _check_families(families)
    return families


def _check_families(families: Families) -> None:
    """Raise ValueError unless all families can be of the same rows."""
    sizes = np.array([len(values) for values in families.values])
    for j, one in enumerate(families.every):
        if one.nodes[0] != j or (np.diff(one.nodes[1:]) <= 0).any() or j in one.nodes[1:]:
            raise ValueError("a family must be its column, then all causes in their order")
        if (one.cells >= sizes[one.nodes]).any() or (np.diff(families.values[j]) <= 0.0).any():
            raise ValueError("families have levels that no column has, or that do not rise")
    often = [np.bincount(one.cells[:, 0], one.times, sizes.max()) for one in families.every]
    for one in families.every:
        for k, cells in zip(one.nodes.tolist(), one.cells.T, strict=True):
            if (np.bincount(cells, one.times, sizes.max()) != often[k]).any():
                raise ValueError("families must be counted in the same rows")


def estimator_of(run: Any) -> AnalyticDAG:
    """Return a fitted estimator of a `SavedRun`; what led to the graph, its trace, stays there."""
    if run.fitted is None:
        raise InputError(
            "the run holds a graph and no covariance (it is of a nonlinear model, or "
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
    search = run.parameters.get("search") or {}
    model.excess_, model.reading_ = search.get("excess"), search.get("reading")
    model.covariance_ = str(run.parameters.get("covariance", "sample"))
    model.recipe_ = None if run.look is None else run.look.recipe
    model.families_ = families = run.fitted.families
    if model.reading_ == COUNTS and families is None:
        raise InputError("the run has no counts behind its graph by counts; fit again")
    for name, family in zip(names, () if families is None else families.every, strict=False):
        causes = {names.index(cause) for cause in model.class_graph_.predecessors(name)}
        if not causes <= set(family.nodes.tolist()):
            raise InputError(f"the run has no counts of {name!r} with its causes; fit again")
    model.level_columns_ = levels = run.fitted.levels
    if levels is not None:
        labels = level_names(levels.codes, model.recipe_)
        model.level_columns_ = replace(levels, labels=labels)
    return model


def _edges(run: Any) -> tuple[Edge, ...]:
    edges = []
    for record in run.edges:
        own: dict[str, Any] = {name: getattr(record, name) for name in Edge._fields}
        own["source"], own["target"] = run.edge_names(record)
        own["fixed_by"] = FixedBy(record.fixed_by)
        own["near_threshold"] = bool(record.near_threshold)
        for name in ("standard_error", "partial_correlation"):
            own[name] = np.nan if own[name] is None else own[name]
        edges.append(Edge(**own))
    return tuple(edges)


@dataclass(frozen=True)
class RungRecord:
    """One rung: `edges` are (source, target, open) by column index, open as 0 or 1."""

    price: float
    min_effect: float
    score: float
    edges: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, rung: Rung) -> RungRecord:
        """Return the record of a rung."""
        edges = tuple(
            (int(i), int(j), int(rung.cpdag[j, i] != 0)) for i, j in np.argwhere(rung.adjacency)
        )
        return cls(rung.price, rung.min_effect, rung.score, edges)

    def rung(self, n_columns: int) -> Rung:
        """Return the rung again."""
        adjacency = np.zeros((n_columns, n_columns), dtype=bool)
        cpdag = np.zeros(adjacency.shape, dtype=np.int64)
        for i, j, is_open in self.edges:
            adjacency[i, j] = True
            cpdag[i, j], cpdag[j, i] = 1, is_open
        return Rung(self.price, self.min_effect, self.score, adjacency, cpdag)

    def check(self, n_columns: int) -> None:
        """Raise ValueError unless this can be a rung of so many columns."""
        limits = (n_columns, n_columns, 2)
        cells = [(v, most) for edge in self.edges for v, most in zip(edge, limits, strict=True)]
        if any(not 0 <= value < most for value, most in cells):
            raise ValueError("a rung of the ladder has edges between columns that are not there")
        pairs = {frozenset(edge[:2]) for edge in self.edges}
        if len(pairs) != len(self.edges) or not is_dag(self.rung(n_columns).adjacency):
            raise ValueError("a rung of the ladder is no acyclic graph")
        if not (self.price > 0.0 and 0.0 <= self.min_effect <= 1.0):
            raise ValueError("a rung of the ladder has an impossible price")


def ladder_of(estimator: Any) -> tuple[RungRecord, ...]:
    """Return the rungs that were asked for; none where nobody did, or there are none."""
    return tuple(map(RungRecord.of, getattr(estimator, "_rungs", None) or ()))
