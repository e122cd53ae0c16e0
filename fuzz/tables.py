"""Tables: what a column may hold, how it is damaged, in what container it comes, how it is named.

A line works on `X`, a float array, and is written with slices, so that it still runs when the
shrinker has made the table smaller.
"""

from __future__ import annotations

from fuzz.case import Draw
from fuzz.fields import NAMES

_NOISE = {
    "X = rng.normal(size=(n, d))": 6.0,
    "X = rng.uniform(size=(n, d))": 1.0,
    "X = rng.exponential(size=(n, d)) - 1.0": 1.0,
    "X = rng.integers(0, 5, size=(n, d)).astype(float)": 1.0,
    "X = (rng.normal(size=(n, d)) > 0).astype(float)": 1.0,
    "X = rng.standard_cauchy(size=(n, d))": 0.5,
    "X = np.zeros((n, d))": 0.3,
}
_MIX = "X = X @ np.linalg.inv(np.eye(d) - np.triu(rng.normal(size=(d, d)), 1))"
_SHUFFLE = "X = X[:, rng.permutation(d)]"
_BEND = "X[:, 1:] += np.sin(2.0 * X[:, :-1])"

_CELLS = (
    *("1e200", "-1e200", "1e308", "-1.7e308", "5e-324", "1e-310", "1e16", "1e155", "1e100"),
    *("np.nan", "np.inf", "-np.inf", "0.0"),
)
_POWERS = (-323, -308, -305, -300, -250, -200, -160, -154, -150, -100, -50, -9)
_POWERS = (*_POWERS, *(-power for power in _POWERS if power > -308))
_DAMAGES = (
    "X[:, {j}:{j1}] = {number}",
    "X[:, {j}:{j1}] = X[:, 0:1]",
    "X[:, {j}:{j1}] = 1e6 * X[:, 0:1] + 5.0",
    "X[:, 2:3] = X[:, 0:1] - X[:, 1:2]",
    "X[:, {j}:{j1}] = X[:, 0:1] + 1e-9 * X[:, {j}:{j1}]",
    "X[{i}:{i1}, {j}:{j1}] = {cell}",
    "X[{i}:{i1}, {j}:{j1}] = {cell}",
    "X[:, {j}:{j1}] *= 1e{power}",
    "X[:, {j}:{j1}] *= 1e{power}",
    "X *= 10.0 ** rng.integers(-{wide}, {wide} + 1, size=d)",
    "X *= 1e{power}",
    "X += 1e{offset}",
    "X[:, {j}:{j1}] += 1e{offset}",
    "X *= 5e-310",
    "X = (X - X.mean(0)) / X.std(0)",
    "X = np.round(X)",
    "X = np.repeat(X[:1], n, axis=0)",
    "X[1::2] = X[: len(X[1::2])]",
    "X[:, {j}:{j1}] = np.arange(n)[:, None]",
    "X[:, {j}:{j1}] = np.where(np.arange(n)[:, None] == 0, 1.0, 0.0)",
    "X = X.astype(np.float32).astype(float)",
)

