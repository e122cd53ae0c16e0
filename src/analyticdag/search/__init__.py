"""Order search: the best graph over all orders of the variables, by local search on a score.

scores      what is minimised                    tables      memory of the kernels
regression  one node on a changing set           parents     grow-shrink
store       between tables and workbench         moves       reinsert one node
local       local and iterated local search      layers      the order under equal variances
hubs        parents of nodes with hundreds       setting     a task, and the memory around it
runs        one start on its way                 engine      all of it
checks      refusals
"""

from analyticdag.search.engine import Contribution, SearchResult, search_orders, select_parents

__all__ = ["Contribution", "SearchResult", "search_orders", "select_parents"]
