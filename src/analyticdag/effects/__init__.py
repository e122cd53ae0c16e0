"""What happens to Y if X is changed: effects, over all graphs that the data leave possible.

- ``total``: `total_effect`, one cause and one outcome, and the paths that carry an effect;
- ``by_level``: the same of and on a category, level by level;
- ``summary``: intervals, what settles an effect, which columns a regression should adjust for;
- ``effect``: what it returns, and the same in plain lines;
- ``arrows``: which unsure arrows it rests on, and which identities are in its way;
- ``joint``: `joint_effect`, several causes at once;
- ``table``: `effects`, all pairs or everything that moves one outcome;
- ``what_if``: `sample` and `intervene`, rows and distributions when columns are set;
- ``what_if_levels``: what these are made of, column by column;
- ``words``: how values are said: numbers, or the words of levels;
- ``check``: `check_graph` and `fit_graph`, for a graph from anywhere;
- ``hidden``: pairs that look as if they had a common cause that was not measured;
- ``known``: what these are computed from: a class of graphs and the moments of the data;
- ``equations``: the equations of one DAG, total effects and their standard errors;
- ``levels``: the equations of a table with categories, between the columns of all levels;
- ``counted``: those of a graph by counts, in which causes may act together;
- ``families``: the counts behind them, and the shares of all levels when some are set.
"""

from __future__ import annotations

from analyticdag.effects.check import GraphCheck, Independence, check_graph, fit_graph
from analyticdag.effects.effect import Arrow, Effect
from analyticdag.effects.joint import JointEffect, joint_effect
from analyticdag.effects.known import Known
from analyticdag.effects.table import EffectRow, effects
from analyticdag.effects.total import total_effect
from analyticdag.effects.what_if import Outcome, intervene, sample

__all__ = [
    "Arrow",
    "Effect",
    "EffectRow",
    "GraphCheck",
    "Independence",
    "JointEffect",
    "Known",
    "Outcome",
    "check_graph",
    "effects",
    "fit_graph",
    "intervene",
    "joint_effect",
    "sample",
    "total_effect",
]