# Containers that hold the same numbers: the graph must be that of the plain array.
_SAME = (
    "X = X.tolist()",
    "X = tuple(map(tuple, X.tolist()))",
    "X = list(X)",
    "X = np.asfortranarray(X)",
    "X = X.copy(); X.flags.writeable = False",
    "X = np.repeat(np.repeat(X, 2, 0), 2, 1)[::2, ::2]",
    "X = X[::-1, ::-1].copy()[::-1, ::-1]",
    "X = X.astype('>f8')",
    "X = X.astype(np.longdouble)",
    "X = X.astype(object)",
    "X = np.ma.masked_array(X)",
    "import pandas as pd; X = pd.DataFrame(X)",
    "import pandas as pd; X = pd.DataFrame(X, columns=[f'x{{k}}' for k in range(X.shape[1])])",
    "import pandas as pd; X = pd.DataFrame(X, index=[f'r{{k}}' for k in range(len(X))])",
    "import pandas as pd; X = pd.DataFrame(X).convert_dtypes(convert_integer=False)",
    "import pandas as pd; X = pd.DataFrame(X).astype(object)",
    "import polars as pl; X = pl.DataFrame(X, schema=[f'x{{k}}' for k in range(X.shape[1])])",
    "import torch; X = torch.tensor(X)",
)
# What is masked is missing: refused, unless the fit was told what to do with missing values.
AS_MISSING = (
    "mask = np.ma.getmaskarray(X); plain = np.where(mask, np.nan, X.data); "
    "must_refuse = bool(mask.any()) and str(options.get('missing')) not in ('drop', 'em')"
)
_MASKED = f"X = np.ma.masked_array(X, X > {{cut}}); {AS_MISSING}"
_OTHER = (
    _MASKED,
    _MASKED,
    f"X = np.ma.masked_array(X, False); X[{{i}}:{{i1}}, {{j}}:{{j1}}] = np.ma.masked; {AS_MISSING}",
    f"X = np.ma.masked_invalid(X); {AS_MISSING}",
    "X = dict(enumerate(X.T.tolist()))",
    "X = (row for row in X.tolist())",
    "X = iter(X)",
    "X = map(list, X)",
    "X = {{'a', 'b'}}",
    "X = None",
    "X = 'data.csv'",
    "X = Path('data.csv')",
    "X = 3.14",
    "X = b'1,2'",
    "X = object()",
    "X = lambda: X",
    "X = type('Broken', (), {{'__array__': None}})()",
    "X = type('Columns', (), {{'columns': 7}})()",
    "X = []",
    "X = [[]]",
    "X = [X.tolist()]",
    "X = X.tolist(); X[{i}:{i1}] = [[1.0]]",
    "X = X.tolist() + ['text']",
    "X = X.astype(np.float32)",
    "X = X.astype(np.float16)",
    "X = np.clip(X, -100, 100).astype(np.int8)",
    "X = np.clip(X, -100, 100).astype(np.int64) * 10**16",
    "X = np.clip(np.abs(X), 0, 100).astype(np.uint64) + np.uint64(2**63)",
    "X = X > 0",
    "X = X.astype(complex)",
    "X = X + 1j",
    "X = X.astype(str)",
    "X = np.array([['a', '1']] * n, dtype=object)",
    "X = X.astype('S5')",
    "X = np.clip(X, -1e6, 1e6).astype('datetime64[s]')",
    "X = np.clip(X, -1e6, 1e6).astype('timedelta64[s]')",
    "X = np.zeros(n, dtype=[('a', float), ('b', float)])",
    "X = np.rec.fromarrays(list(X.T) or [np.zeros(n)])",
    "X = X.ravel()",
    "X = X[None]",
    "X = np.array(X.sum())",
    "X = np.matrix(X)",
    "from scipy import sparse; X = sparse.csr_matrix(X)",
    "from scipy import sparse; X = sparse.csc_array(X)",
    "from scipy import sparse; X = sparse.coo_array(X)",
    "from scipy import sparse; X = sparse.lil_matrix(X)",
    "from scipy import sparse; X = sparse.dok_array(X)",
    "X = X.astype(object); X[{i}:{i1}, {j}:{j1}] = {thing}",
    "X = X.astype(object); X[{i}:{i1}, {j}:{j1}] = {thing}",
    "X = X.astype(object); X[:, {j}:{j1}] = {thing}",
    "import pandas as pd; X = pd.DataFrame(X); X.iloc[{i}:{i1}, {j}:{j1}] = np.nan",
    "import pandas as pd; X = pd.DataFrame(X).astype('Float64').mask(X > {cut})",
    "import pandas as pd; X = pd.DataFrame(X).astype('category')",
    "import pandas as pd; X = pd.DataFrame(X).astype(pd.SparseDtype(float))",
    "import pandas as pd; X = pd.DataFrame(X).astype(str)",
    "import pandas as pd; X = pd.DataFrame(X > 0)",
    "import pandas as pd; X = pd.DataFrame(X).astype(object); X.iloc[{i}:{i1}, {j}:{j1}] = {thing}",
    "import pandas as pd; X = pd.DataFrame(np.clip(X, -1e6, 1e6).astype('datetime64[s]'))",
    "import pandas as pd; X = pd.DataFrame(np.clip(X, -1e6, 1e6).astype('timedelta64[s]'))",
    "import pandas as pd; X = pd.DataFrame(X + 1j)",
    "import pandas as pd; X = pd.DataFrame(X[:, :1])[0] if d else pd.Series(dtype=float)",
    "import pandas as pd; X = pd.DataFrame(X); X.columns = pd.MultiIndex.from_product("
    "[['a'], range(X.shape[1])])",
    "import polars as pl; X = pl.DataFrame(X).lazy()",
    "import polars as pl; X = pl.Series(X[:, 0].tolist()) if d else pl.Series([1.0])",
    "import polars as pl; X = pl.DataFrame({{'a': [1.0, None, 2.0], 'b': [1.0, 2.0, 4.0]}})",
    "import polars as pl; X = pl.DataFrame({{'a': ['x', 'y'], 'b': [1.0, 2.0]}})",
    "import polars as pl; X = pl.DataFrame({{'a': [[1.0], [2.0]], 'b': [1.0, 2.0]}})",
    "import pyarrow as pa; X = pa.table({{f'x{{k}}': c for k, c in enumerate(X.T)}})",
    "import pyarrow as pa; X = pa.table({{'a': [1.0, None], 'b': ['x', 'y']}})",
    "import pyarrow as pa; X = pa.RecordBatch.from_pydict({{'a': [1.0, 2.0, 4.0]}})",
    "import pyarrow as pa; X = pa.chunked_array([[1.0, 2.0]])",
    "import torch; X = torch.tensor(X, requires_grad=True)",
    "import torch; X = torch.tensor(X).to_sparse()",
    "import array_api_strict; X = array_api_strict.asarray(X)",
)
_THINGS = (
    "10**400",
    "-(10**400)",
    "None",
    "'x'",
    "'1.5'",
    "''",
    "1j",
    "True",
    "np.nan",
    "b'1'",
    "object()",
    "__import__('fractions').Fraction(1, 3)",
    "__import__('decimal').Decimal('1e400')",
    "__import__('decimal').Decimal('0.5')",
    "__import__('datetime').datetime(2020, 1, 1)",
)

