"""Effects and adjustment sets beside DoWhy's and pgmpy's: what `tests/effects/peers.py` compares.

    python docs/figures/effects_against_peers.py     prints one line for each of the two

Needs an environment with dowhy and pgmpy, whose pins clash with ours; numbers are in
docs/what-happens-if.md.
"""

from __future__ import annotations

import logging
import sys
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "effects"))
from peers import CASES, disagreements_with_dowhy, disagreements_with_pgmpy

if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    n_pairs = sum(len(case.pairs) for case in CASES)
    for name, compare in (("pgmpy", disagreements_with_pgmpy), ("dowhy", disagreements_with_dowhy)):
        found = [text for case in CASES for text in compare(case)]
        sys.stdout.write(f"{name} {version(name)}: {len(found)} disagreements on {n_pairs} pairs\n")
        sys.stdout.writelines(f"  {text}\n" for text in found)
        sys.stdout.flush()
