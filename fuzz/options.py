"""Parameters, good and bad, as lines of source; and background knowledge.

Every parameter of the estimators is drawn from its signature, so that a new one is fuzzed with bad
values from the day it exists; good values for it are added here.
"""

from __future__ import annotations

import inspect

from analyticdag import AnalyticDAG, NonlinearDAG
from fuzz.case import Draw
from fuzz.fields import NAMES

# No parameter takes all of these, and none may answer them with a raw error.
BAD = (
    "None",
    "'x'",
    "'no'",
    "''",
    "'a\\nb'",
    "-1",
    "0",
    "1.5",
    "float('nan')",
    "float('inf')",
    "10**400",
    "-(10**400)",
    "1e308",
    "5e-324",
    "1j",
    "True",
    "[]",
    "{}",
    "()",
    "['a', 1]",
    "object()",
    "b'x'",
    "np.array([1.0, 2.0])",
    "np.array(['a', None], dtype=object)",
    "np.float32(0.5)",
    "np.int64(3)",
    "np.bool_(True)",
    "lambda: 0",
    "int",
    "__import__('decimal').Decimal('0.1')",
    "__import__('pathlib').Path('nowhere/x')",
)
_FUNCTIONS = "from analyticdag.functions import Exponential, Inverse, Logarithm, Truncated; "
_SCHEDULE = "from analyticdag.optimize.schedule import Schedule, Stage; "
_SOLVERS = "from analyticdag.optimize.adam import Adam; "
_COLUMNS = "from analyticdag.optimize.columns import Columns; "
_SHORT = f"{_SCHEDULE}schedule = Schedule.geometric(s=(1.0, 0.9), max_steps={{steps}})"
_SEEDS = ("0", "7", "None", "np.random.RandomState(1)", "2**32 - 1", "2**40", "-5", "np.int64(3)")
_CONSTRAINTS = (
    *("'exponential'", "'order-1'", "'order-2'", "'order-3'", "'order-9'", "'order-300'"),
    *("'order-10000'", "'order-0'", "'order--1'", "'order-1e9'", "'order-x'", "'ORDER-1'"),
)
_KNOWLEDGE = "KNOWLEDGE"  # drawn apart, see `knowledge`
LINEAR = {
    "loss": ("'auto'", "'mse'", "'likelihood-ev'", "'likelihood-nv'", "'logistic'"),
    "constraint": _CONSTRAINTS,
    "lambda1": ("0.0", "0.01", "0.1", "10.0", "1e300", "'auto'", "'ebic'", "'cv'", "'stars'"),
    "w_threshold": ("0.0", "0.1", "0.3", "100.0", "'auto'"),
    "solver": ("'order'", "'fast'", "'auto'"),
    "refine": ("True", "False"),
    "knowledge": (_KNOWLEDGE,) * 8,
    "candidates": (
        *("None", "'correlation'", "'markov'", "'pc'", "np.ones((d, d), bool)"),
        *("np.zeros((d, d), bool)", "np.ones((d, d + 1), bool)", "np.ones((d, d)) * np.nan"),
    ),
    "standardize": ("True", "False"),
    "random_state": _SEEDS,
    "n_jobs": ("None", "1", "2", "-1", "0", "-7"),
    "verbose": ("0", "1", "2"),
    "checkpoint": ("'state'", "Path('state')", "'.'", "''", "'no/folder/state'", "'\\x00'"),
    "gamma": ("'auto'", "0.0", "0.5", "1.0", "5.0"),
    "min_effect": ("'auto'", "0.0", "0.05", "0.3", "0.99"),
    "effort": ("0.0", "0.5", "1.0", "3.0"),
    "missing": ("'error'", "'drop'", "'em'"),
    "covariance": ("'sample'", "'rank'"),
    "kinds": ("None", "{}", "{'a': 'yes/no'}", "{'a': 'log', 'b': 'count'}", "{'a': ['x', 'y']}"),
}
NONLINEAR = {
    **{name: LINEAR[name] for name in ("knowledge", "random_state", "verbose", "checkpoint")},
    "model": ("'gran-dag'", "'mlp'"),
    "constraint": _CONSTRAINTS[:6],
    "variance": ("None", "'constant'", "'learned'", "'equal'", "'auto'"),
    "hidden_units": ("1", "3", "10"),
    "lambda1": ("None", "0.0", "0.02", "5.0"),
    "w_threshold": ("None", "0.0", "0.3"),
    "neighbours": ("None", "True", "False"),
    "pruning": ("True", "False", "0.05", "1.0"),
    "refine": ("None", "True", "False"),
    "max_steps": ("1", "2", "7", "15"),
    "dtype": ("'float64'", "'float32'"),
    "device": ("'auto'", "'cpu'", "None", "'cuda'", "'nowhere'"),
}
# Parameters of the solvers themselves; bad values are drawn for these too.
_OF_SOLVERS = {
    "schedule": ("schedule",),
    "start": (
        *("None", "'zero'", "'variance'", "np.zeros((d, d))", "np.ones((d, d))"),
        *("np.triu(np.ones((d, d)), 1)", "np.full((d, d), np.nan)", "np.zeros((d, 1))"),
    ),
    "device": ("None", "'cpu'", "'cuda'", "'nowhere'"),
    "dtype": ("None", "'float64'", "'float32'", "'float16'"),
}
_SPECIAL = (
    f"{_SCHEDULE}{_COLUMNS}options['solver'] = Columns(schedule=Schedule([]))",
    f"{_SCHEDULE}{_COLUMNS}options['solver'] = Columns(schedule=Schedule([Stage(float('nan'))]))",
    f"{_SCHEDULE}{_COLUMNS}options['solver'] = Columns("
    "schedule=Schedule([Stage(1.0, 1.0, 3), Stage(1e-300, 0.5, 3)]))",
    f"{_SCHEDULE}{_COLUMNS}options['solver'] = Columns(schedule=Schedule([Stage('1', 1.0, 3)]))",
    f"{_SCHEDULE}{_COLUMNS}options['solver'] = Columns(schedule=Schedule.geometric(s=1.0))",
    f"{_FUNCTIONS}options['constraint'] = Inverse(1.0) ** 2 + Exponential()",
    f"{_FUNCTIONS}options['constraint'] = Truncated(Exponential(), 30)",
    f"{_FUNCTIONS}options['constraint'] = Logarithm(1e-300)",
    f"{_FUNCTIONS}options['constraint'] = Inverse(float('nan'))",
    f"{_FUNCTIONS}options['constraint'] = Inverse(1.0).derivative(3)",
    f"{_COLUMNS}options['solver'] = Columns(max_sweeps=2)",
    f"{_COLUMNS}options['solver'] = Columns(tol=float('nan'))",
    f"{_SOLVERS}options['solver'] = Adam(learning_rate='x')",
    f"{_SOLVERS}options['solver'] = Adam(betas=(2.0, 3.0))",
)