_LABELS = (
    *map(repr, NAMES),
    "1",
    "0",
    "-1",
    "1.5",
    "None",
    "True",
    "float('nan')",
    "('a', 1)",
    "b'a'",
    "'\\ud800'",
    "10**30",
    "__import__('datetime').date(2020, 1, 1)",
    "frozenset({1})",
)


def size(draw: Draw) -> str:
    """Return the line that says how large the table is: small ones mostly."""
    n = draw.weighted({0: 1, 1: 2, 2: 3, 3: 3, draw.whole(4, 12): 20, draw.whole(13, 60): 40})
    n = draw.whole(60, 200) if draw.chance(0.25) else n
    d = draw.weighted({0: 1, 1: 4, 2: 12, 3: 20, 4: 20, draw.whole(5, 8): 25})
    d = draw.whole(9, 30) if draw.chance(0.03) else d
    return f"n, d = {n}, {d}"


def values(draw: Draw) -> list[str]:
    """Return the lines that make a float array `X`."""
    lines = [f"rng = np.random.default_rng({draw.whole(0, 999)})", size(draw)]
    lines.append(draw.weighted(_NOISE))
    if draw.chance(0.7):
        lines.append(_MIX)
    if draw.chance(0.1):
        lines.append(_BEND)
    if draw.chance(0.5):
        lines.append(_SHUFFLE)
    n_damages = draw.weighted({0: 30, 1: 40, 2: 20, 3: 10})
    return [*lines, *(damage(draw) for _ in range(n_damages))]


def damage(draw: Draw) -> str:
    """Return a line that damages `X`."""
    return _filled(draw, draw.one(_DAMAGES))


def container(draw: Draw) -> list[str]:
    """Return lines that put `X` into a container, or none; `plain` keeps the array."""
    kind = draw.weighted({"array": 40, "same": 20, "frame": 12, "other": 28})
    if kind == "array":
        return []
    if kind == "frame":
        return [_frame(draw)]
    if kind == "other":
        return [_filled(draw, draw.one(_OTHER))]
    keep = ["plain = X"] if draw.chance(0.5) else []
    return [*keep, _filled(draw, draw.one(_SAME))]


def _frame(draw: Draw) -> str:
    """Return the line that makes a data frame with hostile names."""
    labels = ", ".join(draw.one(_LABELS) for _ in range(8))
    if draw.chance(0.2):
        text = ", ".join(map(repr, dict.fromkeys(draw.one(NAMES) for _ in range(12))))
        columns = f"([{text}] + [f'c{{k}}' for k in range(30)])[:X.shape[1]]"
        return f"import polars as pl; X = pl.DataFrame(X, schema={columns})"
    columns = f"([{labels}] + [f'c{{k}}' for k in range(30)])[:X.shape[1]]"
    return (
        f"import pandas as pd; X = pd.DataFrame(X); "
        f"X.columns = pd.Index({columns}, dtype=object, tupleize_cols=False)"
    )


def _filled(draw: Draw, template: str) -> str:
    i, j = draw.whole(0, 5), draw.whole(0, 3)
    return template.format(
        i=i,
        i1=i + 1,
        j=j,
        j1=j + 1,
        cell=draw.one(_CELLS),
        number=draw.one(("0.0", "3.0", "1e-300", "1e300", "0.1")),
        power=draw.one(_POWERS),
        wide=draw.one((2, 5, 20, 90)),
        offset=draw.one((6, 9, 12, 16, 100, 300)),
        cut=draw.one(("1.0", "0.0", "-99.0", "99.0")),
        thing=draw.one(_THINGS),
    )
