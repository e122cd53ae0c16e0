"""The one gate for what is read from a file: plain values checked against annotations.

    parsed_json(bytes)                plain values, of bounded depth, numbers finite, keys once
    parsed_toml(text)                 the same of TOML, where numbers may be infinite
    checked_as(value, kind, "edges")  the value as `kind`, an annotation; ValueError says where not
    plain(value)                      the way back: anything of ours as JSON can hold it

A kind is Any, None, bool, int, float, str, Literal, X | Y, tuple, list, Mapping[str, X] or a
dataclass of such. Nothing is guessed: "1" is no number, 1.0 no whole one, and a key too many is
refused as one too few is.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import tomllib
import types
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

# Of our own files none is deeper than 6; whatever walks a value later may recurse 20 times.
MAX_DEPTH = 20


def parsed_json(content: bytes) -> Any:
    """Return what JSON holds; anything that is odd about it raises ValueError."""
    try:
        value = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_finite,
            parse_float=_finite,
        )
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return shallow(value)


def parsed_toml(text: str) -> dict[str, Any]:
    """Return what TOML holds; ValueError where it is none, or nested too deeply."""
    try:
        value = tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    shallow(value)
    return value


def shallow(value: Any) -> Any:
    """Return the value if it is not nested too deeply."""
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError("it is nested too deeply")
        level = [item for outer in level for item in _items(outer)]
    return value


def _items(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{_short(word)} is no finite number")
    return number


def checked_as(value: Any, kind: Any, where: str) -> Any:
    """Return a plain value as the annotated kind, lists as tuples where it says so."""
    if kind is Any:
        return value
    if dataclasses.is_dataclass(kind):
        return _record(value, kind, where)
    origin = get_origin(kind) or kind
    if origin in (Union, types.UnionType):
        return _one_of(value, get_args(kind), where)
    if origin is Literal:
        if value not in get_args(kind) or isinstance(value, bool):
            raise ValueError(f"{where} must be one of {get_args(kind)}, not {_short(value)}")
        return value
    if origin in (list, tuple):
        return _sequence(value, kind, where)
    if origin in (dict, Mapping):
        return _mapping(value, kind, where)
    return _scalar(value, kind, where)


def _record(value: Any, kind: Any, where: str) -> Any:
    """Return a dataclass of a mapping with exactly its fields; those with a default may lack."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} must hold named values, not {_short(value)}")
    hints, needed = _fields(kind)
    if not value.keys() <= hints.keys():
        raise ValueError(f"{where} has the unknown key {_short(min(value.keys() - hints.keys()))}")
    if not needed <= value.keys():
        raise ValueError(f"{where} lacks {min(needed - value.keys())!r}")
    items = value.items()
    return kind(**{key: checked_as(item, hints[key], f"{where}.{key}") for key, item in items})


@functools.cache
def _fields(kind: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the annotations of a dataclass, and the fields without a default."""
    fields = dataclasses.fields(kind)
    needed = (field.name for field in fields if field.default is field.default_factory)  # MISSING
    return get_type_hints(kind), frozenset(needed)


def _one_of(value: Any, kinds: tuple[Any, ...], where: str) -> Any:
    if type(value) in kinds:  # 0 is to stay a whole number where any number will do
        return None if value is None else _scalar(value, type(value), where)
    *others, last = [kind for kind in kinds if kind is not type(None)]
    for kind in others:
        try:
            return checked_as(value, kind, where)
        except ValueError:
            continue
    return checked_as(value, last, where)


def _sequence(value: Any, kind: Any, where: str) -> Any:
    if not isinstance(value, list):
        raise ValueError(f"{where} must be a list, not {_short(value)}")
    make: Callable[[Any], Any] = get_origin(kind) or kind
    kinds = get_args(kind) or (Any, ...)
    if make is list or kinds[-1] is ...:
        kinds = (kinds[0],) * len(value)
    if len(kinds) != len(value):
        raise ValueError(f"{where} must have {len(kinds)} entries, not {len(value)}")
    pairs = enumerate(zip(value, kinds, strict=True))
    return make([checked_as(item, own, f"{where}[{k}]") for k, (item, own) in pairs])


def _mapping(value: Any, kind: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} must hold named values, not {_short(value)}")
    own = (get_args(kind) or (str, Any))[1]
    return {key: checked_as(item, own, f"{where}.{plain_key(key)}") for key, item in value.items()}


_SCALARS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def _scalar(value: Any, kind: Any, where: str) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and number:
        try:
            value = float(value)
        except OverflowError:
            value = math.inf
        if math.isfinite(value):
            return value
    elif type(value) is kind and not (kind is int and abs(value) >= 2**63):
        return value
    raise ValueError(f"{where} must be {_SCALARS.get(kind, 'nothing')}, not {_short(value)}")


def plain_key(key: str) -> str:
    """Return a key of a file for a message of one short line."""
    return key if key.isidentifier() and len(key) <= 40 else _short(key)


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number of more digits than Python writes
        return "a huge number"
    return text if len(text) <= 40 else text[:39] + "…"


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: numbers that are not finite become None."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Enum):
        return plain(value.value)
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    # Schedules, minimisers and constraints are shown, never rebuilt from the record.
    return str(value)
