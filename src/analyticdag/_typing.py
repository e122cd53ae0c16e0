"""Names for the arrays that pass between modules."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
# 0 and 1 in as little memory as a truth value, for graphs that are given out.
BinaryArray: TypeAlias = NDArray[np.int8]

# An array of any library that follows the Python array API standard. The standard
# publishes no static type for it, and the libraries' own types share no base.
Array: TypeAlias = Any
