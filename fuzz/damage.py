"""How the bytes of a file are damaged: functions that the lines of a case call."""

from __future__ import annotations

import csv
import io
import struct
import zlib

import numpy as np

GRAPHML = (
    b"<graphml><graph edgedefault='directed'><node id='a'/><node id='b'/>"
    b"<edge source='a' target='b'/></graph></graphml>"
)
# Entities that stand for each other forty times over, and one that stands for a file.
LAUGHS = (
    b"<!DOCTYPE g [<!ENTITY a 'ha'>"
    + b"".join(b"<!ENTITY %c '%s'>" % (b + 1, b"&%c;" % b * 40) for b in b"abcdefgh")
    + b"]>"
)
ENTITY = b"<!DOCTYPE g [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>"


def cut(raw: bytes, share: float) -> bytes:
    """Return the first part of a file."""
    return raw[: int(share * len(raw))]


def insert(raw: bytes, share: float, junk: bytes) -> bytes:
    """Return a file with something put into it."""
    return cut(raw, share) + junk + raw[int(share * len(raw)) :]


def flip(raw: bytes, share: float, bit: int) -> bytes:
    """Return a file with one bit turned round."""
    changed = bytearray(raw)
    if changed:
        changed[int(share * len(changed))] ^= 1 << bit
    return bytes(changed)


def first_rows(raw: bytes, count: int) -> bytes:
    """Return the first rows of a table."""
    return b"\n".join(raw.splitlines()[:count])


def add_row(raw: bytes, row: bytes) -> bytes:
    """Return a table with one more row."""
    return raw.rstrip() + b"\n" + row + b"\n"


def open_quote(raw: bytes) -> bytes:
    """Return a table with a quote that nothing closes."""
    return add_row(raw.replace(b'"', b""), b'"1')


def with_cell(raw: bytes, cell: bytes) -> bytes:
    """Return a table with another first cell in its last row."""
    *rows, last = raw.rstrip().split(b"\n")
    return b"\n".join([*rows, b",".join([cell, *last.split(b",")[1:]])])


def with_names(raw: bytes, names: list[str]) -> bytes:
    """Return a table with other names in its first row."""
    first, *rest = raw.split(b"\n")
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(names[: first.count(b",") + 1])
    return line.getvalue().encode("utf-8", "surrogatepass") + b"\n".join(rest)


def with_words(raw: bytes, column: int) -> bytes:
    """Return a table with words in one column."""
    first, *rest = raw.strip().split(b"\n")
    rows = [row.split(b",") for row in rest]
    for k, row in enumerate(rows):
        row[column % len(row)] = (b"low", b"high", b"")[k % 3]
    return b"\n".join([first, *(b",".join(row) for row in rows)])


def encoded(raw: bytes, encoding: str) -> bytes:
    """Return a text in another encoding; bytes that are no text are taken one by one."""
    return raw.decode("latin-1").encode(encoding)


def bomb(size: int = 3 << 30) -> bytes:
    """Return a small .npz file whose entries claim, and hold, gigabytes of zeros."""
    header = io.BytesIO()
    side = int((size / 8) ** 0.5)
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (side, side)}
    )
    # A mebibyte of zeros, packed once and repeated: each piece ends where a byte ends.
    packed = _packed(header.getvalue()) + _packed(bytes(1 << 20)) * (size >> 20)
    packed += zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    total = len(header.getvalue()) + (size >> 20 << 20)
    content, directory = b"", b""
    names = ("weights", "adjacency", "cpdag", "header", "note", "edges")
    for name in (f"{name}.npy".encode() for name in names):
        sizes = struct.pack("<LLLHH", 0, len(packed), total, len(name), 0)
        common = struct.pack("<HHHHH", 20, 0, 8, 0, 0) + sizes
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + common
        directory += struct.pack("<HHHLL", 0, 0, 0, 0, len(content)) + name
        content += b"PK\x03\x04" + common + name + packed
    tail = struct.pack("<HHHHLLH", 0, 0, len(names), len(names), len(directory), len(content), 0)
    return content + directory + b"PK\x05\x06" + tail


def _packed(content: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(content) + packer.flush(zlib.Z_FULL_FLUSH)
