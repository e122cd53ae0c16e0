"""Tables in, saved runs and graph files out.

| module          | holds                                                                       |
|-----------------|-----------------------------------------------------------------------------|
| `tables.py`     | CSV, TSV and Parquet to an array and names; refusals name column and row    |
| `large.py`      | tables too large for memory, added up in one pass                           |
| `knowledge.py`  | background knowledge from TOML, JSON and Tetrad's format                    |
| `audit.py`      | what the columns are like, before anyone believes a graph of them           |
| `run.py`        | `SavedRun`: a fit as plain data, all that a report needs                    |
| `state.py`      | what a model needs beside its graph, graphs of other prices, and the        |
|                 | estimator made of a saved run                                               |
| `manifest.py`   | where a run came from: data hash, versions, threads, the command            |
| `model.py`      | what `model.json` holds: the schema, and facts that have to agree           |
| `folder.py`     | one folder per run, written atomically, checked when it is read             |
| `outputs.py`    | what a command will write, reserved before it works                         |
| `formats.py`    | GraphML, DOT, DAGitty, CSV as text                                          |
| `convert.py`    | networkx, DoWhy, pgmpy and causal-learn objects; graphs read from files     |

Column names come from strangers: every writer here treats them as data.
"""

from __future__ import annotations

from analyticdag._files import write_text
from analyticdag.graphs import from_matrix
from analyticdag.io.audit import Audit, ColumnAudit, audit_table
from analyticdag.io.convert import to_causallearn, to_dowhy, to_networkx, to_pgmpy
from analyticdag.io.folder import free_folder, load_run, refuse_used_folder, save_run
from analyticdag.io.formats import dagitty, dot, edges_csv, graphml
from analyticdag.io.knowledge import parse_tetrad, read_knowledge
from analyticdag.io.manifest import hash_array, manifest_of
from analyticdag.io.run import EdgeRecord, SavedRun, record_of, run_of_weights
from analyticdag.io.tables import Table, read_table, write_table

__all__ = [
    "Audit",
    "ColumnAudit",
    "EdgeRecord",
    "SavedRun",
    "Table",
    "audit_table",
    "dagitty",
    "dot",
    "edges_csv",
    "free_folder",
    "from_matrix",
    "graphml",
    "hash_array",
    "load_run",
    "manifest_of",
    "parse_tetrad",
    "read_knowledge",
    "read_table",
    "record_of",
    "refuse_used_folder",
    "run_of_weights",
    "save_run",
    "to_causallearn",
    "to_dowhy",
    "to_networkx",
    "to_pgmpy",
    "write_table",
    "write_text",
]
