"""Which of two levels in words is the 0: what is absent, false, low, or the state to start from.

    two_levels(name, levels)      the two levels, that of 0 first

The name of the column goes first, then pairs of words, then a level that denies the other, then
words of absence. Where nothing decides, the order given stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from analyticdag.tables.cells import key_of

# Two words of which the first is 0: what is absent, false or low.
_PAIRS = (
    ("n", "y"),
    ("f", "t"),
    ("off", "on"),
    ("low", "high"),
    ("dead", "alive"),
    ("inactive", "active"),
    # Denied, a normal state is the one to count.
    ("normal", "not normal"),
    ("healthy", "unhealthy"),
    ("healthy", "not healthy"),
)
# A level with one of these words says that something is not there, or that nothing was changed.
_ABSENCE = frozenset(
    (
        *("no", "not", "non", "none", "nothing", "never", "without", "false"),
        *("negative", "neg", "absent", "absence", "untreated", "unexposed", "unaffected"),
        *("normal", "healthy", "control", "controls", "placebo", "sham", "baseline"),
        *("standard", "usual"),
        # The same in other languages, of which the alphabet would take "ja" and "да" for the 0.
        *("nein", "kein", "keine", "nie", "ohne", "nicht", "nee", "nej", "нет", "hayır"),
    )
)
# What stands before a word to deny it: "no event" beside "event", "non-smoker" beside "smoker".
_DENIALS = ("no ", "not ", "non ", "non", "un", "never ", "without ")


def two_levels(name: str, levels: Sequence[str]) -> tuple[str, ...]:
    """Return two levels, that of 0 first."""
    first, second = levels
    for comes_first in (_is_opposite_of_name(name), _is_first_of_a_pair, _denies, _is_absence):
        answers = comes_first(first, second), comes_first(second, first)
        if answers[0] != answers[1]:
            return (first, second) if answers[0] else (second, first)
    return first, second


def _is_opposite_of_name(name: str) -> Callable[[str, str], bool]:
    """Return whether the other level is what the column is called: `died` counts who died."""
    called = _words(name)
    return lambda _, other: bool(called) and _words(other) == called


def _is_first_of_a_pair(level: str, other: str) -> bool:
    return (_words(level), _words(other)) in _PAIRS


def _denies(level: str, other: str) -> bool:
    return any(_words(level) == denial + _words(other) for denial in _DENIALS)


def _is_absence(level: str, other: str) -> bool:
    """Whether a word of absence stands in the one and none in the other."""
    return _has_absence(level) and not _has_absence(other)


def _has_absence(level: str) -> bool:
    return not _ABSENCE.isdisjoint(_words(level).split())


def _words(text: str) -> str:
    """Return the words of a text, without capitals and without marks between them."""
    return " ".join(re.findall(r"[^\W_]+", key_of(text)))
