"""Records on the disk: packed, torn, damaged, refused."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path

import pytest

from analyticdag.errors import DataError
from benchmarks.plan import parse_plan
from benchmarks.records import (
    RecordFile,
    WriteError,
    pack_records,
    read_records,
    recorded,
)
from benchmarks.report import pack
from benchmarks.run import run

PLAN = parse_plan(
    "p", "task = 'bench_tasks:draw'\nmethods = ['a', 'b']\n[[settings]]\nnodes = [1, 2]"
)


def test_packed_records_are_read_like_others_and_count_as_done(tmp_path: Path) -> None:
    made = run(PLAN, tmp_path / "run")
    assert pack(tmp_path / "run", tmp_path / "kept") == {"p": 4}
    assert read_records(tmp_path / "kept") == read_records(tmp_path / "run")
    assert recorded(tmp_path / "kept", "other") == []
    assert run(PLAN, tmp_path / "kept") == []
    assert len(made) == 4


def test_packing_again_adds_what_is_new_and_replaces_what_was_repeated(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    run(PLAN, tmp_path / "first")
    pack(tmp_path / "first", kept)
    bytes_before = (kept / "p.jsonl.gz").read_bytes()
    assert pack(tmp_path / "first", kept) == {"p": 4}
    assert (kept / "p.jsonl.gz").read_bytes() == bytes_before
    grown = parse_plan(
        "p", "task = 'bench_tasks:draw'\nmethods = ['a', 'b']\n[[settings]]\nnodes = [2, 3]"
    )
    later = run(grown, tmp_path / "second")
    assert pack(tmp_path / "second", kept) == {"p": 6}
    starts = {record["key"]: record["started"] for record in read_records(kept)}
    assert all(starts[record["key"]] == record["started"] for record in later)


def test_packing_takes_a_plain_file_of_the_same_folder_in(tmp_path: Path) -> None:
    run(PLAN, tmp_path)
    assert pack(tmp_path, tmp_path) == {"p": 4}
    assert [path.name for path in tmp_path.iterdir()] == ["p.jsonl.gz"]


def test_a_damaged_packed_file_is_named(tmp_path: Path) -> None:
    pack_records(tmp_path / "p.jsonl.gz", [{"key": "a"}])
    whole = (tmp_path / "p.jsonl.gz").read_bytes()
    (tmp_path / "p.jsonl.gz").write_bytes(whole[:-4])
    with pytest.raises(DataError, match=r"p\.jsonl\.gz is not a gzip file"):
        read_records(tmp_path)
    (tmp_path / "p.jsonl.gz").write_bytes(gzip.compress(b"not json\n"))
    with pytest.raises(DataError, match="line 1 is not a record"):
        read_records(tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WriteError, match=r"cannot write .*p\.jsonl: .*; what was recorded"):
        run(PLAN, tmp_path / "file")
    with pytest.raises(WriteError, match=r"cannot write .*p\.jsonl\.gz"):
        pack_records(tmp_path / "file" / "p.jsonl.gz", [])


def test_a_full_disk_keeps_what_was_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0
    sync = os.fsync

    def full(file: int) -> None:
        nonlocal written
        written += 1
        if written == 3:
            os.ftruncate(file, os.fstat(file).st_size - 20)  # only a part of the line fitted
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(file)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match=r"No space left on device; .* make room"):
        run(PLAN, tmp_path)
    assert len(read_records(tmp_path)) == 2
    assert len(run(PLAN, tmp_path)) == 2
    assert len(read_records(tmp_path)) == 4


def test_a_file_that_was_not_finished_goes_on_cleanly(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_bytes(b'{"key": "whole"}\n{"key": "to')
    with RecordFile(tmp_path / "p.jsonl") as file:
        file.append({"key": "next"})
    assert [record["key"] for record in read_records(tmp_path)] == ["whole", "next"]
