"""Odd names of columns, and words for the {fields} of a line that damages a file."""

from __future__ import annotations

from fuzz.case import Draw

_EXECUTED = "__import__('pathlib').Path('EXECUTED').touch()"
# Names of columns that have tripped somebody.
NAMES = (
    *("a", "b", "x 1", "", " ", "é", "e\u0301", "a\nb", "a\rb", "a\r\nb", "a\u2028b", "a\tb"),
    *("\x00", "\x1b[31m", "\u202eabc", "\U0001f600", "<script>alert(1)</script>", '"quoted"'),
    *("it's", "a;b", "a,b", "a->b", "=1+1", "[red]x[/red]", "{0.__class__}", "%s", "\\", "../x"),
    *("nan", "1", "long " * 400, _EXECUTED, f"{{{{{_EXECUTED}}}}}"),
)
# Words for the {fields} of a line that damages a file, as source.
FIELDS = {
    "junk": (
        *(r"b'\x00'", r"b'\xff\xfe'", r"b'\xed\xa0\x80'", "b'\"'", r"b'\x1a'", r"b'\r'", "b','"),
        *(r"b'\n\n'", 'b"\'"', r"b'\xe2\x80\xa8'", r"b'\x1b[2J'", "b'=cmd()'"),
        "b'<script>alert(1)</script>'",
    ),
    "cell": (
        *("b'1e400'", "b'-1e400'", "b'1e-400'", "b'nan'", "b'inf'", "b'NA'", "b''", "b'1_000'"),
        *("b'0x10'", "'１２'.encode()", "b'TRUE'", "b'1/2'", "b'12:30'", "b'$5'", "b'1 000'"),
        *("b'1e200'", "b'1e308'", "b'5e-324'", "b'9' * 400", "b'1' * 200000", "b'abc'", "b'1j'"),
        *("b'2020-01-01'", "b'(1)'", "b'1e'", "b'--1'", "b'+1'", "b' 1 '", r"b'\x00'", "b'0.5.1'"),
    ),
    "mark": (r"b'\t'", "b'|'", "b';'", "b' '", "b':'", "b'::'", r"b'\x00'", "b', '", "b',,'"),
    "end": (r"b'\r\n'", r"b'\r'", r"b'\n\n'", r"b'\x0b'", r"b'\xe2\x80\xa8'", r"b'\n\r'", "b''"),
    "encoding": ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp037", "utf-7"),
    "column": ("0", "1", "2", "3"),
    "rows": ("1", "2", "3"),
}


def filled(draw: Draw, line: str) -> str:
    """Return a line with words for its {fields}."""
    words = {name: draw.one(choices) for name, choices in FIELDS.items()}
    share, names = round(draw.random.random(), 3), [draw.one(NAMES) for _ in range(5)]
    return line.format(share=share, names=names, **words)
