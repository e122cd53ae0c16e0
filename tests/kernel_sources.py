"""The build script, loaded as a module: what it would compile now."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _load():
    spec = importlib.util.spec_from_file_location("build_script", ROOT / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.SOURCES = ROOT / "src"
    return module


build = _load()


def newest_source(unit: str) -> str:
    """The mark of the source of an extension module, given its name without the build."""
    return build.mark_of((ROOT / "src").joinpath(*unit.split(".")).with_suffix(".py"))
