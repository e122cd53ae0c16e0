"""Kernels work where nothing can be written, and compile at the first call only."""

from __future__ import annotations

from typing import Any

import numba

from analyticdag import _jit


def twice(x):
    return 2 * x


def test_a_cache_that_cannot_be_written_is_survived(monkeypatch):
    compile_ = numba.njit

    def no_cache_directory(*args: Any, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_(*args, **options)

    monkeypatch.setattr(numba, "njit", no_cache_directory)
    assert _jit.kernel(twice)(3) == 6


def test_kernels_compile_at_the_first_call_and_then_come_from_disk(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    compiled = _jit.kernel(twice)
    assert _jit.needs_compiling(compiled)
    compiled(1)
    assert not _jit.needs_compiling(compiled)
    assert not _jit.needs_compiling(_jit.kernel(twice))  # as in another process
    assert _jit.needs_compiling(numba.njit(twice))  # no cache: compiled in every process
