"""Files and command lines: damaged tables, knowledge, graphs; outputs where something lies already.

Lines work on `raw`, the bytes of the file that the command reads. A damage that leaves no way to
know what was meant says `must_refuse = True`.
"""

from __future__ import annotations

import csv
import io

from fuzz.case import Case, Draw
from fuzz.tables import NAMES

_START = "from fuzz import files as made, material, tamper; files, argv, stdin = {}, [], b''"
_TABLE_DAMAGES = (
    r"raw = raw.rstrip() + b'\n1.0\n'; must_refuse = True",
    r"raw = raw.rstrip() + b'\n' + b'1,' * 20 + b'1\n'; must_refuse = True",
    r"raw = raw.replace(b'x0', b'\"x0', 1); must_refuse = b'x0' in raw",
    r"raw = raw.replace(b'\n', b'\n\"', 5); must_refuse = True",
    r"raw = raw.rstrip() + b',\"'; must_refuse = True",
    r"raw = raw[: int(len(raw) * {share})]",
    r"raw = raw[: int(len(raw) * {share})] + {junk} + raw[int(len(raw) * {share}) :]",
    r"raw = raw[: int(len(raw) * {share})] + {junk} + raw[int(len(raw) * {share}) :]",
    r"raw = raw.replace(raw.splitlines()[2].split(b',')[0], {cell}, 1)",
    r"raw = raw.replace(raw.splitlines()[2].split(b',')[0], {cell}, 1)",
    r"raw = raw.replace(raw.splitlines()[2].split(b',')[0], {cell}, 1)",
    r"raw = raw.replace(b',', {mark})",
    r"raw = raw.replace(b',', b';').replace(b'.', b',')",
    r"raw = raw.replace(b'\n', {end})",
    r"raw = b'\xef\xbb\xbf' + raw",
    r"raw = raw.decode().encode({encoding!r})",
    r"raw = made.header(raw, {names})",
    r"raw = made.header(raw, {names})",
    r"raw = made.header(raw, {names})",
    r"raw = made.header(raw, ['x0'] * 4)",
    r"raw = b'\n'.join(raw.splitlines()[1:])",
    r"raw = raw.splitlines()[0]",
    r"raw = raw.splitlines()[0] + b'\n' + raw.splitlines()[1]",
    r"raw = b'\n\n' + raw",
    r"raw = b'# a comment\n' + raw",
    r"raw = b''",
    r"raw = b'\n'",
    r"raw = b'\xef\xbb\xbf'",
    r"raw = b'PAR1' + raw",
    r"raw = b'PAR1' + raw + b'PAR1'",
    r"import gzip; raw = gzip.compress(raw)",
    r"raw = tamper.bomb(1 << 28)",
    r"raw = np.random.default_rng(1).bytes(2000)",
    r"raw = b','.join([b'x%d' % k for k in range(3000)]) + b'\n'",
    r"raw = b'{{' * 5000",
    r"raw = made.text(raw, {j})",
)
_JUNK = (
    *(rb"\x00", rb"\xff\xfe", rb"\xed\xa0\x80", rb"\"", rb"\x1a", rb"\r", rb",", rb"\n\n", rb"'"),
    *(rb"\xe2\x80\xa8", rb"\x1b[2J", rb"=cmd()", rb"<script>alert(1)</script>"),
)
_CELLS = (
    *("b'1e400'", "b'-1e400'", "b'1e-400'", "b'nan'", "b'inf'", "b'NA'", "b''", "b'1_000'"),
    *("b'0x10'", "'１２'.encode()", "b'TRUE'", "b'1/2'", "b'12:30'", "b'$5'", "b'1 000'"),
    *("b'1e200'", "b'1e308'", "b'5e-324'", "b'9' * 400", "b'1' * 200000", "b'abc'", "b'1j'"),
    *("b'2020-01-01'", "b'(1)'", "b'1e'", "b'--1'", "b'+1'", "b' 1 '", "b'\\x00'", "b'0.5.1'"),
)
_MARKS = (r"b'\t'", "b'|'", "b';'", "b' '", "b':'", "b'::'", r"b'\x00'", "b', '", "b',,'")
_ENDS = (r"b'\r\n'", r"b'\r'", r"b'\n\n'", r"b'\x0b'", r"b'\xe2\x80\xa8'", r"b'\n\r'", "b''")
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp037", "utf-7")
_PLACES = (
    "Path('d.csv').mkdir()",
    "Path('d.csv').symlink_to('d.csv')",
    "Path('d.csv').symlink_to('nowhere')",
    "argv[1] = 'nowhere.csv'",
    "argv[1] = 'no/where.csv'",
    "argv[1] = ''",
    "argv[1] = '.'",
    "argv[1] = 'x' * 300",
    "argv[1] = 'a\\x00b'",
    "argv[1] = 'd.csv/x'",
    "argv[1] = '-'; stdin = raw",
    "argv[1] = '-'",
    "argv[1] = '/proc/self/nothing'",
)
_OPTIONS = {
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
    "--min-effect": ("auto", "0.1", "-1"),
    "--missing": ("error", "drop", "em"),
    "--kind": ("x0=binary", "x0", "nobody=binary"),
    "--log": ("x0", "nobody"),
    "--model": ("linear", "nothing"),
    "--threshold": ("0.9", "5", "0", "-1", "nan"),
}
_FLAGS = ("--no-refine", "--standardize", "--drop-missing", "--quiet", "--json", "--complementary")
_WORDS = (
    "x",
    "",
    "nan",
    "inf",
    "-1",
    "1e999",
    "ü",
    "\ud800",
    "a\nb",
    "None",
    "[red]",
    "{}",
    "9" * 400,
)
_OUTPUTS = (
    "'--out', 'run'",
    "'--out', 'run'",
    "'--out', 'new/run'",
    "'--out', 'd.csv'",
    "'--out', 'd.csv/run'",
    "'--out', '.'",
    "'--out', ''",
    "'--out', '/proc/nowhere/run'",
    "'--out', 'full'",
    "'--out', 'loop'",
    "'--out', 'x' * 300",
    "'--out', 'a\\x00b'",
    "'--report', 'd.csv'",
    "'--report', 'notes.txt'",
    "'--report', 'page.html'",
    "'--report', 'no/page.html'",
    "'--report', 'full'",
    "'--report', 'full/notes.txt'",
    "'--report', 'loop'",
    "'--report', '/proc/nowhere/page.html'",
    "'--report', ''",
    "'--report', './d.csv'",
    "'--report', 'link.csv'",
)
# Things of the user's that no command may touch.
_OWN = (
    "files['notes.txt'] = b'mine'; files['full/notes.txt'] = b'mine too'",
    "Path('loop').symlink_to('loop')",
    "Path('link.csv').symlink_to('d.csv')",
)
_KNOWLEDGE = (
    "required = [['x0', 'x1']]",
    "forbidden = [['x1', 'x0']]\nmax_parents = 1",
    "tiers = [['x0'], ['x1', 'x2']]",
    "required = ['x0 -> x1', 'x1 -> x2']",
    "required = ['x0 -> x1', 'x1 -> x0']",
    "required = [['x0', 'nobody']]",
    "required = 'x0 -> x1'",
    "required = 3",
    "required = [1, 2]",
    "required = [[['x0'], 'x1']]",
    "required = [{a = 1}]",
    "tiers = [[['x0']]]",
    "tiers = 'x0'",
    "tiers = [1.5]",
    "max_parents = 'x'",
    "max_parents = -1",
    "max_parents = 1e400",
    "nothing = 1",
    "required = [['x0', 'x1']",
    "[required]\na = 1",
    "x = " + "[" * 3000 + "]" * 3000,
    "required = " + "[" * 300 + "]" * 300,
    '{"required": [["x0", "x1"]]}',
    '{"required": ' + "[" * 100_000,
    '{"required": null, "tiers": {"a": 1}}',
    '{"max_parents": NaN}',
    "/knowledge\naddtemporal\n1 x0\n2 x1\n",
    "/knowledge\naddtemporal\n1* x0 x1\n1 x2\n",
    "/knowledge\nforbiddirect\nx0 x1 x2\n",
    "/knowledge\nrequiredirect\nx0\n",
    "/knowledge\nx0 x1\n",
    "/knowledge\nrequiredgroup\nx0 x1\n",
    '/knowledge\nforbiddirect\n"x0 x1\n',
    "/knowledge\naddtemporal\n" + "9" * 5000 + " x0\n",
    "/knowledge\naddtemporal\n² x0\n",
    "",
    "\x00",
    "required = [[2020-01-01, 'x1']]",
)
_GRAPHML = (
    b"<graphml><graph edgedefault='directed'><node id='a'/><node id='b'/>"
    b"<edge source='a' target='b'/></graph></graphml>"
)
_GRAPH_DAMAGES = (
    r"raw = raw + b'c\n'; must_refuse = True",
    r"raw = raw + b'\"c,d\n'; must_refuse = True",
    r"raw = raw + b'c,\"d\ne,f\n'; must_refuse = True",
    r"raw = raw + b'c,d,e,f\n'; must_refuse = True",
    r"raw = raw + b'c,\n'; must_refuse = True",
    r"raw = raw + b',c\n'; must_refuse = True",
    r"raw = raw + b'c,c\n'",
    r"raw = raw + b'b,a\n'",
    r"raw = raw + b'a,b\n'",
    r"raw = raw + b'\n\n'",
    r"raw = raw.replace(b'source', b'from')",
    r"raw = raw.replace(b'target', b'source')",
    r"raw = raw.replace(b'\n', b'\r')",
    r"raw = raw.decode().encode('utf-16')",
    r"raw = raw + {junk}",
    r"raw = raw[: int(len(raw) * {share})]",
    r"raw = b''",
    r"raw = raw + b'x' * 200000 + b',b\n'",
    r"raw = np.random.default_rng(1).bytes(500)",
)
_GRAPHML_DAMAGES = (
    r"raw = raw[: int(len(raw) * {share})]; must_refuse = True",
    r"raw = raw.replace(b'<node id=\'b\'/>', b'<node/>')",
    r"raw = raw.replace(b'directed', b'undirected')",
    r"raw = raw.replace(b'</graph>', b'<edge source=\'b\' target=\'a\'/></graph>')",
    r"raw = raw.replace(b'</graph>', b'<edge source=\'a\'/></graph>')",
    r"raw = raw.replace(b'<graph ', b'<graph ' * 3)",
    r"raw = made.LAUGHS + raw.replace(b'\'a\'', b'\'&i;\'')",
    r"raw = made.ENTITY + raw.replace(b'\'a\'', b'\'&x;\'')",
    r"raw = b'<a>' * 20000",
    r"raw = b''",
    r"raw = raw[: int(len(raw) * {share})] + {junk} + raw[int(len(raw) * {share}) :]",
)
LAUGHS = (
    b"<!DOCTYPE g [<!ENTITY a 'ha'>"
    + b"".join(b"<!ENTITY %c '%s'>" % (b + 1, b"&%c;" % b * 40) for b in b"abcdefgh")
    + b"]>"
)
ENTITY = b"<!DOCTYPE g [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>"


