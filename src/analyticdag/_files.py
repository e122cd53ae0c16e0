"""Files of ours on somebody's disk: written at once, locked while in use, read within limits.

    written(path)          a file that appears whole or not at all, and is on the disk then
    in_use(path)           one process or thread at a time; a kill leaves no lock behind
    is_there, is_folder    of any name, also of one that no system takes
    read_limited(path)     the bytes of a plain file, if there are not too many
    read_arrays(bytes)     the arrays of an npz archive, if they are not too large: no pickle
    write_sealed, read_sealed   the same with a digest, so that a change of any array is noticed

Whatever a file holds, reading it ends in plain values or in an InputError of one line.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from analyticdag.errors import InputError, OutputError, ParameterError

# Between a name and this there are random letters: what a kill left behind is found again.
_PARTIAL = ".partial"
# The entry of an archive that holds the digest of the others.
_SEAL = "sha256"


def is_there(path: str | Path) -> bool:
    """Whether there is a file or a folder; `Path.exists` raises where a name is too long."""
    return os.path.exists(path)  # noqa: PTH110


def is_folder(path: str | Path) -> bool:
    """Whether there is a folder of this name."""
    return os.path.isdir(path)  # noqa: PTH112


@contextmanager
def written(path: str | Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its place, complete and on the disk, at the end.

    Without `overwrite` a file that is there by then stays as it is, and OutputError is raised.
    """
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(
            suffix=_PARTIAL, prefix=f"{_hidden(path)}.", dir=path.parent
        )
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            # mkstemp makes private files; a result is for others to read.
            Path(temporary).chmod(0o644)
            _move(Path(temporary), path, overwrite=overwrite)
        finally:
            Path(temporary).unlink(missing_ok=True)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(
            f"cannot write {str(path)!r}: {_words(error)}; make room or name another place"
        ) from error


def write_bytes(path: str | Path, content: bytes, *, overwrite: bool = False) -> None:
    """Write a new file at once: a reader sees all of it or nothing."""
    with written(path, overwrite=overwrite) as file:
        file.write(content)


def write_text(path: str | Path, text: str, *, overwrite: bool = False) -> None:
    """Write a new text file at once, as UTF-8; what is there stays, unless `overwrite` is set."""
    # A lone surrogate is no text in any encoding; it can come from a file name.
    write_bytes(path, text.encode("utf-8", errors="replace"), overwrite=overwrite)


def _move(temporary: Path, path: Path, *, overwrite: bool) -> None:
    if overwrite:
        temporary.replace(path)
    else:
        try:
            os.link(temporary, path)  # unlike a rename it fails where something is
        except FileExistsError as error:
            raise OutputError(
                f"{str(path)!r} is there by now and is not overwritten; move it away and repeat, "
                "or say so (overwrite=True; on the command line: --force)"
            ) from error
        except OSError:  # a file system without links
            if os.path.lexists(path):
                raise
            temporary.rename(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Bring the name of a new file to the disk too, where folders can be opened for that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sweep(path: Path) -> None:
    """Remove what a killed writer of this file left; only for whoever holds its lock."""
    # A dot among the letters would belong to a file whose name begins like this one.
    ours = re.compile(rf"{re.escape(_hidden(path))}\.[^.]+{re.escape(_PARTIAL)}")
    with suppress(OSError):
        for left in path.parent.iterdir():
            if ours.fullmatch(left.name):
                left.unlink(missing_ok=True)


def _hidden(path: Path) -> str:
    """Return the start of the names that belong to a file; long names leave too little room."""
    name = os.fsencode(path.name)
    if len(name) <= 100:
        return f".{path.name}"
    return f".{hashlib.sha256(name).hexdigest()[:32]}"


@contextmanager
def in_use(path: str | Path, what: str) -> Iterator[None]:
    """Hold the lock of a file or folder; ParameterError says so if somebody else has it.

    The lock belongs to the process, so that nothing has to be cleaned up after a kill.
    """
    # A tenth of a second to import: only for those who lock.
    from filelock import FileLock, Timeout

    path = Path(path) if Path(path).name else Path(path).resolve()  # "." has no name of its own
    name = path.with_name(f"{_hidden(path)}.lock")
    lock = FileLock(name, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise ParameterError(
            f"{what} {str(path)!r} is in use by another run; wait for that one or name another"
        ) from error
    except (OSError, NotImplementedError) as error:
        raise ParameterError(
            f"cannot write into {str(path.parent)!r}: {_words(error)}; name another place"
        ) from error
    try:
        sweep(path)
        yield
    finally:
        # Removed while it is held: whoever opened it meanwhile sees that it has no name any more.
        with suppress(OSError):
            name.unlink()
        lock.release()


def read_limited(path: str | Path, limit: int, cure: str) -> bytes:
    """Return the bytes of a plain file; InputError if there is none or it is too large."""
    path = Path(path)
    try:
        # A pipe would keep whoever opens it waiting for a writer.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{str(path)!r} is not a plain file; {cure}")
            content = file.read(limit + 1)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {_words(error)}; {cure}") from error
    except ValueError as error:  # a null character in the name
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read {str(path)!r}: {error}; {cure}") from error
    if len(content) > limit:
        raise InputError(f"{str(path)!r} is larger than {limit / 2**20:.3g} MiB; {cure}")
    return content


def read_arrays(content: bytes, limit: int) -> dict[str, Any]:
    """Return the arrays of an npz archive of at most `limit` bytes unpacked.

    Sizes are looked at before anything is unpacked. What does not fit raises ValueError.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > limit:
                raise ValueError(f"it would unpack to more than {limit / 2**20:.3g} MiB")
            return {
                member.filename.removesuffix(".npy"): _array(archive.read(member))
                for member in members
            }
    except ValueError:
        raise
    except Exception as error:  # zipfile and zlib raise whatever they meet
        raise ValueError(str(error) or type(error).__name__) from error


def write_sealed(file: BinaryIO, arrays: Mapping[str, Any]) -> None:
    """Write arrays as an npz archive with a digest of them all."""
    content: dict[str, Any] = {**arrays, _SEAL: np.array(_digest(arrays))}
    np.savez_compressed(file, **content)


def read_sealed(content: bytes, limit: int) -> dict[str, Any]:
    """Return the arrays that `write_sealed` wrote; ValueError if one is not as it was."""
    arrays = read_arrays(content, limit)
    if str(arrays.pop(_SEAL, "")) != _digest(arrays):
        raise ValueError("it was changed after it had been written")
    return arrays


def _digest(arrays: Mapping[str, Any]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _array(content: bytes) -> Any:
    """Return the array of an npy file whose header says what the file really holds."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("an array of an unknown version")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.hasobject:
        raise ValueError("an array of Python objects")
    count = math.prod(shape)
    if count * dtype.itemsize != len(content) - file.tell():
        raise ValueError("an array whose size is not what its header says")
    array = np.frombuffer(content, dtype, count, file.tell()) if count else np.empty(0, dtype)
    # A copy: buffers cannot be written to, and may not be aligned.
    return array.reshape(shape, order="F" if fortran else "C").copy()


def _words(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
