"""Order search: the best graph over all orders of the variables, by local search on a score.

scores      what is minimised                    tables      memory of a search
regression  one node on a changing set           parents     grow-shrink
store       between tables and workbench         moves       reinsert one node
local       local and iterated local search      runs        one start on its way
engine      all of it                            checks      refusals
"""

from analyticdag.search.engine import Contribution, SearchResult, search_orders, select_parents

__all__ = ["Contribution", "SearchResult", "search_orders", "select_parents"]
