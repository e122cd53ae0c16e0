"""Command lines: options drawn from the program itself, words for them, and places for outputs."""

from __future__ import annotations

import functools

import typer.main

from fuzz.case import Draw

# Words that mean something to an option; any option may also get one of `_ODD`.
WORDS = {
    "--loss": ("auto", "mse", "likelihood-ev", "likelihood-nv", "logistic"),
    "--constraint": ("exponential", "order-1", "order-2", "order-9", "order-0", "order-10000"),
    "--lambda1": ("0.1", "auto", "cv", "1e400", "-1"),
    "--w-threshold": ("0.3", "auto", "0"),
    "--solver": ("order", "fast", "auto"),
    "--start": ("zero", "variance"),
    "--candidates": ("correlation", "markov", "pc"),
    "--interventions": ("x0", "x3", "nobody"),
    "--max-steps": ("1", "5", "0", "-3"),
    "--resamples": ("0", "2", "-1", "-100"),
    "--drop": ("x0", "x1", "nobody"),
    "--jobs": ("1", "2", "0", "-1"),
    "--seed": ("0", "3", "-1", "4294967296"),
    "--checkpoint": ("state", "no/folder/state", ".", "d.csv", "notes.txt"),
    "--gamma": ("auto", "0.5", "-1"),
    "--model": ("linear", "nothing"),
    "--threshold": ("0.9", "5", "0", "-1", "nan"),
    "--level": ("0.05", "0", "1", "-1", "nan"),
}
_ODD = (
    *("x", "", "nan", "inf", "-1", "1e999", "ü", "\ud800", "a\nb", "None", "[red]", "{}"),
    "9" * 400,
)
# These are drawn apart: their words are places, or they allow what others must not do.
APART = ("--out", "--report", "--knowledge", "--force", "--help")
# Where a result may be asked for; what lies there already is the user's.
FOLDERS = (
    *("run", "run", "new/run", "d.csv", "d.csv/run", ".", "", "/proc/nowhere/run", "full", "loop"),
    *("x" * 300, "a\x00b"),
)
PAGES = (
    *("d.csv", "notes.txt", "page.html", "no/page.html", "full", "full/notes.txt", "loop", ""),
    *("/proc/nowhere/page.html", "./d.csv", "link.csv"),
)
OWN = (
    "files['notes.txt'] = b'mine'; files['full/notes.txt'] = b'mine too'",
    "Path('loop').symlink_to('loop')",
    "Path('link.csv').symlink_to('d.csv')",
)


@functools.cache
def options_of(command: str) -> dict[str, bool]:
    """Return every option of a command, and whether it takes a word."""
    from analyticdag.cli import app

    found = {}
    for parameter in typer.main.get_command(app).commands[command].params:  # type: ignore[attr-defined]
        if parameter.param_type_name == "option":
            takes_word = not getattr(parameter, "is_flag", False)
            found |= dict.fromkeys((*parameter.opts, *parameter.secondary_opts), takes_word)
    return {name: word for name, word in found.items() if name not in APART}


def options(draw: Draw, command: str) -> list[str]:
    """Return lines that add up to three options of a command."""
    lines = []
    for name, takes_word in draw.some(list(options_of(command).items()), 3):
        if not takes_word:
            lines.append(f"argv += [{name!r}]")
            continue
        known = WORDS.get(name, _ODD) if draw.chance(0.7) else _ODD
        lines.append(f"argv += [{name!r}, {draw.one(known)!r}]")
        if lines[-1].endswith("'order-10000']") and draw.chance(0.5):
            lines.append("argv += ['--no-refine', '--solver', 'fast']")
    return lines


def output(draw: Draw, name: str, places: tuple[str, ...]) -> list[str]:
    """Return lines that ask for a result where something may lie already."""
    return [*OWN, f"argv += [{name!r}, {draw.one(places)!r}]"]


OTHERS = (
    "argv = ['report', 'run']; material.saved_run('plain')",
    "argv = ['report', 'run', '--out', 'mine.html']; material.saved_run('plain'); "
    "files['mine.html'] = b'mine'",
    "argv = ['report', 'run', '--out', 'run/model.json']; material.saved_run('plain')",
    "argv = ['report', 'run', '--out', 'no/page.html']; material.saved_run('plain')",
    "argv = ['report', 'run', '--out', '.']; material.saved_run('plain')",
    "argv = ['report', 'nowhere']",
    "argv = ['report', '.']",
    "argv = ['report', 'a\\x00b']",
    "argv = ['report', 'd.csv']; files['d.csv'] = material.csv()",
    "argv = ['report', 'loop']; Path('loop').symlink_to('loop')",
    "argv = ['simulate', 'ER1', '--nodes', '5', '--samples', '20']",
    "argv = ['simulate', 'ER1', '--nodes', '5', '--out', 'd.csv']; files['d.csv'] = b'mine'",
    "argv = ['simulate', 'ER1', '--nodes', '5', '--out', 'mine']; files['mine/data.csv'] = b'mine'",
    "argv = ['simulate', 'ER1', '--nodes', '5', '--out', '/proc/nowhere']",
    "argv = ['simulate', 'ER1', '--out', 'loop']; Path('loop').symlink_to('loop')",
    *(f"argv = ['simulate', {graph!r}]" for graph in ("XX", "ER", "ER-1", "ER1e9", "", "ER1.5")),
    *(f"argv = ['simulate', 'SF2', '--nodes', {nodes!r}]" for nodes in ("0", "-1", "x", "3")),
    *(
        f"argv = ['simulate', 'ER1', '--nodes', '5', {name!r}, {word!r}]"
        for name, word in (
            *(("--samples", "0"), ("--samples", "-5"), ("--noise", "x"), ("--mechanism", "x")),
            *(("--seed", "-1"), ("--mechanism", "gp"), ("--standardize", "x")),
        )
    ),
    "argv = ['simulate', 'ER9', '--nodes', '3']",
    "argv = ['constraints']",
    "argv = []",
    "argv = ['--version']",
    "argv = ['nothing']",
    "argv = ['fit']",
    "argv = ['demo', '--out', 'mine']; files['mine/model.json'] = b'mine'",
    "argv = ['demo', '--out', 'd.csv']; files['d.csv'] = b'mine'",
    "argv = ['fit', 'd.csv', '--nothing']; files['d.csv'] = material.csv()",
)
