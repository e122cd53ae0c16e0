"""The same questions to us, to DoWhy and to pgmpy: random DAGs of six columns with data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import networkx as nx
import numpy as np
from classes import random_dag

from analyticdag._tables import NamedColumns
from analyticdag.effects import Effect, fit_graph, total_effect

NAMES = tuple("abcdef")


@dataclass(frozen=True)
class Case:
    """One DAG with data, and our effects of every pair that a directed path joins."""

    seed: int

    @cached_property
    def graph(self) -> nx.DiGraph:
        drawn = random_dag(6, np.random.default_rng([91, self.seed]), 0.5)
        graph = nx.DiGraph()
        graph.add_nodes_from(NAMES)
        graph.add_edges_from((NAMES[i], NAMES[j]) for i, j in np.argwhere(drawn).tolist())
        return graph

    @cached_property
    def table(self) -> NamedColumns:
        """Rows whose noise is exactly uncorrelated: every valid regression gives one number."""
        rng = np.random.default_rng([92, self.seed])
        W = nx.to_numpy_array(self.graph, nodelist=NAMES) * rng.uniform(0.3, 1.2, (6, 6))
        drawn = rng.normal(size=(400, 6))
        noise = np.linalg.qr(drawn - drawn.mean(axis=0))[0] * 20.0
        return NamedColumns(noise @ np.linalg.inv(np.eye(6) - W), NAMES)

    @cached_property
    def pairs(self) -> dict[tuple[str, str], Effect]:
        known = fit_graph(self.graph, self.table)
        reached = [(x, y) for x in NAMES for y in nx.descendants(self.graph, x)]
        return {(x, y): total_effect(known, x, y) for x, y in reached}

    def slope(self, x: str, y: str, given: tuple[str, ...]) -> float:
        """Return the slope of y on x in one regression that adjusts for some columns."""
        columns = [NAMES.index(name) for name in (x, *given)]
        X = self.table.values - self.table.values.mean(axis=0)
        return float(np.linalg.lstsq(X[:, columns], X[:, NAMES.index(y)], rcond=None)[0][0])


CASES = [Case(seed) for seed in range(30)]


def disagreements_with_dowhy(case: Case) -> list[str]:
    """Ask DoWhy for its backdoor set and its estimate, and compare the estimate with ours."""
    import pandas as pd
    from dowhy import CausalModel
    from dowhy.causal_estimators.linear_regression_estimator import LinearRegressionEstimator

    frame = pd.DataFrame(case.table.values, columns=list(NAMES))
    gml = "\n".join(nx.generate_gml(case.graph))
    found = []
    for (x, y), effect in case.pairs.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = CausalModel(frame, x, y, graph=gml)
            estimand = model.identify_effect(proceed_when_unidentifiable=True)
            # Without effect modifiers, which its default adds as interactions.
            estimator = LinearRegressionEstimator(estimand).fit(frame)
            theirs = estimator.estimate_effect(frame, control_value=0, treatment_value=1)
        if abs(float(theirs.value) - effect.value) > 1e-6:
            found.append(f"{x} -> {y}: DoWhy {theirs.value:.4f}, ours {effect.value:.4f}")
        sets = (effect.adjustment_set, effect.minimal_adjustment_set)
        ours = [case.slope(x, y, chosen) for chosen in sets]
        if max(abs(slope - effect.value) for slope in ours) > 1e-6:
            found.append(f"{x} -> {y}: our sets give {ours}, our effect is {effect.value:.4f}")
    return found


def disagreements_with_pgmpy(case: Case) -> list[str]:
    """Ask pgmpy whether our adjustment sets are valid, and how small a set can be."""
    from pgmpy.base import DAG
    from pgmpy.inference import CausalInference

    dag = DAG()
    dag.add_nodes_from(NAMES)
    dag.add_edges_from(case.graph.edges)
    theirs = CausalInference(dag)
    found = []
    for (x, y), effect in case.pairs.items():
        for chosen in (effect.adjustment_set, effect.minimal_adjustment_set):
            if not theirs.is_valid_backdoor_adjustment_set(x, y, list(chosen)):
                found.append(f"{x} -> {y}: pgmpy rejects {chosen}")
        least = theirs.get_minimal_adjustment_set(x, y)
        # A smaller set counts if it gives the effect: pgmpy 1.1.2 returns a mediator once, which
        # gives 0.
        smaller = least is not None and len(least) < len(effect.minimal_adjustment_set)
        if smaller and abs(case.slope(x, y, tuple(least)) - effect.value) <= 1e-6:
            found.append(f"{x} -> {y}: pgmpy has {least}, ours {effect.minimal_adjustment_set}")
    return found
