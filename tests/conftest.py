"""For every test: no test fails because the machine is slow; a way to run a command."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import settings

# In CI the examples are the same every time; at a desk hypothesis goes on exploring.
settings.register_profile("house", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("house")


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """Return what runs a command line in this process and gives code, output and errors."""

    def run(*arguments: object, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "argv", ["analyticdag", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        from analyticdag.cli import main

        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return Result(int(stop.value.code or 0), captured.out, captured.err)

    return run
