"""The gate for arguments: a value in the form the code uses, or one line that says what is wanted.

    flag, whole, number, level_of, choice,
    seed_of                                     one argument each; NumPy's scalars are welcome
    file_name                                   a file that can be written, or None

Tables of values pass another gate, `_tables.read_columns`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from analyticdag._files import is_folder
from analyticdag.errors import InputError, ParameterError

LARGEST = float(np.finfo(np.float64).max)
# Types of pandas.NA, pandas.NaT and numpy.ma.masked, by name: pandas need not be there.
_MISSING = ("NAType", "NaTType", "MaskedConstant")
# The longest text of a value that a message quotes.
_QUOTED = 80


def shown(value: Any) -> str:
    """Return a value as a message quotes it: on one line, and not endless."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # repr is the caller's code, and of an int of 5,000 digits Python has none
        text = f"a {type(value).__name__}"
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 3]}..."


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, and what pandas and NumPy have beside them."""
    is_nan = isinstance(value, float | np.floating) and value != value
    return value is None or is_nan or type(value).__name__ in _MISSING


def is_hashable(value: Any) -> bool:
    """Whether a value can name something; a tuple may hold a list, so its type does not tell."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def flag(name: str, value: Any) -> bool:
    """Return True or False, whoever's; a text such as "no" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def whole(
    name: str,
    value: Any,
    least: int,
    most: int | None = None,
    *,
    what: str = "a whole number",
    error: type[InputError] = ParameterError,
) -> int:
    """Return a whole number of at least `least`; a bool is none."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        upper = "" if most is None else f" and at most {most}"
        raise error(f"{name} must be {what} of at least {least}{upper}, not {shown(value)}")
    return int(value)


def number(
    name: str, value: Any, least: float = 0.0, most: float = LARGEST, *, instead: str = ""
) -> float:
    """Return a finite number from `least` to `most`; `instead` says what else could be given."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not least <= as_float(value) <= most:
        lower = "" if least == -LARGEST else f" of at least {least:g}"
        upper = "" if most == LARGEST else f" and at most {most:g}"
        raise ParameterError(f"{name} must be a number{lower}{upper}{instead}, not {shown(value)}")
    return float(value)


def level_of(value: Any, *, usual: float = 0.95) -> float:
    """Return a level of confidence or significance: between 0 and 1, both left out."""
    if not 0.0 < number("level", value, 0.0, 1.0) < 1.0:
        raise ParameterError(f"level must lie between 0 and 1, not at {value:g}; usual is {usual}")
    return float(value)


def as_float(value: Any) -> float:
    """Return a number as a float; one too large for it is infinite."""
    try:
        return float(value)
    except OverflowError:  # 10**400
        return math.inf


def jobs(what: str, n_jobs: Any, default: str) -> int | None:
    """Return a number of threads or processes as joblib takes it; None stands for the default."""
    is_count = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_count or n_jobs == 0 or abs(n_jobs) > 2**31):
        raise ParameterError(
            f"n_jobs must be a number of {what}, -1 for all processors, or None for {default}, not "
            f"{shown(n_jobs)}"
        )
    return None if n_jobs is None else int(n_jobs)


def verbosity(value: Any) -> int:
    """Return how much to report: a whole number, or True and False for 1 and 0."""
    return int(value) if isinstance(value, bool) else whole("verbose", value, 0, 2**31)


def choice(name: str, value: Any, choices: Collection[str | None]) -> Any:
    """Return one of the choices; compared as text, so that an array is refused like any other."""
    if not isinstance(value, str | None) or value not in choices:
        raise ParameterError(f"{name} must be one of {tuple(choices)}, not {shown(value)}")
    return value


def file_name(name: str, value: Any) -> Path | None:
    """Return the path of a file to write, or None; hours later is too late to find it unusable."""
    if value is None:
        return None
    text = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(text, str) or not _can_be_a_name(text):
        raise ParameterError(f"{name} must be the name of a file or None, not {shown(value)}")
    path = Path(text)
    if not path.name or is_folder(path):
        raise ParameterError(f"{name}={text!r} is a folder; name a file")
    if not is_folder(path.parent):
        raise ParameterError(f"{name}={text!r} is in a folder that does not exist; create it first")
    try:
        path.lstat()
    except FileNotFoundError:
        return path
    except OSError as error:  # a name that is too long
        cause = error.strerror
        raise ParameterError(f"{name}={text!r} cannot be written: {cause}; name another") from error
    return path


def _can_be_a_name(text: str) -> bool:
    """Whether the system can have a file of this name: no zero byte, no half of a character."""
    try:
        return "\0" not in os.fsencode(text).decode("latin-1")
    except UnicodeEncodeError:
        return False


def generator_of(seed: Any) -> np.random.Generator:
    """Return the generator of a seed; None is fresh entropy, a generator is taken as it is."""
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is not None:
        seed = whole("seed", seed, 0, what="None, a numpy Generator, or a whole number")
    return np.random.default_rng(seed)


def seed_of(random_state: Any) -> int:
    """Return a seed; None is a fixed one, so that a fit is repeatable unless asked otherwise."""
    if random_state is None:
        return 0
    if not isinstance(random_state, np.random.RandomState):
        words = "a numpy RandomState, None, or a whole number"
        random_state = np.random.RandomState(
            whole("random_state", random_state, 0, 2**32 - 1, what=words)
        )
    return int(random_state.randint(2**31 - 1))
