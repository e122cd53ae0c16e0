"""Steps of the search, compiled into one module by way of `search/kernels.py`.

| module          | holds                                                                         |
|-----------------|-------------------------------------------------------------------------------|
| `records.py`    | records, one for each role: data, rules, state, plan, undo, queue, workplace  |
| `regression.py` | one node on a changing set of parents; parents by growing and shrinking       |
| `blocks.py`     | the arithmetic of that where nodes are blocks of columns                      |
| `moves.py`      | one node put elsewhere in the order                                           |
| `local.py`      | moves until none pays; disturbances                                           |
| `detours.py`    | what the best graph would cost without an edge                                |
"""
