"""What the caller's things look like, before and after: data and files."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np


def of_value(value: Any) -> str:
    """Return a digest of a table, whatever holds it; iterators are used up by being read."""
    kind = type(value).__module__.split(".")[0]
    if isinstance(value, np.ma.MaskedArray):
        return _array(value.data) + _array(np.ma.getmaskarray(value))
    if isinstance(value, np.ndarray):
        return _array(value)
    if kind == "pandas":
        labels = f"{getattr(value, 'columns', None)!r}{value.index!r}"
        return labels + _array(value.to_numpy(dtype=object))
    if kind == "polars":  # a lazy frame is a plan; its text says all
        return repr(value) if hasattr(value, "collect") else repr(value.to_numpy().tolist())
    if kind == "pyarrow":
        return repr(value.to_pylist())
    if kind == "scipy":
        coo = value.tocoo()
        return _array(coo.data) + str(coo.shape)
    if kind == "torch":
        return _array(value.detach().to_dense().numpy())
    return repr(value)


def _array(array: Any) -> str:
    flags = f"{array.dtype}{array.shape}{array.strides}{array.flags.writeable}"
    content = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
    return flags + hashlib.sha256(content).hexdigest()


def of_folder(folder: Path) -> dict[str, str]:
    """Return what every file below a folder holds, links and folders named as such."""
    return {str(path.relative_to(folder)): _file(path) for path in sorted(folder.rglob("*"))}


def _file(path: Path) -> str:
    if path.is_symlink():
        return f"link to {path.readlink()}"
    if path.is_dir():
        return "folder"
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "special"
