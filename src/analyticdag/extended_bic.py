"""The extended BIC: an edge costs log n + 4 γ log d, for n rows and d nodes.

Beside the log n of a coefficient, an edge pays for its choice: the more nodes there are, the better
the best of them does by accident. γ says how much (Foygel and Drton 2010).
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["MODERATE", "edge_price", "gamma_of"]

# γ where nothing else is asked: the choice then costs 2 log d, the description length of one of d
# nodes. It is the usual γ of graphs whose number of nodes grows with the rows.
MODERATE = 0.5


def edge_price(n_samples: int, n_nodes: int, gamma: float) -> float:
    """Price of one edge: log n + 4 gamma log d."""
    return float(np.log(n_samples) + 4.0 * gamma * np.log(n_nodes))


def gamma_of(price: float, n_samples: int, n_nodes: int) -> float:
    """The gamma of a price; with one node it makes no difference."""
    return round((price - math.log(n_samples)) / (4.0 * math.log(max(n_nodes, 2))), 6)