def header(raw: bytes, names: list[str]) -> bytes:
    """Return a table with other names in its first row."""
    first, *rest = raw.split(b"\n")
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(names[: first.count(b",") + 1])
    return line.getvalue().encode("utf-8", "surrogatepass") + b"\n".join(rest)


def text(raw: bytes, column: int) -> bytes:
    """Return a table with words in one column."""
    first, *rest = raw.strip().split(b"\n")
    rows = [row.split(b",") for row in rest]
    for k, row in enumerate(rows):
        row[column % len(row)] = (b"low", b"high", b"")[k % 3]
    return b"\n".join([first, *(b",".join(row) for row in rows)])


def draw_case(draw: Draw) -> Case:
    """Return a case with a command."""
    make = draw.weighted({_fit: 55, _stability: 10, _compare: 20, _other: 15})
    lines = make(draw)
    if draw.chance(0.03):
        lines.append("apart = True")
    return Case("files", (_START, *lines), "command")


def _fit(draw: Draw) -> list[str]:
    lines = _table(draw, "fit")
    if draw.chance(0.75):
        lines.append("argv += ['--solver', 'order']")
    if draw.chance(0.15):
        lines += _knowledge(draw)
    if draw.chance(0.4):
        lines += [*_OWN, f"argv += [{draw.one(_OUTPUTS)}]"]
    if draw.chance(0.03):
        lines.append("argv += ['--force']; may_change = ('notes.txt', 'full/notes.txt')")
    if draw.chance(0.1):
        lines.append("argv += ['--out', 'run']; material.saved_run('plain', 'run')")
    return [*lines, *_options(draw)]


