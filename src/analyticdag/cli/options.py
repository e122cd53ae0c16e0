"""Options that several commands take, each written once, with what a shell offers to complete."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer


def _option(panel: str, meaning: str, default: str | bool, *flags: str, words: str = "") -> Any:
    """Return an option as --help lists it in a panel; a shell completes by one of the `words`."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words.split() if word.startswith(incomplete)]

    return typer.Option(
        *flags,
        help=meaning,
        show_default=default,
        rich_help_panel=panel,
        autocompletion=complete if words else None,
    )


_table = partial(_option, "The table")
_method = partial(_option, "The method (begin with the defaults)")
_results = partial(_option, "The results")

TableFile = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV, Excel, Parquet, Feather, Stata, SPSS or JSON lines; - for standard input."
    ),
]
Columns = Annotated[
    list[str] | None, _table("Take this column and no others; repeatable.", "all others")
]
Drop = Annotated[
    list[str] | None, _table("Leave a column out; repeatable.", "what is no measurement")
]
Kinds = Annotated[
    list[str] | None,
    _table(
        "What a column is: NAME=number, count, log, yes/no, ordered, category, days, or its "
        "levels from low to high (NAME=low,middle,high); repeatable.",
        "as its values look",
        "--kind",
    ),
]
Log = Annotated[
    list[str] | None, _table("Take logarithms of this column; repeatable.", "none", "--log")
]
Na = Annotated[
    list[str] | None,
    _table(
        "Values that mean missing: -999,99 in every column, NAME=-999 in one; repeatable.",
        "those that stand far from all others",
        "--na",
    ),
]
Missing = Annotated[
    str | None,
    _table(
        "Gaps: em (maximum likelihood), drop (leave rows out) or error.",
        "em; nonlinear: error",
        words="em drop error",
    ),
]
MissingInCheck = Annotated[
    str,
    _table(
        "Gaps: em (maximum likelihood), drop (leave rows out) or error.",
        "em",
        "--missing",
        words="em drop error",
    ),
]
Groups = Annotated[
    str | None,
    _table(
        "Column that says which rows belong together, or how many rows in a row do; they are "
        "resampled together.",
        "every row by itself",
    ),
]
Interventions = Annotated[
    str | None, _table("Column that names what was perturbed in each row.", "no such column")
]

Model = Annotated[
    str,
    _method(
        "linear; nonlinear (needs Torch); or auto: by the diagnostics of a linear fit.",
        True,
        words="linear nonlinear auto",
    ),
]
Loss = Annotated[
    str | None,
    _method(
        "mse, likelihood-ev, likelihood-nv, logistic or auto.",
        "auto",
        words="auto mse likelihood-ev likelihood-nv logistic",
    ),
]
Constraint = Annotated[
    str | None,
    _method(
        "exponential, order-1, order-2, … (see: constraints).",
        "order-2; nonlinear: order-1",
        words="exponential order-1 order-2 order-3 order-4",
    ),
]
Lambda1 = Annotated[
    str | None,
    _method(
        "Sparsity, more gives fewer edges; auto, cv or stars.",
        "0.05; logistic or nonlinear: 0.01",
        words="auto cv stars",
    ),
]
WThreshold = Annotated[
    str | None, _method("Weights below go; or auto.", "0.3; nonlinear: 0.1", words="auto")
]
Solver = Annotated[
    str | None, _method("auto, fast, adam or order.", "auto", words="auto fast adam order")
]
Gamma = Annotated[
    str | None,
    _method(
        "Price of an edge in the search, more gives fewer edges; or auto.", "auto", words="auto"
    ),
]
MinEffect = Annotated[
    str | None,
    _method(
        "No edge has a smaller |partial correlation|; a number, or auto.", "auto", words="auto"
    ),
]
Effort = Annotated[float | None, _method("Factor on how long the search goes on.", "1")]
Start = Annotated[
    str | None,
    _method(
        "Where the path begins: zero or variance.", "as the solver has it", words="zero variance"
    ),
]
Refine = Annotated[
    bool | None, _method("Search over orders afterwards.", "refine", "--refine/--no-refine")
]
KnowledgeFile = Annotated[
    Path | None,
    typer.Option(
        help="Required and forbidden edges: TOML or Tetrad's format.", show_default="nothing"
    ),
]
Candidates = Annotated[
    str | None,
    _method(
        "Only plausible edges: correlation, markov or pc.",
        "all pairs",
        words="correlation markov pc",
    ),
]
Standardize = Annotated[
    bool | None, _method("Scale every column to variance one.", "off", "--standardize")
]
MaxSteps = Annotated[
    int | None, _method("Steps or sweeps in a stage, at most.", "as the solver has it")
]
Covariance = Annotated[
    str | None,
    _method(
        "sample; rank: for columns that bend or have wild cells; auto: by the rows.",
        "auto",
        words="auto sample rank",
    ),
]
Jobs = Annotated[
    int | None,
    _method(
        "Threads of a fit, processes of resamples.",
        "threads: as many as BLAS may use; processes: 1",
    ),
]
Seed = Annotated[int | None, _method("For whatever is random.", "a fixed one")]

Out = Annotated[Path | None, _results("Folder for the results.", "FILE-analyticdag, beside FILE")]
ReportFile = Annotated[
    Path | None, _results("HTML file for the report.", "report.html in that folder")
]
Member = Annotated[
    bool, _results("Export one DAG of the class, marked as such.", "off", "--member")
]
Checkpoint = Annotated[
    Path | None,
    _results(
        "File that keeps stages and resamples, to go on after a kill.",
        "fit: one beside the results; stability: none",
    ),
]
Refit = Annotated[
    bool, _results("Fit again standardised, to see what units do.", True, "--refit/--no-refit")
]
Rows = Annotated[
    bool,
    _results("Keep up to 150 rows in the results, for scatter plots.", True, "--rows/--no-rows"),
]
Quiet = Annotated[bool, _results("Say nothing.", "off", "--quiet", "-q")]
Verbose = Annotated[
    bool,
    _results("Report every stage, search and warning, as lines.", "off", "--verbose", "-v"),
]
AsJson = Annotated[bool, _results("Result as JSON, even if quiet.", "off", "--json")]
Force = Annotated[bool, _results("Overwrite results that are there.", "off", "--force")]

# Options that are parameters of an estimator, by their name there; these may be numbers or words.
_PARAMETERS = {"seed": "random_state", "jobs": "n_jobs"} | {
    name: name
    for name in (
        *("loss", "constraint", "lambda1", "w_threshold", "solver", "gamma", "start", "refine"),
        *("min_effect", "effort"),
        *("candidates", "standardize", "covariance"),
    )
}
_NUMBERS = ("lambda1", "w_threshold", "gamma", "min_effect")


def estimator_parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the estimator among the options that were given."""
    return {
        _PARAMETERS[name]: _number_or_word(value) if name in _NUMBERS else value
        for name, value in options.items()
        if name in _PARAMETERS and value is not None
    }


def _number_or_word(text: str) -> float | str:
    """Return a number where there is one; which words are known, the estimator says."""
    try:
        return float(text)
    except ValueError:
        return text
