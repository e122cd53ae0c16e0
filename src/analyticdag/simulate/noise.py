"""The noise terms of the structural equations, by name.

The scale is the *scale parameter* of each law, as in the simulators of NOTEARS and DAGMA,
not its standard deviation, and nothing is centred:

============  =================  ============  ==================
name          law at scale s     mean          variance
============  =================  ============  ==================
gaussian      N(0, s²)           0             s²
exponential   mean s             s             s²
gumbel        Gumbel(0, s)       0.5772·s      s²·π²/6 = 1.645·s²
uniform       U(-s, s)           0             s²/3
laplace       Laplace(0, s)      0             2·s²
student       s·t, 5 degrees     0             s²·5/3 (kurtosis 9)
mixed         see below          –             –
binary        see below          –             –
============  =================  ============  ==================

``binary`` gives 0/1 data: x = 1 with probability sigmoid(Σ w·parents). It is drawn as
1[Σ w·parents + L > 0] with L standard logistic, the same law, so its scale is always 1.

``mixed`` is Gaussian in every other node, and in the rest one of the five other laws after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analyticdag._parameters import shown
from analyticdag._typing import FloatArray
from analyticdag.errors import ParameterError

NoiseName: TypeAlias = Literal[
    "gaussian", "exponential", "gumbel", "uniform", "laplace", "student", "mixed", "binary"
]
NoiseScale: TypeAlias = float | tuple[float, float] | Sequence[float] | FloatArray

_STANDARD: dict[str, Callable[[np.random.Generator, tuple[int, int]], FloatArray]] = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "exponential": lambda rng, shape: rng.standard_exponential(shape),
    "gumbel": lambda rng, shape: rng.gumbel(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-1.0, 1.0, size=shape),
    "laplace": lambda rng, shape: rng.laplace(size=shape),
    "student": lambda rng, shape: rng.standard_t(5, size=shape),
    "mixed": lambda rng, shape: _mixed(rng.random(shape)),
    "binary": lambda rng, shape: rng.logistic(size=shape),
}


def _mixed(shares: FloatArray) -> FloatArray:
    """Return the quantiles of the laws of the nodes at these shares, by columns."""
    laws = (stats.expon, stats.gumbel_r, stats.uniform(-1.0, 2.0), stats.laplace, stats.t(5))
    table = np.empty_like(shares)
    for j, column in enumerate(shares.T):
        law = stats.norm if j % 2 == 0 else laws[j // 2 % len(laws)]
        table[:, j] = law.ppf(column)
    return table


def draw_noise(
    noise: str, scales: FloatArray, n_samples: int, rng: np.random.Generator
) -> FloatArray:
    """Draw an (n_samples, d) table; more rows with the same generator only add rows."""
    return _STANDARD[noise](rng, (n_samples, len(scales))) * scales


def node_scales(scale: NoiseScale, n_nodes: int, rng: np.random.Generator) -> FloatArray:
    """Return one scale per node: a number for all, a tuple (low, high) to draw from, or a list."""
    if isinstance(scale, tuple):
        low, high = _check_range(scale)
        return rng.uniform(low, high, size=n_nodes)
    scales = _numbers(scale)
    if scales.ndim == 0:
        scales = np.full(n_nodes, float(scales))
    if scales.shape != (n_nodes,):
        raise ParameterError(
            f"noise_scale needs one number per node ({n_nodes}); got shape {scales.shape}"
        )
    if not (np.isfinite(scales) & (scales > 0)).all():
        raise ParameterError(f"noise_scale must be positive and finite; got {shown(scale)}")
    return scales


def _check_range(scale: tuple[float, ...]) -> tuple[float, float]:
    bounds = _numbers(scale)
    if bounds.shape != (2,) or not (0 < bounds[0] <= bounds[1] < np.inf):
        raise ParameterError(
            f"a tuple as noise_scale is (low, high) with 0 < low <= high; got {shown(scale)} "
            "(for one scale per node pass a list or an array)"
        )
    return float(bounds[0]), float(bounds[1])


def _numbers(scale: ArrayLike) -> FloatArray:
    try:
        return np.array(scale, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(f"noise_scale must hold numbers; got {shown(scale)}") from error