def _stability(draw: Draw) -> list[str]:
    lines = _table(draw, "stability")
    lines.append("argv += ['--solver', 'order', '--resamples', '2']")
    if draw.chance(0.5):
        words = draw.one([o for o in _OUTPUTS if o.startswith("'--out'")])
        lines += [*_OWN, f"argv += [{words}]"]
    return [*lines, *_options(draw)]


def _table(draw: Draw, command: str) -> list[str]:
    n, d = draw.whole(2, 60), draw.whole(2, 5)
    lines = [f"raw = material.csv({draw.whole(0, 99)}, {n}, {d})", f"argv = [{command!r}, 'd.csv']"]
    if draw.chance(0.1):
        return [*lines, draw.one(_PLACES)]
    damages = draw.weighted({0: 25, 1: 50, 2: 25})
    lines += [_filled(draw, draw.one(_TABLE_DAMAGES)) for _ in range(damages)]
    return [*lines, "files['d.csv'] = raw"]


def _options(draw: Draw) -> list[str]:
    lines = []
    for name in draw.some(list(_OPTIONS), 2):
        word = draw.one(_OPTIONS[name]) if draw.chance(0.7) else draw.one(_WORDS)
        if name == "--constraint" and word == "order-10000" and draw.chance(0.5):
            lines.append("argv += ['--no-refine', '--solver', 'fast']")
        lines.append(f"argv += [{name!r}, {word!r}]")
    for flag in draw.some(_FLAGS, 1):
        gone = "; must_refuse = False" if flag == "--drop-missing" else ""
        lines.append(f"argv += [{flag!r}]{gone}")
    return lines


