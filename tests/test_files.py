"""Files of ours: written at once, locked while in use, read within limits."""

from __future__ import annotations

import io
import os
import signal
import struct
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analyticdag._files import in_use, read_arrays, read_limited, sweep, write_bytes, written
from analyticdag._schema import checked_as, parsed_json
from analyticdag.errors import InputError, OutputError, ParameterError


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with pytest.raises(RuntimeError), written(target, overwrite=False) as file:  # noqa: PT012
        file.write(b"half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    write_bytes(target, b"one", overwrite=False)
    with pytest.raises(OutputError, match="is there by now and is not overwritten"):
        write_bytes(target, b"two", overwrite=False)
    assert target.read_bytes() == b"one"
    write_bytes(target, b"two", overwrite=True)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.txt", b"two")]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot write .*No such file or directory"):
        write_bytes(tmp_path / "absent" / "a", b"")


def test_leftovers_are_swept_and_nothing_else(tmp_path: Path) -> None:
    kept = [".a.partial", ".a.txt.zz.partial", "a", ".b.xyz.partial"]
    for name in (*kept, ".a.x8_1.partial"):
        (tmp_path / name).touch()
    sweep(tmp_path / "a")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(kept)


def test_one_at_a_time_also_among_threads(tmp_path: Path) -> None:
    file, refused = tmp_path / "f", []

    def second() -> None:
        try:
            with in_use(file, "the checkpoint"):
                refused.append(False)
        except ParameterError as error:
            refused.append("is in use by another run" in str(error))

    with in_use(file, "the checkpoint"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    second()
    assert refused == [True, False]
    assert list(tmp_path.iterdir()) == []


HOLD = """
import sys
from analyticdag._files import in_use
with in_use(sys.argv[1], "the file"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9")
def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    file = tmp_path / "f"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(ParameterError, match="in use by another run"), in_use(file, "the file"):
        pass
    holder.kill()
    holder.communicate()
    with in_use(file, "the file"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_long_names_have_locks_of_their_own(tmp_path: Path) -> None:
    long = "n" * 240
    with in_use(tmp_path / f"{long}1", "it"), in_use(tmp_path / f"{long}2", "it"):
        pass


def test_only_plain_files_of_a_sensible_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"12345")
    assert read_limited(tmp_path / "f", 5, "look") == b"12345"
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, limit, message in (
        ("f", 4, "is larger than 3.81e-06 MiB; look"),
        ("absent", 4, "cannot read .*No such file"),
        ("loop", 4, "cannot read .*Too many levels of symbolic links"),
        ("", 4, "cannot read|is not a plain file"),
        ("a\0b", 4, "cannot read .*null"),
    ):
        with pytest.raises(InputError, match=message):
            read_limited(tmp_path / name, limit, "look")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a plain file"):
        read_limited(tmp_path / "pipe", 10, "look")


def archive(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def test_arrays_come_back() -> None:
    square, text = np.asfortranarray(np.arange(6.0).reshape(2, 3)), "ä"
    found = read_arrays(archive(a=square, b=text, c=np.empty((0, 3))), 10_000)
    np.testing.assert_array_equal(found["a"], square)
    assert str(found["b"]) == text
    assert found["c"].shape == (0, 3)


def test_no_bomb_is_unpacked() -> None:
    bomb = archive(a=np.zeros(10_000_000))
    assert len(bomb) < 100_000
    with pytest.raises(ValueError, match="would unpack to more than"):
        read_arrays(bomb, 1_000_000)


def lying(shape: str) -> bytes:
    """An archive whose array says that it is larger than it is."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(8)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("a.npy", content)
    return buffer.getvalue()


def test_every_damaged_archive_is_a_value_error() -> None:
    whole = archive(a=np.arange(20.0), note="x" * 50)
    pickled = archive(a=np.array([{}], dtype=object))
    for content in (b"", b"years of work", pickled, lying("(10000000000,)"), lying("(-1,)")):
        with pytest.raises(ValueError, match=r"."):
            read_arrays(content, 10**9)
    for cut in range(0, len(whole), 7):
        with pytest.raises(ValueError, match=r"."):
            read_arrays(whole[:cut], 10**9)
    expected = {name: array.tobytes() for name, array in read_arrays(whole, 10**9).items()}
    for bit in range(0, 8 * len(whole), 5):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            found = read_arrays(bytes(flipped), 10**9)
        except ValueError:
            continue
        # A name may be another, or an array not be listed: whoever reads names sees that.
        assert {array.tobytes() for array in found.values()} <= set(expected.values())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expecting"),
        ("[NaN]", "no finite number"),
        ("[1e999]", "no finite number"),
        ('{"a": 1, "a": 2}', "a key is there twice"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ("[" * 30 + "]" * 30, "nested too deeply"),
        ("9" * 5000, "digits"),
    ],
)
def test_odd_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parsed_json(text.encode())


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ("1", int, "x must be a whole number, not '1'"),
        (True, int, "x must be a whole number, not True"),
        (1.0, int, "x must be a whole number, not 1.0"),
        (2**70, int, "x must be a whole number"),
        (10**400, float, "x must be a number"),
        (None, float, "x must be a number, not None"),
        ([1, "a"], tuple[int, ...], r"x\[1\] must be a whole number"),
        ([1], tuple[int, int], "x must have 2 entries, not 1"),
        ({"a": 1}, dict[str, str], "x.a must be text"),
    ],
)
def test_what_does_not_fit_says_where(value: Any, kind: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_as(value, kind, "x")


def test_what_fits_is_converted() -> None:
    assert checked_as([[1, "a"]], tuple[tuple[float, str], ...], "x") == ((1.0, "a"),)
    assert checked_as(None, int | None, "x") is None
