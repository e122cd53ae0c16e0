"""``python -m benchmarks``: run plans, render tables, keep records, write pages."""

import sys
from pathlib import Path

if not sys.flags.safe_path:
    # "python -m" searches the current folder first: a file there that is called like a library
    # would run in its place. Only this package may come from there.
    sys.path[0:1] = []
    sys.path.append(str(Path(__file__).resolve().parent.parent))

from benchmarks.cli import main

main()
