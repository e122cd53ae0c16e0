"""Files and command lines: damaged tables for `fit` and `stability`, and what other commands read.

A case sets `raw`, the bytes of the file that the command reads, and damages it line by line with
the functions of `damage.py`. A damage that leaves no way to know what was meant comes last and sets
`must_refuse`.
"""

from __future__ import annotations

from fuzz.case import Case, Draw
from fuzz.fields import filled
from fuzz.graph_files import compare
from fuzz.knowledge_files import knowledge
from fuzz.plan_files import plan
from fuzz.words import FOLDERS, OTHERS, PAGES, options, output

_START = "from fuzz import material; from fuzz.damage import *; files, argv, stdin = {}, [], b''"
_DAMAGES = (
    "raw = cut(raw, {share})",
    "raw = insert(raw, {share}, {junk})",
    "raw = insert(raw, {share}, {junk})",
    "raw = with_cell(raw, {cell})",
    "raw = with_cell(raw, {cell})",
    "raw = with_cell(raw, {cell})",
    "raw = raw.replace(b',', {mark})",
    "raw = raw.replace(b',', b';').replace(b'.', b',')",
    r"raw = raw.replace(b'\n', {end})",
    "raw = encoded(raw, {encoding!r})",
    "raw = with_names(raw, {names})",
    "raw = with_names(raw, {names})",
    "raw = with_names(raw, {names})",
    "raw = with_names(raw, ['x0'] * 5)",
    "raw = with_words(raw, {column})",
    "raw = first_rows(raw, {rows})",
    r"raw = b'\n'.join(raw.splitlines()[1:])",
    r"raw = b'\n\n' + raw",
    r"raw = b'# a comment\n' + raw",
    r"raw = b'\xef\xbb\xbf' + raw",
    "raw = b''",
    r"raw = b'\n'",
    "raw = b'PAR1' + raw",
    "raw = b'PAR1' + raw + b'PAR1'",
    "import gzip; raw = gzip.compress(raw)",
    "raw = bomb(1 << 28)",
    "raw = np.random.default_rng(1).bytes(2000)",
    r"raw = b','.join([b'x%d' % k for k in range(3000)]) + b'\n'",
    "raw = b'{{' * 5000",
)
_RIDDLES = (
    "raw = add_row(raw, b'1.0')",
    "raw = add_row(raw, b'1,' * 20 + b'1')",
    "raw = open_quote(raw)",
)
_PLACES = (
    "Path('d.csv').mkdir()",
    "Path('d.csv').symlink_to('d.csv')",
    "Path('d.csv').symlink_to('nowhere')",
    "argv[1] = '-'; stdin = raw",
    "argv[1] = '-'",
    *(
        f"argv[1] = {place!r}"
        for place in (
            *("nowhere.csv", "no/where.csv", "", ".", "x" * 300, "a\x00b", "d.csv/x"),
            "/proc/self/nothing",
        )
    ),
)


def draw_case(draw: Draw) -> Case:
    """Return a case with a command."""
    make = draw.weighted({_fit: 50, _stability: 9, _check: 5, compare: 18, _other: 14, plan: 4})
    lines = make(draw)
    if draw.chance(0.03):
        lines.append("apart = True  # as a process of its own")
    return Case("files", (_START, *lines), "command")


def _fit(draw: Draw) -> list[str]:
    lines = _table(draw, "fit")
    if draw.chance(0.75):
        lines.append("argv += ['--solver', 'order']")
    if draw.chance(0.15):
        lines += knowledge(draw)
    if draw.chance(0.4):
        name = draw.one(("--out", "--report"))
        lines += output(draw, name, FOLDERS if name == "--out" else PAGES)
    if draw.chance(0.03):
        lines.append("argv += ['--force']; may_change = ('notes.txt', 'full/notes.txt')")
    if draw.chance(0.1):
        lines.append("argv += ['--out', 'run']; material.saved_run('plain', 'run')")
    return [*lines, *options(draw, "fit")]


def _stability(draw: Draw) -> list[str]:
    lines = [*_table(draw, "stability"), "argv += ['--solver', 'order', '--resamples', '2']"]
    if draw.chance(0.5):
        lines += output(draw, "--out", FOLDERS)
    return [*lines, *options(draw, "stability")]


def _check(draw: Draw) -> list[str]:
    graph = r"argv.insert(1, 'g.csv'); files['g.csv'] = b'source,target\nx0,x1\n'"
    return [*_table(draw, "check"), graph, *options(draw, "check")]


def _other(draw: Draw) -> list[str]:
    return [draw.one(OTHERS)]


def _table(draw: Draw, command: str) -> list[str]:
    n, d = draw.whole(2, 60), draw.whole(2, 5)
    lines = [f"raw = material.csv({draw.whole(0, 99)}, {n}, {d})", f"argv = [{command!r}, 'd.csv']"]
    if draw.chance(0.1):
        return [*lines, draw.one(_PLACES)]
    damages = draw.weighted({0: 30, 1: 45, 2: 25})
    lines += [filled(draw, draw.one(_DAMAGES)) for _ in range(damages)]
    if draw.chance(0.1):
        lines.append(f"{draw.one(_RIDDLES)}; must_refuse = True")
    return [*lines, "files['d.csv'] = raw"]
