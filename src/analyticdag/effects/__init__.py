"""What happens to Y if X is changed: effects, over all graphs that the data leave possible.

- ``total``: `total_effect`, one cause and one outcome;
- ``table``: `effects`, all pairs or everything that moves one outcome;
- ``known``: what these are computed from: a class of graphs and the moments of the data;
- ``equations``: the equations of one DAG, total effects and their standard errors;
- ``adjustment``: which columns a regression should adjust for.
"""

from __future__ import annotations

from analyticdag.effects.known import Known
from analyticdag.effects.table import EffectRow, effects
from analyticdag.effects.total import Effect, total_effect

__all__ = ["Effect", "EffectRow", "Known", "effects", "total_effect"]