def linear(draw: Draw) -> list[str]:
    """Return the lines that fill `options` for AnalyticDAG: the search mostly, short paths."""
    lines = ["Model, options, extra = AnalyticDAG, {}, {}"]
    solver = draw.weighted({"order": 55, "fast": 20, "path": 12, "adam": 8, "default": 5})
    if solver in ("order", "fast"):
        lines.append(f"options['solver'] = {solver!r}")
    if solver in ("path", "adam"):
        lines += [_SHORT.format(steps=draw.whole(2, 20)), "options['refine'] = False"]
        lines.append(_solver(draw, adam=solver == "adam"))
    if draw.chance(0.05):
        lines.append(draw.one(_SPECIAL))
    return [*lines, *_drawn(draw, AnalyticDAG, LINEAR)]


def _solver(draw: Draw, *, adam: bool) -> str:
    """Return a line that makes a solver with a short path and, now and then, bad parameters."""
    names = [name for name in _OF_SOLVERS if adam or name in ("schedule", "start")]
    given = {"schedule": "schedule"}
    for name in draw.some(names, 1):
        given[name] = _value(draw, _OF_SOLVERS[name], BAD)
    changes = ", ".join(f"{name}={value}" for name, value in given.items())
    if adam:
        return f"{_SOLVERS}options['solver'] = Adam(1e-2, check_every=5, {changes})"
    return f"{_COLUMNS}options['solver'] = Columns({changes})"


def nonlinear(draw: Draw) -> list[str]:
    """Return the lines that fill `options` for NonlinearDAG, with a few steps only."""
    lines = ["Model, options, extra = NonlinearDAG, {'max_steps': 5, 'hidden_units': 2}, {}"]
    lines.append(f"options['model'] = {draw.one(NONLINEAR['model'])}")
    return [*lines, *_drawn(draw, NonlinearDAG, NONLINEAR)]


def resamples(draw: Draw) -> list[str]:
    """Return lines that fill `extra` for `bootstrap`: few resamples, and bad values."""
    lines = [f"extra['n_resamples'] = {draw.whole(1, 4)}"]
    good = {
        "n_resamples": ("1", "2", "0", "-1"),
        "subsample": ("None", "0.5", "0.01", "1.0", "'complementary'", "2.0"),
        "n_jobs": ("None", "1", "0", "1.5", "'x'", "2**40"),
        "random_state": _SEEDS,
        "checkpoint": LINEAR["checkpoint"],
        "progress": ("None", "print", "3"),
        "interventions": interventions_of_rows(),
    }
    for name in draw.some(list(good), 2):
        # A thousand processes, or resamples without end, are what was asked for: not here.
        bad = () if name in ("n_jobs", "n_resamples") else BAD
        lines.append(f"extra[{name!r}] = {_value(draw, good[name], bad)}")
    return lines


