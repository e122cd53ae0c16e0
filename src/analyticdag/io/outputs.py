"""What a command will write, checked and held before it begins to work.

    with reserved(page, inputs=[table], force=False): ...      files
    with reserved_run(folder, key, ...) as folder: ...         the folder of a run

A path is refused if something is there already (unless a user says force, and it is a result of
ours), if it is an input or another output (also through links), if its folder is missing, full or
not to be written to. While the block runs nobody else of us writes there.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from analyticdag._files import in_use, is_folder, sweep
from analyticdag.errors import ParameterError
from analyticdag.io.folder import (
    FILES,
    NOTE,
    PAGE,
    made,
    numbered,
    refuse_used_folder,
    unfinished,
)

# Nearly empty results: a page is 100 KB of script and style.
_ROOM = 2**20
# What stands near the beginning of our results: other files are overwritten by no command.
PAGE_MARK = b'name="generator" content="analyticdag"'
STABILITY_MARK, TABLE_MARK, GRAPH_MARK = b'{\n "n_resamples"', b"x0,x1", b"<graphml"
_BEGINNING = 4096


def room_for(n_columns: int) -> int:
    """Return the bytes that a run of so many columns takes, with ten edges for each column.

    An edge takes some 800 bytes in all files together, a covariance 8 bytes for each pair; zeros
    of a matrix are packed 1000 to 1.
    """
    return _ROOM + 8192 * n_columns + 8 * n_columns**2


@contextmanager
def reserved(
    *files: Path,
    inputs: Iterable[Path],
    force: bool,
    marks: Sequence[bytes],
    room: int = _ROOM,
    inside: Path | None = None,
) -> Iterator[None]:
    """Check files that will be written, and hold them until the block ends.

    `marks` say of each file what stands in one that `force` may overwrite. A file right inside the
    folder `inside`, which is held already and made later, needs no lock.
    """
    places = [os.path.realpath(file) for file in files]
    for file, place, mark in zip(files, places, marks, strict=True):
        if places.count(place) > 1:
            raise ParameterError(f"{str(file)!r} is asked for twice; name another file")
        refuse_input(file, inputs)
        _refuse_existing(file, force=force)
        _refuse_foreign(file, mark)
    with ExitStack() as held:
        for file in files:
            if inside is not None and file.parent == inside:
                if file.name in FILES:
                    raise ParameterError(f"{str(file)!r} is a file of the run; name another")
                continue
            _check_folder(file.parent, room)
            held.enter_context(in_use(file, "the file"))
            _refuse_existing(file, force=force)
        yield


@contextmanager
def reserved_run(
    wanted: Path, key: str, *, exact: bool, inputs: Iterable[Path], force: bool, room: int
) -> Iterator[Path]:
    """Hold a folder for a run: `wanted`, or where it may differ the first free one like it.

    A folder that a killed command of the same key left unfinished is free for this one.
    """
    with made(wanted.parent), ExitStack() as held:
        _check_folder(wanted.parent, room)
        for folder in numbered(wanted):
            try:
                held.enter_context(_held_folder(folder, key, inputs, force=force, new=not exact))
                break
            except ParameterError:
                if exact or force or not os.path.lexists(folder.parent):
                    raise
        yield folder


@contextmanager
def _held_folder(
    folder: Path, key: str, inputs: Iterable[Path], *, force: bool, new: bool
) -> Iterator[None]:
    for name in (*FILES, PAGE):
        refuse_input(folder / name, inputs)
    with in_use(folder, "the folder"):
        refuse_used_folder(folder, key, overwrite=force)
        sweep(folder / NOTE)
        if not force and unfinished(folder) is None:
            # An empty folder is what a kill leaves that comes between the folder and the note.
            if new and is_folder(folder) and any(folder.iterdir()):
                raise ParameterError(f"{str(folder)!r} is there already; name another folder")
            _refuse_existing(folder / PAGE, force=False)
        if is_folder(folder):
            _check_folder(folder, 0)
        yield


def refuse_input(path: Path, inputs: Iterable[Path]) -> None:
    """Raise ParameterError if a path is one of the files that are read, by whatever name."""
    for file in inputs:
        try:
            same = path.samefile(file)
        except (OSError, ValueError):  # one of them is not there
            same = os.path.realpath(path) == os.path.realpath(file)
        if same:
            raise ParameterError(
                f"{str(path)!r} is an input of this command and would be overwritten; name "
                "another file"
            )


def _refuse_existing(file: Path, *, force: bool) -> None:
    try:
        kind = file.lstat().st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ParameterError(f"cannot write {str(file)!r}: {reason}; name another file") from error
    if not (stat.S_ISREG(kind) or stat.S_ISLNK(kind)):
        raise ParameterError(f"{str(file)!r} is no plain file; name a file")
    if not force:
        raise ParameterError(
            f"{str(file)!r} is there already and is not overwritten; name another file, or say so "
            "(overwrite=True; on the command line: --force)"
        )


def _refuse_foreign(file: Path, mark: bytes) -> None:
    """Refuse to overwrite what is no result of ours, whatever a user says; an empty file may go."""
    if not os.path.lexists(file):
        return
    try:
        with file.open("rb") as there:
            beginning = there.read(_BEGINNING)
    except OSError:  # a link to nothing; whether it can be written, the write finds out
        return
    if beginning and mark not in beginning:
        raise ParameterError(
            f"{str(file)!r} is no result of analyticdag and would be overwritten; name another "
            "file, or remove that one yourself"
        )


def _check_folder(folder: Path, room: int) -> None:
    if not is_folder(folder):
        raise ParameterError(f"there is no folder {str(folder)!r}; make it or name another place")
    # Who may write is found out by the lock, which is written there; root may nearly everywhere.
    if not os.access(folder, os.W_OK):
        raise ParameterError(f"{str(folder)!r} cannot be written to; name another place")
    free = shutil.disk_usage(folder).free
    if free < room:
        raise ParameterError(
            f"{str(folder)!r} has room for {free / 2**20:.2g} MiB, and the results may take "
            f"{room / 2**20:.2g}; make room or name another place"
        )
