"""From a table as people have it to numbers, and from numbers with gaps to sufficient statistics.

    file or frame -> Cells -> look_at -> Look (kinds, decisions, recipe) and values
    values with NaN -> Gaussian.of_rows -> mean, covariance, the rows they are worth

| module          | holds                                                                       |
|-----------------|-----------------------------------------------------------------------------|
| `cells.py`      | `Cells`: names and columns of cells, whatever they came from                |
| `text.py`       | delimited text to cells                                                     |
| `arrow_text.py` | the same by pyarrow, for batches that are plain                             |
| `files.py`      | which format a file has, and who reads it                                   |
| `labelled.py`   | data frames, Stata and SPSS files to cells                                  |
| `numbers.py`    | numbers and dates as people write them                                      |
| `recipe.py`     | `Recipe`: how each column becomes numbers, kept for rows that come later    |
| `kinds.py`      | what a column is                                                            |
| `two_levels.py` | which of two levels in words is the 0                                       |
| `categories.py` | which levels of a category stand for themselves; their scores               |
| `latent.py`     | columns of a few levels as cuts of normal variables                         |
| `codes.py`      | codes for "missing" that a user names                                       |
| `suspects.py`   | numbers that look like such codes                                           |
| `copies.py`     | columns that repeat another one                                             |
| `identities.py` | columns that are the sum, difference or mean of others                      |
| `odd_rows.py`   | rows that are no cases: the header once more, units, a total                |
| `decisions.py`  | what is said about a table                                                  |
| `look.py`       | `Look`: one look at a table, and every decision                             |
| `python.py`     | the kinds of the columns of a data frame, for an estimator                  |
| `gaps.py`       | maximum likelihood from rows with gaps                                      |
| `batches.py`    | files of any size, batch by batch                                           |
| `together.py`   | rows that belong together                                                   |
"""

from __future__ import annotations

from analyticdag.tables.batches import Batches, read_batches
from analyticdag.tables.cells import Cells
from analyticdag.tables.decisions import Decision
from analyticdag.tables.files import read_cells
from analyticdag.tables.gaps import Gaussian, effective_rows, pair_counts
from analyticdag.tables.look import Look, look_at
from analyticdag.tables.recipe import Column, Kind, Recipe

__all__ = [
    "Batches",
    "Cells",
    "Column",
    "Decision",
    "Gaussian",
    "Kind",
    "Look",
    "Recipe",
    "effective_rows",
    "look_at",
    "pair_counts",
    "read_batches",
    "read_cells",
]
