"""A campaign of hostile input against the promises in docs/reliability.md.

    python -m fuzz run --budget 0.05        or: make fuzz
    python -m fuzz case tables 17           one case, as a program, and what comes of it

A case is a short Python program that is drawn from (seed, family, number) and nothing else. Its
lines are independent of each other, so a violation is shrunk by leaving lines out, and the program
that is left is the reproduction.

| module         | holds                                                                     |
|----------------|---------------------------------------------------------------------------|
| `case.py`      | `Case`, its lines and how they are run                                    |
| `families.py`  | the four families, how many cases of each, and their limits of time       |
| `tables.py`    | tables: values, damages, containers, names                                |
| `options.py`   | parameters of estimators and resamples, good and bad; knowledge           |
| `files.py`     | files and command lines; `graph_files.py`, `knowledge_files.py`,          |
|                | `plan_files.py`, `words.py` (options, places) and `fields.py` (odd names  |
|                | and cells) hold what it draws from                                        |
| `damage.py`    | how the bytes of a file are damaged                                       |
| `tamper.py`    | changed saved runs and checkpoints                                        |
| `changes.py`   | how they are changed                                                      |
| `kills.py`     | commands that are killed, and repeated                                    |
| `material.py`  | the saved runs and checkpoints that are tampered with                     |
| `promises.py`  | what must hold of a fit, of a saved run and of an error                   |
| `calls.py`     | what each family runs, and which promises it checks                       |
| `command.py`   | one command, inside this process or as another                            |
| `snapshot.py`  | data and files, before and after                                          |
| `pool.py`      | child processes that are reused, with a limit of time for each case       |
| `shrink.py`    | the smallest program with the same violation                              |
| `campaign.py`  | which cases are left, the log, the counts                                 |
| `page.py`      | the counts in docs/reliability.md                                         |
"""
