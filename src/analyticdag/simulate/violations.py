"""What measured data do and the model does not, by one option each.

| option    | what it does                                                                       |
|-----------|------------------------------------------------------------------------------------|
| `hidden`  | so many unseen causes, each of three columns, whose noise they add to              |
| `regimes` | rows pooled from so many regimes; in each, the noise of a fifth of the columns is  |
|           | shifted by up to one scale, and stretched or shrunk by a factor of up to two       |
| `levels`  | columns are recorded as so many codes 0, 1, …, of equal width over ±2 deviations   |

Heavy tails are a noise ("student"), slight bends a mechanism ("bent").
"""

from __future__ import annotations

import numpy as np

from analyticdag._typing import FloatArray
from analyticdag.simulate.mechanisms import signed_uniform

_CHILDREN = 3  # of a hidden cause
_ONE_IN = 5  # columns whose noise differs between two regimes
_WIDTH = 2.0  # standard deviations on each side that codes cover


def add_hidden_causes(
    noise: FloatArray, scales: FloatArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """Add unseen causes to the (n, d) noise of their children, each with 0.5 to 1 scales."""
    n, d = noise.shape
    effects = np.zeros((count, d))
    for effect in effects:
        children = rng.choice(d, size=min(_CHILDREN, d), replace=False)
        effect[children] = signed_uniform(0.5, 1.0, len(children), rng) * scales[children]
    return noise + rng.standard_normal((n, count)) @ effects


def pool_regimes(
    noise: FloatArray, scales: FloatArray, count: int, rng: np.random.Generator
) -> FloatArray:
    """Shift and stretch the (n, d) noise of some columns, by the regime a row is drawn from."""
    n, d = noise.shape
    shift, stretch = np.zeros((count, d)), np.ones((count, d))
    for regime in range(count):
        changed = rng.choice(d, size=max(d // _ONE_IN, 1), replace=False)
        shift[regime, changed] = rng.uniform(-1.0, 1.0, len(changed)) * scales[changed]
        stretch[regime, changed] = 2.0 ** rng.uniform(-1.0, 1.0, len(changed))
    regime_of_row = rng.integers(count, size=n)
    return noise * stretch[regime_of_row] + shift[regime_of_row]


def to_codes(X: FloatArray, levels: int) -> FloatArray:
    """Record every column as one of a few codes; the outer ones take the tails."""
    sd = X.std(axis=0)
    z = (X - X.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    return np.clip(np.floor((z + _WIDTH) * (levels / (2.0 * _WIDTH))), 0, levels - 1)