def covariance(draw: Draw) -> list[str]:
    """Return lines that make a covariance `S` of `X`, and damage it."""
    lines = ["S = np.cov(X.T.reshape(d, n), bias=True).reshape(d, d) if d else np.zeros((0, 0))"]
    if draw.chance(0.6):
        lines.append(draw.one(_BAD_COVARIANCES))
    good = ("20", "100", "2", "10**9", "np.int64(50)")
    return [*lines, f"extra['n_samples'] = {_value(draw, good, BAD)}"]


_BAD_COVARIANCES = (
    "S[:1, 1:2] += 1.0",
    "S = -S",
    "S[:1, :1] = np.nan",
    "S[:1] = np.inf",
    "S *= 1e300",
    "S *= 1e-300",
    "S[:1] *= 1e-100; S[:, :1] *= 1e-100",
    "S[:1] *= 1e100; S[:, :1] *= 1e100",
    "S[:1] = 0.0; S[:, :1] = 0.0",
    "S = S[:, :1]",
    "S = S[0:0]",
    "S = S.tolist()",
    "S = S.astype(object); S[:1, :1] = 10**400",
    "S = S.astype(complex)",
    "S = np.ma.masked_array(S, S > 0); must_refuse = bool(np.ma.getmaskarray(S).any())",
    "S = np.matrix(S)",
    "from scipy import sparse; S = sparse.csr_matrix(S)",
    "import pandas as pd; S = pd.DataFrame(S, columns=[1, 'a', None, 'a', 2, 3, 4, 5][:len(S)])"
    " if d < 9 else S",
    "S = None",
    "S = 'S'",
    "S = {0: S}",
)


def interventions(draw: Draw) -> list[str]:
    """Return a line that says which rows were perturbed."""
    return [f"extra['interventions'] = {_value(draw, interventions_of_rows(), BAD)}"]


def interventions_of_rows() -> tuple[str, ...]:
    """Return what can be said about perturbed rows, some of it wrong."""
    return (
        "[None] * n",
        "[k % d if d and k % 3 == 0 else None for k in range(n)]",
        "[0] * n",
        "np.arange(n)[:, None] % 4 == np.arange(d)",
        "np.ones((n, d), bool)",
        "[0]",
        "['nobody'] * n",
        "[-1] * n",
        "[float('nan')] * n",
        "np.zeros((n, d + 1), bool)",
        "[[0, 1]] * n",
        "{0: 1}",
    )


def _drawn(draw: Draw, estimator: type, good: dict[str, tuple[str, ...]]) -> list[str]:
    names = [name for name in inspect.signature(estimator).parameters if name != "self"]
    lines = []
    # Few: most combinations are refused, and a table that is refused tests nothing else.
    for name in draw.random.sample(names, draw.weighted({0: 45, 1: 33, 2: 15, 3: 7})):
        value = _value(draw, good.get(name, ()), BAD)
        value = knowledge(draw) if value == _KNOWLEDGE else value
        lines.append(f"options[{name!r}] = {value}")
    return lines


def _value(draw: Draw, good: tuple[str, ...], bad: tuple[str, ...]) -> str:
    return draw.one(good) if good and (not bad or draw.chance(0.75)) else draw.one(bad)


_ENDS = (
    "0",
    "1",
    "2",
    "3",
    "0",
    "1",
    "2",
    "'a'",
    "'x0'",
    "'x1'",
    "None",
    "-1",
    "99",
    "True",
    "1.0",
)
_EDGES = ("None", "'a'", "3", "[('a',)]", "['a -> b']", "[(0, 1, 2)]", "{0: 1}", "[[[0], 1]]")
_TIERS = ("[[0], [1]]", "[[0, 1], [2]]", "[[1], [0]]", "[['x0'], ['x1']]", "[[0], [0]]", "[0]")


def knowledge(draw: Draw) -> str:
    """Return source that builds background knowledge; some of it contradicts itself."""
    parts = []
    for name in ("required_edges", "forbidden_edges"):
        if draw.chance(0.5):
            edges = ", ".join(f"({_end(draw)}, {_end(draw)})" for _ in range(draw.whole(1, 3)))
            parts.append(f"{name}={draw.one(_EDGES) if draw.chance(0.1) else f'[{edges}]'}")
    if draw.chance(0.3):
        parts.append(f"tiers={draw.one((*_TIERS, *_EDGES))}")
    if draw.chance(0.3):
        parts.append(f"max_parents={draw.one(('1', '2', '3', '1', *BAD))}")
    return f"Knowledge({', '.join(parts)})"


def _end(draw: Draw) -> str:
    if draw.chance(0.85):
        return draw.one(("0", "1", "2"))
    return draw.one(_ENDS) if draw.chance(0.6) else repr(draw.one(NAMES))
