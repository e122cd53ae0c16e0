"""Files of background knowledge (TOML, JSON, Tetrad's format): good, wrong, too deep."""

from __future__ import annotations

from fuzz.case import Draw

_CONTENTS = (
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
_NAMES = ("k.toml", "k.json", "k.txt", "k")


def knowledge(draw: Draw) -> list[str]:
    """Return lines that write a file of knowledge and pass it to the command."""
    content = draw.one(_CONTENTS).encode("utf-8")
    if draw.chance(0.1):
        content = content[: draw.whole(0, len(content))] + b"\xff"
    name = draw.one(_NAMES)
    place = draw.weighted({name: 90, "nowhere.toml": 3, ".": 3, "loop": 4})
    return [f"files[{name!r}] = {_source(content)}", f"argv += ['--knowledge', {place!r}]"]


def _source(content: bytes) -> str:
    """Return bytes as source, a long run of one bracket at their end short."""
    bare = content.rstrip(b"[")
    run = len(content) - len(bare)
    return f"{bare!r} + b'[' * {run}" if run > 50 else repr(content)
