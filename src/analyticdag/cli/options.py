"""Options that several commands take, each written once, with what a shell offers to complete."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

# Where --help lists an option.
THE_TABLE, METHOD, RESULTS = "The table", "The method (begin with the defaults)", "The results"


def _one_of(words: str, meaning: str, default: str | bool = True, panel: str = METHOD) -> Any:
    """Return an option that a shell completes by one of these words; `default` as help shows it."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in words.split() if word.startswith(incomplete)]

    return typer.Option(
        help=meaning, autocompletion=complete, show_default=default, rich_help_panel=panel
    )


TableFile = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV, Excel, Parquet, Feather, Stata, SPSS or JSON lines; - for standard input."
    ),
]
Model = Annotated[
    str,
    _one_of(
        "linear nonlinear auto",
        "linear; nonlinear (needs Torch); or auto: by the diagnostics of a linear fit.",
    ),
]
Loss = Annotated[
    str | None,
    _one_of(
        "auto mse likelihood-ev likelihood-nv logistic",
        "mse, likelihood-ev, likelihood-nv, logistic or auto.",
        "auto",
    ),
]
Constraint = Annotated[
    str | None,
    _one_of(
        "exponential order-1 order-2 order-3 order-4",
        "exponential, order-1, order-2, … (see: constraints).",
        "order-2; nonlinear: order-1",
    ),
]
Lambda1 = Annotated[
    str | None,
    _one_of(
        "auto cv stars",
        "Sparsity, more gives fewer edges; auto, cv or stars.",
        "0.05; nonlinear: 0.01",
    ),
]
WThreshold = Annotated[
    str | None, _one_of("auto", "Weights below go; or auto.", "0.3; nonlinear: 0.1")
]
Solver = Annotated[
    str | None,
    _one_of("auto fast adam order", "auto, fast, adam or order.", "auto"),
]
Gamma = Annotated[
    str | None,
    _one_of("auto", "Price of an edge in the search, more gives fewer edges; or auto.", "auto"),
]
MinEffect = Annotated[
    str | None,
    _one_of("auto", "No edge has a smaller |partial correlation|; a number, or auto.", "auto"),
]
Effort = Annotated[
    float | None,
    typer.Option(
        help="Factor on how long the search goes on.", show_default="1", rich_help_panel=METHOD
    ),
]
Start = Annotated[
    str | None,
    _one_of("zero variance", "Where the path begins: zero or variance.", "as the solver has it"),
]
Refine = Annotated[
    bool | None,
    typer.Option(
        "--refine/--no-refine",
        help="Search over orders afterwards.",
        show_default="refine",
        rich_help_panel=METHOD,
    ),
]
KnowledgeFile = Annotated[
    Path | None,
    typer.Option(
        help="Required and forbidden edges: TOML or Tetrad's format.", show_default="nothing"
    ),
]
Candidates = Annotated[
    str | None,
    _one_of(
        "correlation markov pc", "Only plausible edges: correlation, markov or pc.", "all pairs"
    ),
]
Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize",
        help="Scale every column to variance one.",
        show_default="off",
        rich_help_panel=METHOD,
    ),
]
Interventions = Annotated[
    str | None,
    typer.Option(
        help="Column that names what was perturbed in each row.",
        show_default="no such column",
        rich_help_panel=THE_TABLE,
    ),
]
MaxSteps = Annotated[
    int | None,
    typer.Option(
        help="Steps or sweeps in a stage, at most.",
        show_default="as the solver has it",
        rich_help_panel=METHOD,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        help="Leave a column out; repeatable.",
        show_default="what is no measurement",
        rich_help_panel=THE_TABLE,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Take this column and no others; repeatable.",
        show_default="all others",
        rich_help_panel=THE_TABLE,
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        help="What a column is: NAME=number, count, log, yes/no, ordered, category, days, or its "
        "levels from low to high (NAME=low,middle,high); repeatable.",
        show_default="as its values look",
        rich_help_panel=THE_TABLE,
    ),
]
Log = Annotated[
    list[str] | None,
    typer.Option(
        "--log",
        help="Take logarithms of this column; repeatable.",
        show_default="none",
        rich_help_panel=THE_TABLE,
    ),
]
Covariance = Annotated[
    str | None,
    _one_of("sample rank", "sample; or rank: for columns that bend or have heavy tails.", "sample"),
]
Missing = Annotated[
    str | None,
    _one_of(
        "em drop error",
        "Gaps: em (maximum likelihood), drop (leave rows out) or error.",
        "em; nonlinear: error",
        THE_TABLE,
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing",
        help="The same as --missing drop.",
        show_default="off",
        rich_help_panel=THE_TABLE,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        help="Column that says which rows belong together; they are resampled together.",
        show_default="every row by itself",
        rich_help_panel=THE_TABLE,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        help="Threads of a fit, processes of resamples.",
        show_default="threads: as many as BLAS may use; processes: 1",
        rich_help_panel=METHOD,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Folder for the results.",
        show_default="FILE-analyticdag, beside FILE",
        rich_help_panel=RESULTS,
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        help="HTML file for the report.",
        show_default="report.html in that folder",
        rich_help_panel=RESULTS,
    ),
]
Member = Annotated[
    bool,
    typer.Option(
        "--member",
        help="Export one DAG of the class, marked as such.",
        show_default="off",
        rich_help_panel=RESULTS,
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        help="File that keeps stages and resamples, to go on after a kill.",
        show_default="fit: one beside the results; stability: none",
        rich_help_panel=RESULTS,
    ),
]
Refit = Annotated[
    bool,
    typer.Option(
        "--refit/--no-refit",
        help="Fit again standardised, to see what units do.",
        rich_help_panel=RESULTS,
    ),
]
Rows = Annotated[
    bool,
    typer.Option(
        "--rows/--no-rows",
        help="Keep up to 150 rows in the results, for scatter plots.",
        rich_help_panel=RESULTS,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        help="For whatever is random.", show_default="a fixed one", rich_help_panel=METHOD
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Say nothing.", show_default="off", rich_help_panel=RESULTS),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Report every stage, search and warning, as lines.",
        show_default="off",
        rich_help_panel=RESULTS,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", help="Result as JSON, even if quiet.", show_default="off", rich_help_panel=RESULTS
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force",
        help="Overwrite results that are there.",
        show_default="off",
        rich_help_panel=RESULTS,
    ),
]

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
