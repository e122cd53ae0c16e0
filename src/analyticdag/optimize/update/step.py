"""Adam's moments and the step that they give: `Update`, or the same by kernels.

A step goes from W to a new array; the old one is left as it is, because a step may be taken back.
"""

from __future__ import annotations

import math

import numpy as np
from array_api_compat import array_namespace, is_numpy_array

from analyticdag._compiled import flat, readable
from analyticdag._typing import Array
from analyticdag.optimize.update.kernels import average, move

_EPSILON = 1e-8  # as published


class Update:
    """The moments, for arrays of any kind.

    Parameters
    ----------
    W : weights, for their size and kind.
    penalty : what the l1 penalty charges for each weight.
    mu_allowed : mu where an edge may be, else 0.
    betas : how much of each moment a step keeps.
    proximal : whether the penalty is a proximal step instead of a subgradient.
    """

    def __init__(
        self,
        W: Array,
        penalty: Array,
        mu_allowed: Array,
        betas: tuple[float, float],
        proximal: bool,
    ) -> None:
        # NumPy itself where it will do: the compatibility layer's sign costs more than a product.
        self.xp = np if is_numpy_array(W) else array_namespace(W)
        self.first, self.second = self.xp.zeros_like(W), self.xp.zeros_like(W)
        self.shrinkage = penalty * mu_allowed if proximal else None
        self.penalty = 0.0 * penalty if proximal else penalty
        self.mu_allowed, self.betas, self.n_steps = mu_allowed, betas, 0

    def advance(self, W: Array, G: Array, pushed: Array, learning_rate: float) -> Array:
        """Return where a step leads from W; G, the gradient of the loss, is overwritten.

        Both bias corrections are folded into two numbers.
        """
        self.n_steps += 1
        beta1, beta2 = self.betas
        correction = math.sqrt(1.0 - beta2**self.n_steps)
        self.unit = correction / (1.0 - beta1**self.n_steps)
        self.floor = _EPSILON * correction
        self._average(W, G, pushed)
        return self.move(W, learning_rate)

    def move(self, W: Array, learning_rate: float) -> Array:
        """Return where the present moments lead from W."""
        length = learning_rate * self.unit
        moved = self._moved(W, length)
        return moved if self.shrinkage is None else self._shrunk(moved, length * self.shrinkage)

    def _average(self, W: Array, G: Array, pushed: Array) -> None:
        """Take mu·(G + penalty·sign W) + pushed, the gradient of the stage, into both moments."""
        beta1, beta2 = self.betas
        G += self.penalty * self.xp.sign(W)
        # h pushes only where W is not zero, so masking the rest of the gradient keeps an edge that
        # is not allowed at exactly zero.
        G *= self.mu_allowed
        G += pushed
        self.first *= beta1
        self.first += (1.0 - beta1) * G
        G *= G
        self.second *= beta2
        self.second += (1.0 - beta2) * G

    def _moved(self, W: Array, length: float) -> Array:
        return W - length * (self.first / self._scale())

    def _shrunk(self, W: Array, shrinkage: Array) -> Array:
        """Return the proximal step in Adam's own metric: each entry has its own step length."""
        xp = self.xp
        left = xp.abs(W) - shrinkage / self._scale()
        return xp.sign(W) * xp.maximum(left, xp.zeros_like(W))

    def _scale(self) -> Array:
        return self.xp.sqrt(self.second) + self.floor


class KernelUpdate(Update):
    """The same in two passes over memory, for NumPy's float64."""

    def _average(self, W: Array, G: Array, pushed: Array) -> None:
        average(
            _vector(G),
            _vector(pushed),
            _vector(W),
            _vector(self.penalty),
            _vector(self.mu_allowed),
            flat(self.first),
            flat(self.second),
            *self.betas,
        )

    def _moved(self, W: Array, length: float) -> Array:
        target = np.empty_like(self.first)
        moments = flat(self.first), flat(self.second)
        move(_vector(W), *moments, length, self.floor, flat(target))
        return target


def update_of(
    W: Array, penalty: Array, mu_allowed: Array, betas: tuple[float, float], proximal: bool
) -> Update:
    """Return the fastest update for arrays like W."""
    if is_numpy_array(W) and W.dtype == np.float64:
        return KernelUpdate(np.ascontiguousarray(W), penalty, mu_allowed, betas, proximal)
    return Update(W, penalty, mu_allowed, betas, proximal)


def _vector(array: Array) -> Array:
    """Return all entries in order, copied where a loss or a caller has them otherwise."""
    return flat(readable(np.asarray(array, dtype=np.float64)))
