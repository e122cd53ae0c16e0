"""What the paper prints, as data, and its tables with our numbers in them.

figures.csv    the paper's own figures, typed in
figures.py     reads them
tables.py      measured and printed figures side by side
"""

from benchmarks.paper.figures import Figure, paper_figures
from benchmarks.paper.tables import group_of, paper_tables

__all__ = ["Figure", "group_of", "paper_figures", "paper_tables"]
