"""Compile the kernels. Everything else about the package stands in pyproject.toml.

A package with kernels has a file ``kernels.py``, which imports what Python calls. The pieces that
are needed for it (modules that import ``cython``) become one C file by way of Cython, and that
becomes an extension module in each build: ``_baseline/kernels`` for every processor and, on x86,
``_v3/kernels`` for those with AVX2 and FMA. What all need to read arrays is compiled once, as
``_compiled/_views``. See docs/design/compiled.md.
"""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCES = Path("src")
GENERATED = Path("build", "kernels")
PACKAGE = "analyticdag"
VIEWS = f"{PACKAGE}._compiled._views"
MARK = f"from {PACKAGE}._compiled import cython"  # a module with this line is a piece of kernels

# What kernels write, and what Cython reads instead. A part is a C function that needs no
# interpreter lock and raises nothing.
PART = "@cython.cfunc\n@cython.inline\n@cython.nogil\n@cython.exceptval(check=False)"
WORDS = {
    re.escape(MARK): "import cython",
    rf"from {PACKAGE}\._compiled\.libc import": "from cython.cimports.libc.math import",
    r"@cython\.part\b": PART,
    r"cython\.doubles\b": "cython.double[::1]",
    r"cython\.longlongs\b": "cython.longlong[::1]",
    r"cython\.uchars\b": "cython.uchar[::1]",
}
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "nonecheck": False,
    "cdivision": True,  # division by zero gives inf or nan, as in NumPy
    "infer_types": True,
    "freethreading_compatible": True,  # kernels touch only what they are given
    "warn.unreachable": False,  # the interpreted half of `if cython.compiled`
}

# Fused multiply-add is allowed, reordering of sums is not: results do not depend on how many
# numbers a processor adds at once. Without errno, sqrt is one instruction.
GCC = ["-O3", "-g0", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"]
MSVC = ["/O2", "/fp:contract"]
ZIG = f"{sys.executable} -m ziglang cc"


def units() -> list[Path]:
    """The files ``kernels.py``: each is the way into one extension module."""
    return sorted((SOURCES / PACKAGE).rglob("kernels.py"))


def source_of(unit: Path) -> str:
    """All pieces of a unit as one file in the words of Cython."""
    pieces: list[Path] = []
    for module in imported(unit):
        collect(module, pieces)
    check_names(pieces)
    return "\n\n".join(f"# {piece.name}\n{in_cython(piece, pieces)}" for piece in pieces)


def mark_of(unit: Path) -> str:
    """What tells one version of a unit's source from another; compiled in as ``SOURCE``."""
    return hashlib.sha256(source_of(unit).encode()).hexdigest()[:16]


def imported(file: Path) -> list[Path]:
    """Files of this package that one imports at its top."""
    names = [
        node.module
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module
    ]
    files = [SOURCES.joinpath(*name.split(".")).with_suffix(".py") for name in names]
    return [file for file in files if file.is_file()]


def collect(file: Path, pieces: list[Path]) -> None:
    """Append a piece after those that it imports."""
    if file in pieces or MARK not in file.read_text("utf-8"):
        return
    for other in imported(file):
        collect(other, pieces)
    pieces.append(file)


def check_names(pieces: list[Path]) -> None:
    """Pieces share one name space, where a second meaning would silently replace the first."""
    homes: dict[str, Path] = {}
    for piece in pieces:
        for name in defined(piece):
            if name in homes:
                raise SystemExit(f"{piece} and {homes[name]} both define {name}: rename one")
            homes[name] = piece


def defined(piece: Path) -> set[str]:
    """Names of the functions, classes and constants at the top of a piece."""
    names = set()
    for node in ast.parse(piece.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def in_cython(piece: Path, pieces: list[Path]) -> str:
    """A piece without what it imports from the others, in the words of Cython."""
    text = piece.read_text("utf-8")
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if from_a_piece(node, pieces) or number(node):
            for line in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[line] = ""
    text = "\n".join(lines)
    for word, meaning in {**WORDS, **constants(pieces)}.items():
        text = re.sub(word, meaning, text)
    return text


def from_a_piece(node: ast.stmt, pieces: list[Path]) -> bool:
    """Whether a statement imports what the same file holds (or annotations, which Cython reads)."""
    if not isinstance(node, ast.ImportFrom) or not node.module:
        return False
    home = SOURCES.joinpath(*node.module.split(".")).with_suffix(".py")
    return home in pieces or node.module == "__future__"


def number(node: ast.stmt) -> tuple[str, str] | None:
    """Name and value, where a statement gives a number a name."""
    if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
        return None
    if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, int | float)):
        return None
    return node.targets[0].id, ast.unparse(node.value)


