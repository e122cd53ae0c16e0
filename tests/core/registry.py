"""Every function the laws are checked on. A new constraint is tested by being added here."""

from __future__ import annotations

import array_api_strict
import numpy as np
import torch

from analyticdag.functions import Exponential, Inverse, Logarithm, named

FUNCTIONS = {
    "exponential": Exponential(),
    "exponential, s = 0.5": Exponential(0.5),
    "order-1": Logarithm(),
    "order-1, s = 0.7": Logarithm(0.7),
    "order-2": Inverse(),
    "order-3, s = 0.8": Inverse(0.8) ** 2,
    "order-4": named("order-4"),
    "order-7": named("order-7"),
    "a multiple": 3.0 * Inverse(0.9),
    "a sum": Inverse() ** 2 + Exponential(),
    "two scales": Logarithm(0.6) + Inverse(1.5),
    "a product": Inverse() * Exponential(2.0),
    "log times inverse": Logarithm() * Inverse(),
    "log times exponential": Logarithm(0.8) * Exponential(),
    "a square with logs": (Logarithm() + Inverse()) ** 2,
    "a second derivative": (Inverse() * Exponential()).derivative(2),
}

# Smallest radius of the registry; matrices are scaled below it.
RADIUS = min(f.radius for f in FUNCTIONS.values())

KINDS = {
    "numpy": np.asarray,
    "torch": torch.asarray,
    "array-api-strict": array_api_strict.asarray,
}


def to_numpy(array: object) -> np.ndarray:
    """Any of the kinds as NumPy."""
    return np.asarray(np.from_dlpack(array)) if not isinstance(array, np.ndarray) else array
