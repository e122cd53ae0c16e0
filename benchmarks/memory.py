"""How much memory a process has used."""

from __future__ import annotations

import platform
import resource

__all__ = ["peak_rss_mib"]


def peak_rss_mib() -> float:
    """Largest resident memory of this process so far (of a cell alone only when isolated)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak / 2**20 if platform.system() == "Darwin" else peak / 2**10
