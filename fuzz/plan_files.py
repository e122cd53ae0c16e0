"""Plans of benchmarks, which `python -m benchmarks run` reads: all of them are to be refused."""

from __future__ import annotations

from fuzz.case import Draw

_START = 'task = "learn"\nmethods = ["empty"]\n[[settings]]\ngraph = "ER1"\n'
_CONTENTS = (
    "x = [",
    "a = 1",
    "",
    "\x00",
    "x = " + "[" * 3000 + "]" * 3000,
    _START.replace('"learn"', "3"),
    _START.replace('["empty"]', "[]"),
    _START.replace('["empty"]', "[[1]]"),
    _START.replace('["empty"]', "[{call = 1}]"),
    _START.replace('"ER1"', "[]"),
    _START.replace('"ER1"', "[[1]]"),
    "repeats = -1\n" + _START,
    "seed = 1.5\n" + _START,
    "time_limit = nan\n" + _START,
    "memory_limit = -1\n" + _START,
    "threads = true\n" + _START,
    "nothing = 1\n" + _START,
)
_WORDS = (
    "['run', 'plan.toml', '--out', 'b']",
    "['run', 'plan.toml', '--out', 'b', '--jobs', '0']",
    "['run', 'plan.toml', '--out', 'b', '--where', 'x']",
    "['run', 'nowhere.toml', '--out', 'b']",
    "['run', 'nowhere', '--out', 'b']",
    "['render', 'nowhere']",
    "['render', '.']",
)


def plan(draw: Draw) -> list[str]:
    """Return lines that write a plan that cannot be used, and the command that reads it."""
    content = draw.one(_CONTENTS).encode("utf-8")
    if draw.chance(0.1):
        content = content[: draw.whole(0, len(content))] + b"\xff"
    argv = draw.weighted({_WORDS[0]: 5.0} | dict.fromkeys(_WORDS[1:], 0.5))
    return [f"files['plan.toml'] = {content!r}", f"program, argv = 'benchmarks', {argv}"]