def _knowledge(draw: Draw) -> list[str]:
    content = draw.one(_KNOWLEDGE).encode("utf-8")
    if draw.chance(0.1):
        content = content[: draw.whole(0, len(content))] + b"\xff"
    name = draw.one(("k.toml", "k.json", "k.txt", "k"))
    place = draw.weighted({name: 90, "nowhere.toml": 3, ".": 3, "loop": 4})
    return [f"files[{name!r}] = {_shown(content)}", f"argv += ['--knowledge', {place!r}]"]


def _shown(content: bytes) -> str:
    """Return bytes as source, a long run of one bracket short."""
    bare = content.rstrip(b"[")
    run = len(content) - len(bare)
    return f"{bare!r} + b'[' * {run}" if run > 50 else repr(content)


def _compare(draw: Draw) -> list[str]:
    lines = ["argv = ['compare', 'a.csv', 'b.csv']"]
    lines.append(r"files['a.csv'] = raw = b'source,target\na,b\nb,c\n'")
    if draw.chance(0.35):
        lines = [
            "argv = ['compare', 'b.csv', 'b.csv']",
            f"raw = {_GRAPHML!r}; argv[1] = 'a.graphml'",
        ]
        lines.append(r"files['b.csv'] = b'source,target\na,b\n'")
        damages = [_filled(draw, draw.one(_GRAPHML_DAMAGES)) for _ in range(draw.whole(0, 2))]
        lines += [*damages, "files['a.graphml'] = raw"]
    else:
        damages = [_filled(draw, draw.one(_GRAPH_DAMAGES)) for _ in range(draw.whole(0, 2))]
        lines += [*damages, "files['b.csv'] = raw"]
    if draw.chance(0.15):
        lines.append(draw.one(_COMPARE_PLACES))
    if draw.chance(0.3):
        lines.append("argv += ['--json']")
    return lines


