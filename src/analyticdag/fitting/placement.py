"""Which array library, device and precision the path runs on.

NumPy unless asked otherwise: `device="cuda"` (or any Torch device name but "cpu") runs on Torch,
and a Torch or CuPy array given to `fit` keeps the path on its own library and device. Arrays move
twice in a fit, when it starts and when it ends.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_cupy_array, is_torch_array
from array_api_compat import device as device_of

from analyticdag._tables import to_host as to_host
from analyticdag._typing import Array, FloatArray
from analyticdag.errors import MissingDependencyError, ParameterError


@dataclass(frozen=True)
class Placement:
    """An array namespace, a device of it (None for its default) and a precision."""

    xp: Any
    device: Any
    dtype: Any

    def put(self, array: Any) -> Array:
        """Return a NumPy array as an array of this place; a mask stays a mask."""
        array = np.asarray(array)
        dtype = self.xp.bool if array.dtype == bool else self.dtype
        return self.xp.asarray(array, dtype=dtype, device=self.device)


def choose_placement(X: Any, device: str | None, dtype: str | None) -> Placement:
    """Return the place for the path, given the data and the estimator's parameters."""
    if device is None and (is_torch_array(X) or is_cupy_array(X)):
        xp, where = array_namespace(X), device_of(X)
    elif device is None or device == "cpu":
        xp, where = array_namespace(np.empty(0)), None
    else:
        xp, where = torch_on(device)
    return Placement(xp, where, getattr(xp, dtype or "float64"))


def to_float64(array: Array) -> FloatArray:
    """Return any array as a double-precision NumPy array."""
    return np.array(to_host(array), dtype=np.float64)


def torch_on(device: str) -> tuple[Any, Any]:
    """Return Torch in standard form and one of its devices, or say why not."""
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise MissingDependencyError("torch", "nonlinear") from error
    try:
        probe = torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        raise ParameterError(
            f"device={device!r} cannot be used here ({str(error).splitlines()[0]}); "
            "use None or 'cpu'"
        ) from error
    return array_namespace(probe), probe.device