def constants(pieces: list[Path]) -> dict[str, str]:
    """Named numbers, which are written out: to Cython a global name is a Python object."""
    nodes = [node for piece in pieces for node in ast.parse(piece.read_text("utf-8")).body]
    return {rf"(?<![\w.]){name}\b": value for name, value in filter(None, map(number, nodes))}


def translated(unit: Path) -> Path:
    """The C file of a unit; written anew only where its source has changed."""
    name = dotted(unit.with_suffix(""))
    python = GENERATED / name / "kernels.py"
    c_file = python.with_suffix(".c")
    text = f'{source_of(unit)}\n\nSOURCE = "{mark_of(unit)}"\n'
    if not (c_file.exists() and python.exists() and python.read_text("utf-8") == text):
        from Cython.Build import cythonize

        python.parent.mkdir(parents=True, exist_ok=True)
        c_file.unlink(missing_ok=True)
        python.write_text(text, "utf-8")
        cythonize(
            [Extension(name, [str(python)])],
            compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=VIEWS,
            quiet=True,
            force=True,
        )
    return c_file


def dotted(path: Path) -> str:
    """Name of the module or package at a path."""
    return ".".join(path.relative_to(SOURCES).parts)


def views() -> Path:
    """The C file of what all kernels share: Cython's code for reading arrays."""
    c_file = GENERATED / "_views.c"
    if not c_file.exists():
        c_file.parent.mkdir(parents=True, exist_ok=True)
        words = ["-m", "cython", "-3", f"--generate-shared={c_file}", f"--module-name={VIEWS}"]
        subprocess.run([sys.executable, *words], check=True)
    return c_file


def is_x86() -> bool:
    """Whether the machine that the package is built for is a 64-bit x86."""
    return sysconfig.get_platform().endswith(("x86_64", "amd64", "universal2"))


def builds(msvc: bool, zig: bool) -> dict[str, list[str]]:
    """The builds of every unit, with what the compiler is told for each."""
    if msvc:
        return {"baseline": MSVC, **({"v3": [*MSVC, "/arch:AVX2"]} if is_x86() else {})}
    if zig:  # which otherwise compiles for the machine at hand
        flags = [*GCC, "-fno-sanitize=undefined"]
        return (
            {"baseline": [*flags, "-mcpu=x86_64"], "v3": [*flags, "-mcpu=x86_64_v3"]}
            if is_x86()
            else {"baseline": [*flags, "-mcpu=baseline"]}
        )
    return {"baseline": GCC, **({"v3": [*GCC, "-march=x86-64-v3"]} if is_x86() else {})}


def compiler_is_missing() -> bool:
    """No C compiler here, though Python's headers are: ziglang from PyPI can help."""
    if os.name == "nt" or not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return False
    asked = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return shutil.which(asked.split()[0]) is None


def extensions() -> list[Extension]:
    """Every unit in every build, and what they share."""
    flags = builds(platform.system() == "Windows", "ziglang" in os.environ.get("CC", ""))
    found = [extension(VIEWS, views(), flags["baseline"])]
    for unit in units():
        c_file = translated(unit)
        for build, arguments in flags.items():
            (unit.parent / f"_{build}").mkdir(exist_ok=True)  # for builds in place
            # A copy for each build: their object files would otherwise have the same name.
            copy = c_file.parent / build / c_file.name
            if not copy.exists() or copy.read_bytes() != c_file.read_bytes():
                copy.parent.mkdir(exist_ok=True)
                shutil.copyfile(c_file, copy)
            found.append(extension(f"{dotted(unit.parent)}._{build}.kernels", copy, arguments))
    return found


def extension(name: str, c_file: Path, arguments: list[str]) -> Extension:
    """An extension module that may be missing: without it the kernels run as Python, and say so."""
    return Extension(name, [str(c_file)], extra_compile_args=arguments, optional=True)


class BuildInParallel(build_ext):
    """The extensions beside one another: each takes a processor several seconds."""

    def finalize_options(self) -> None:
        """Use every processor unless told otherwise."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()


if __name__ == "__main__":
    missing = compiler_is_missing()
    if missing and find_spec("ziglang"):
        os.environ["CC"] = ZIG
        os.environ["LDSHARED"] = f"{ZIG} -shared"
    setup(
        ext_modules=extensions(),
        cmdclass={"build_ext": BuildInParallel},
        setup_requires=["ziglang"] if missing else [],
    )
