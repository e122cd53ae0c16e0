"""The command line: the only part that prints.

    analyticdag fit data.csv         learn a graph, save it, write a report
    analyticdag report RUN           write the report of a saved run again
    analyticdag stability data.csv   which edges come back on resampled rows
    analyticdag simulate ER2         data with a known graph
    analyticdag compare A B          how far one graph is from another, link by link
    analyticdag effect RUN --of X --on Y    what one more unit of X does to Y
    analyticdag effects RUN --on Y   what moves Y, the strongest first
    analyticdag check GRAPH data.csv whether a graph from anywhere fits a table
    analyticdag constraints          the constraints there are, and when to use which
    analyticdag demo                 learn a protein network from real cells

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 the run
failed, 2 the input was bad, 130 after Ctrl-C. A traceback is shown only with --debug. What is there
already is overwritten only with --force, and an input never.

| module          | holds                                                                 |
|-----------------|-----------------------------------------------------------------------|
| `fit.py`        | `fit`: a table in, a folder of results and a page out                 |
| `model.py`      | which estimator `fit` takes, and why                                  |
| `record.py`     | from a fitted estimator to what is saved, with its page               |
| `answer.py`     | the answer in words                                                   |
| `stability.py`  | `stability`                                                           |
| `effect.py`     | `effect`, `effects`                                                   |
| `tools.py`      | `simulate`, `compare`, `check`, `report`                              |
| `demo.py`       | `demo`                                                                |
| `options.py`    | options that several commands take                                    |
| `progress.py`   | what a person sees while a fit runs                                   |
| `interrupt.py`  | Ctrl-C                                                                |
"""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from analyticdag import __version__
from analyticdag.cli.demo import demo_command
from analyticdag.cli.effect import effect_command, effects_command
from analyticdag.cli.fit import fit_command
from analyticdag.cli.interrupt import INTERRUPTED, Interrupt, interruptible
from analyticdag.cli.progress import printable
from analyticdag.cli.stability import stability_command
from analyticdag.cli.tools import check_command, compare_command, report_command, simulate_command
from analyticdag.errors import AnalyticDAGError, InputError

__all__ = ["app", "main"]

app = typer.Typer(
    name="analyticdag",
    help="Learn causal graphs from data with analytic acyclicity constraints.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("fit")(fit_command)
app.command("report")(report_command)
app.command("stability")(stability_command)
app.command("simulate")(simulate_command)
app.command("compare")(compare_command)
app.command("effect")(effect_command)
app.command("effects")(effects_command)
app.command("check")(check_command)
app.command("demo")(demo_command)

_ADVICE = {
    "exponential": ("exp(x)", "converges for every matrix; its gradient fades on long cycles"),
    "order-1": ("-log(1 - x)", "DAGMA's log-determinant; the cheapest"),
    "order-2": ("(1 - x)^-1", "the default: strong on long cycles, and not far from convex"),
    "order-3": ("(1 - x)^-2", "large or dense graphs of known scale"),
    "order-4": ("(1 - x)^-3", "as order-3, stronger still; more non-convex"),
    "order-N": ("(1 - x)^-(N-1)", "any N: gradients and non-convexity both grow with N"),
}


def main() -> NoReturn:
    """Entry point of the ``analyticdag`` command."""
    with interruptible() as interrupt:
        code = _run(sys.argv[1:], interrupt)
        if code == INTERRUPTED:
            interrupt.ends_soon()
    raise SystemExit(code)


def _run(words: list[str], interrupt: Interrupt) -> int:
    """Run a command and return its exit code; an error is one line."""
    debug = "--debug" in words
    arguments = [word for word in words if word != "--debug"]
    try:
        # The name is given, or "python -m analyticdag" would ask the shell to complete "python".
        code = app(arguments, prog_name="analyticdag", standalone_mode=False, obj=interrupt)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        if debug:
            raise
        return _explain(error)
    if code == INTERRUPTED:
        _say(interrupt.advice())
    if not arguments:  # click before 8.2 shows the help and calls that a success
        return _no_command()
    return code if isinstance(code, int) else 0


def _no_command() -> int:
    _say("no command was given; name one of those above")  # the help is on standard output
    return 2


def _explain(error: Exception) -> int:
    """Say in one line what went wrong, and return the exit code of its kind."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return _no_command()
    if hasattr(error, "format_message"):  # typer's, of options and arguments
        _say(f"{error.format_message()} --help lists the options.")
        return 2
    text = " ".join(str(error).split())
    if not isinstance(error, AnalyticDAGError):
        text = f"unexpected {type(error).__name__}: {text}; --debug shows where it came from"
    _say(text)
    return 2 if isinstance(error, InputError) else 1


def _say(text: str) -> None:
    Console(stderr=True).print(
        f"analyticdag: {printable(' '.join(text.split()))}",
        style="red",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _show_version(wanted: bool) -> None:
    if wanted:
        Console().print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print it.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error (with any command).")
    ] = False,
) -> None:
    """Learn causal graphs from data with analytic acyclicity constraints."""


@app.command("constraints")
def _constraints() -> None:
    """List the constraints: formula, radius, when to use."""
    from analyticdag.functions import named

    table = Table(title="h(W) = tr f(W∘W / s) - c0·d, for the f below", title_justify="left")
    for column in ("name", "f(x)", "radius", "when to use"):
        table.add_column(column)
    for name, (formula, advice) in _ADVICE.items():
        radius = named(name.replace("N", "2")).radius
        table.add_row(name, formula, "∞" if radius == float("inf") else "s", advice)
    console = Console()
    console.print(table)
    console.print(
        "Take order-2, or do not choose at all: fit takes it, and its search decides which edges "
        "stay. Another one matters with --no-refine, --solver fast or adam."
    )
    console.print("Build more in Python: Inverse(1.0) ** 2 + Exponential(), f.derivative(2), …")


if __name__ == "__main__":
    main()
