"""Order search: the best graph over all orders of the variables, by local search on a score.

| module       | holds                                                                             |
|--------------|-----------------------------------------------------------------------------------|
| `engine.py`  | all of it: starts, local search from each, iteration of the best, weights         |
| `setting.py` | the task: scores, prices, knowledge, refusals                                     |
| `blocks.py`  | the task where nodes are blocks of columns, and the search for it                 |
| `counts.py`  | the task where the levels of all nodes are counted, and the search for it         |
| `price.py`   | what an edge has to be worth, judged by the data                                  |
| `starts.py`  | orders to start from; the one in layers, under equal variances                    |
| `graph.py`   | a graph under search; its score, suspects and weights; the best parts of several  |
| `hubs.py`    | parents of nodes with hundreds of them                                            |
| `gaps.py`    | what the best graph would cost without an edge, or without its direction          |
| `kernels.py` | what Python calls of `steps/`; one extension module where compiled                |
| `steps/`     | regressions, moves, descents, detours: all that is done millions of times         |

Glossary. S is the covariance of d variables in n rows, P the parents of a node j:

| word         | meaning                                                                           |
|--------------|-----------------------------------------------------------------------------------|
| link[i]      | cov(i, j given P); of j itself: its residual variance r                           |
| spread[i]    | var(i given P); link[i]²/spread[i] is what i would explain as a further parent    |
| sharp[a]     | 1/var(a given the other parents): the diagonal of S[P, P]⁻¹; weight[a]²/sharp[a]  |
|              | is what leaving parent a out costs                                                |
| factor       | L of S[P, P] = L Lᵀ                                                               |
| price        | what an edge costs in the score, cautious or fair (`price.py`); the extended      |
|              | BIC's is log n + 4 γ log d                                                        |
| value        | score of a node: n log r + price |P|; equal variances: n r/noise + price |P|      |
| share        | of r, that pays for an edge: 1 - exp(-price/n); equal variances: price/n, of the  |
|              | noise                                                                             |
| hurdle       | what a parent must explain: share times r (equal variances: times the noise)      |
| tie[i, j]    | i is a parent of j; or wanted: link²/spread of i is above the hurdle of j         |
| faint        | too little to be told from an accident: n link²/spread < 14 r while r is above    |
|              | 1.6 times the noise                                                               |
| patience     | how many faint parents a regression may take before it is given up                |
| layer        | nodes whose residual variance, given the layers before, is at most 1.12 times the |
|              | noise                                                                             |
| hub          | a node with more parents than a fifth of the rows                                 |
| cap          | largest number of parents: rows minus two, or `max_parents`                       |
| floor[i]     | 1e-10 var(i): a variable with less spread is a linear combination of the parents  |
| suspect      | a node whose residual variance is above 1.15 times the noise, or a child of one   |
| disturbance  | a few forced moves, kept if the descent after them ends lower                     |
| corner       | a node of a triangle: a child, or one of two of its parents that are joined       |
| mover        | the regression of the node that moves; `passed`: of the one that it passes        |
"""

from analyticdag._compiled import compiled_first

__path__ = compiled_first(__path__)

# Only now: the kernels are found by way of the path.
from analyticdag.search.blocks import BlockResult, search_blocks
from analyticdag.search.counts import LevelCounts, search_counts
from analyticdag.search.engine import (
    Contribution,
    Interrupted,
    SearchResult,
    search_orders,
    select_parents,
)
from analyticdag.search.price import block_prices, effect_price
from analyticdag.search.setting import default_gamma, graph_score

__all__ = [
    "BlockResult",
    "Contribution",
    "Interrupted",
    "LevelCounts",
    "SearchResult",
    "block_prices",
    "default_gamma",
    "effect_price",
    "graph_score",
    "search_blocks",
    "search_counts",
    "search_orders",
    "select_parents",
]
