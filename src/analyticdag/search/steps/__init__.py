"""Steps of the search, compiled into one module by way of `search/kernels.py`.

| module          | holds                                                                         |
|-----------------|-------------------------------------------------------------------------------|
| `given.py`      | what is given: data, rules; how arrays are read                               |
| `records.py`    | what one search works on: regression, state, plan, undo, queue                |
| `regression.py` | one node on a changing set of parents; parents by growing and shrinking       |
| `blocks.py`     | the arithmetic of that where nodes are blocks of columns                      |
| `counts.py`     | the scores where the levels of all nodes are counted                          |
| `by_score.py`   | who comes and who goes, by the score: blocks and counts                       |
| `moves.py`      | one node put elsewhere in the order                                           |
| `local.py`      | moves until none pays; disturbances                                           |
| `detours.py`    | what the best graph would cost without an edge                                |
"""
