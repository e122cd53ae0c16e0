"""Graph files for `compare`: lists of edges and GraphML, damaged.

A damage that leaves no way to know what was meant comes last and sets `must_refuse`.
"""

from __future__ import annotations

from fuzz.case import Draw
from fuzz.fields import filled

_LIST = r"b'source,target\na,b\nb,c\n'"
_LIST_DAMAGES = (
    r"raw = raw + b'c,c\n'",
    r"raw = raw + b'b,a\n'",
    r"raw = raw + b'a,b\n'",
    r"raw = raw + b'\n\n'",
    r"raw = raw.replace(b'source', b'from')",
    r"raw = raw.replace(b'target', b'source')",
    r"raw = raw.replace(b'\n', b'\r')",
    r"raw = encoded(raw, 'utf-16')",
    r"raw = raw + {junk}",
    r"raw = cut(raw, {share})",
    r"raw = b''",
    r"raw = raw + b'x' * 200000 + b',b\n'",
    r"raw = np.random.default_rng(1).bytes(500)",
)
_LIST_RIDDLES = (
    r"raw = add_row(raw, b'c')",
    r"raw = add_row(raw, b'c,d,e,f')",
    r"raw = add_row(raw, b'c,')",
    r"raw = add_row(raw, b',c')",
    r"raw = open_quote(raw)",
)
_GRAPHML_DAMAGES = (
    r"raw = raw.replace(b'<node id=\'b\'/>', b'<node/>')",
    r"raw = raw.replace(b'directed', b'undirected')",
    r"raw = raw.replace(b'</graph>', b'<edge source=\'b\' target=\'a\'/></graph>')",
    r"raw = raw.replace(b'</graph>', b'<edge source=\'a\'/></graph>')",
    r"raw = raw.replace(b'<graph ', b'<graph ' * 3)",
    r"raw = LAUGHS + raw.replace(b'\'a\'', b'\'&i;\'')",
    r"raw = ENTITY + raw.replace(b'\'a\'', b'\'&x;\'')",
    r"raw = b'<a>' * 20000",
    r"raw = b''",
    r"raw = insert(raw, {share}, {junk})",
)
_GRAPHML_RIDDLES = (r"raw = cut(raw, {share})",)
_PLACES = (
    "argv[2] = 'nowhere.csv'",
    "argv[2] = '.'",
    "argv[2] = ''",
    "argv[2] = 'a\\x00b.csv'",
    "argv[2] = 'x' * 300",
    "Path('loop.csv').symlink_to('loop.csv'); argv[2] = 'loop.csv'",
    "Path('x.csv').mkdir(); argv[2] = 'x.csv'",
    "Path('x.graphml').mkdir(); argv[2] = 'x.graphml'",
)


def compare(draw: Draw) -> list[str]:
    """Return lines that compare a graph file with a damaged one."""
    if draw.chance(0.35):
        name, whole, damages, riddles = "b.graphml", "GRAPHML", _GRAPHML_DAMAGES, _GRAPHML_RIDDLES
    else:
        name, whole, damages, riddles = "b.csv", _LIST, _LIST_DAMAGES, _LIST_RIDDLES
    lines = [
        f"argv = ['compare', 'a.csv', {name!r}]",
        f"files['a.csv'] = {_LIST}; raw = {whole}",
        *(filled(draw, draw.one(damages)) for _ in range(draw.whole(0, 2))),
    ]
    if draw.chance(0.3):
        lines.append(f"{filled(draw, draw.one(riddles))}; must_refuse = True")
    elif draw.chance(0.15):
        lines.append(draw.one(_PLACES))
    elif draw.chance(0.1):
        lines.append("argv[1] = str(material.saved_run('plain'))")
    lines.append(f"files[{name!r}] = raw")
    return [*lines, "argv += ['--json']"] if draw.chance(0.3) else lines
