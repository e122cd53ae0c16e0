"""Benchmarks that can be repeated: a plan in, records out, tables from records only.

    plan.py      TOML -> cells (setting x method x repeat), each with a key and a seed of its own
    tasks.py     what a cell does: the registry of tasks
    learn.py     the task "learn": data with a known graph, a method, how far it is from the truth
    constraint_cost.py, gaps.py, gradient_norms.py, many_rows.py, nonlinear_variance.py,
    variance_choice.py  the other tasks
    methods.py   what a "learn" cell may call: ours and the peers
    parts.py     the engine's parts alone; nonlinear.py: networks, ours and dagma's
    optional.py  libraries that only some cells need; memory.py: what a cell took
    cell.py      one cell -> one record, in this process
    isolate.py   one cell -> one record, in a process of its own with time and memory limits
    cluster.py   the same on the workers of a Dask cluster
    records.py   the JSON-lines file: append with fsync, read back after a crash, packed to keep
    select.py    a part of a plan
    run.py       the cells that have no record yet, in parallel; timing.py: how long it will take
    summary.py   records -> mean ± std            render.py    -> markdown tables
    growth.py    time and memory against size     paired.py    is one method better? a test
    paper/       the paper's figures and tables   figures.py   -> SVG and PNG
    findings.py  what a reader in a hurry takes away; findings_figure.py: its charts
    report.py    the pages of the documentation, filled from the records that are kept
    cli.py       the commands: python -m benchmarks run | render | pack | report | plans

A record says everything about its cell, so that a table needs nothing but records. A finished
cell is never run again, and a failed one is a record too.

A plan may name any function to call: a plan from a stranger is a program from a stranger.

Nothing is imported here: ``__main__.py`` has to set the search path before the first import.
"""
