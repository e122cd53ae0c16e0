"""Order search: the best graph over all orders of the variables, by local search on a score.

| module          | holds                                                                          |
|-----------------|--------------------------------------------------------------------------------|
| `engine.py`     | all of it: starts, local search from each, iteration of the best, weights      |
| `checks.py`     | refusals                                                                       |
| `scores.py`     | what is minimised                                                              |
| `setting.py`    | the task in the form kernels want it, and the memory of one search             |
| `layers.py`     | the order under equal variances                                                |
| `hubs.py`       | parents of nodes with hundreds of them                                         |
| `runs.py`       | one start on its way, several of them on threads                               |
| `weights.py`    | from parents to weights; whether many of them are faint                        |
| `kernels.py`    | what Python calls of the four below; one extension module where compiled       |
| `records.py`    | records, one for each role: data, rules, state, plan, undo, queue, workplace   |
| `regression.py` | one node on a changing set of parents; parents by growing and shrinking        |
| `moves.py`      | one node put elsewhere in the order                                            |
| `local.py`      | moves until none pays; disturbances                                            |

Glossary. S is the covariance of d variables in n rows, P the parents of a node j:

| word         | meaning                                                                           |
|--------------|-----------------------------------------------------------------------------------|
| link[i]      | cov(i, j given P); of j itself: its residual variance r                           |
| spread[i]    | var(i given P); link[i]²/spread[i] is what i would explain as a further parent    |
| sharp[a]     | 1/var(a given the other parents): the diagonal of S[P, P]⁻¹; weight[a]²/sharp[a]  |
|              | is what leaving parent a out costs                                                |
| factor       | L of S[P, P] = L Lᵀ                                                               |
| penalty      | price of an edge in the score: log n + 4 γ log d                                  |
| value        | score of a node: n log r + penalty |P|; equal variances: n r/noise + penalty |P|  |
| price        | share of r that pays for an edge: 1 - exp(-penalty/n); equal variances:           |
|              | penalty/n, of the noise                                                           |
| hurdle       | what a parent must explain: price times r (equal variances: times the noise)      |
| tie[i, j]    | i is a parent of j; or wanted: link²/spread of i is above the hurdle of j         |
| faint        | explains too little to be told from an accident, see `patience`                   |
| patience     | how many faint parents a regression may take before it is given up                |
| layer        | nodes whose residual variance, given the layers before, is at the noise level     |
| hub          | a node with more parents than a fifth of the rows                                 |
| suspect      | a node whose residual variance is above the noise, or a child of one              |
| disturbance  | a few forced moves, kept if the descent after them ends lower                     |
"""

from analyticdag._compiled import compiled_first

__path__ = compiled_first(__path__)

# Only now: the kernels are found by way of the path.
from analyticdag.search.engine import Contribution, SearchResult, search_orders, select_parents

__all__ = ["Contribution", "SearchResult", "search_orders", "select_parents"]