_COMPARE_PLACES = (
    "argv[2] = 'nowhere.csv'; must_refuse = False",
    "argv[2] = '.'; must_refuse = False",
    "argv[2] = ''; must_refuse = False",
    "argv[2] = 'a\\x00b.csv'; must_refuse = False",
    "Path('loop.csv').symlink_to('loop.csv'); argv[2] = 'loop.csv'; must_refuse = False",
    "Path('x.csv').mkdir(); argv[2] = 'x.csv'; must_refuse = False",
    "Path('x.graphml').mkdir(); argv[2] = 'x.graphml'; must_refuse = False",
    "argv[1] = str(material.saved_run('plain')); must_refuse = False",
    "argv[2] = 'x' * 300; must_refuse = False",
)
_OTHERS = (
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
    "argv = ['simulate', 'XX']",
    "argv = ['simulate', 'ER']",
    "argv = ['simulate', 'ER-1']",
    "argv = ['simulate', 'ER1e9']",
    "argv = ['simulate', 'SF2', '--nodes', '0']",
    "argv = ['simulate', 'SF2', '--nodes', '-1']",
    "argv = ['simulate', 'ER9', '--nodes', '3']",
    "argv = ['simulate', 'ER1', '--nodes', '5', '--samples', '0']",
    "argv = ['simulate', 'ER1', '--nodes', '5', '--samples', '-5']",
    "argv = ['simulate', 'ER1', '--nodes', '5', '--noise', 'x']",
    "argv = ['simulate', 'ER1', '--nodes', '5', '--mechanism', 'x']",
    "argv = ['simulate', 'ER1', '--nodes', '5', '--seed', '-1']",
    "argv = ['simulate', 'ER1', '--nodes', '5', '--samples', '9', '--mechanism', 'gp']",
    "argv = ['constraints']",
    "argv = []",
    "argv = ['--version']",
    "argv = ['nothing']",
    "argv = ['bench', 'run', 'nowhere', '--out', 'b']",
    "argv = ['bench', 'run', 'plan.toml', '--out', 'b']; files['plan.toml'] = b'x = ['",
    "argv = ['bench', 'run', 'plan.toml', '--out', 'b']; files['plan.toml'] = b'a = 1'",
    "argv = ['bench', 'render', 'nowhere']",
    "argv = ['bench', 'render', 'b']; files['b/x.jsonl'] = b'{'",
    "argv = ['fit', 'd.csv', '--nothing']; files['d.csv'] = material.csv()",
    "argv = ['fit']",
)


def _other(draw: Draw) -> list[str]:
    return [draw.one(_OTHERS)]


def _filled(draw: Draw, template: str) -> str:
    names = [draw.one(NAMES) for _ in range(5)]
    return template.format(
        share=round(draw.random.random(), 3),
        junk=repr(draw.one(_JUNK).decode("unicode_escape").encode("latin-1")),
        cell=draw.one(_CELLS),
        mark=draw.one(_MARKS),
        end=draw.one(_ENDS),
        encoding=draw.one(_ENCODINGS),
        names=repr(names),
        j=draw.whole(0, 3),
    )
