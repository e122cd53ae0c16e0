"""The promises of the code base as a whole: layers, public surface, no side effects, no leaks."""

from __future__ import annotations

import ast
import graphlib
import importlib
import json
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "analyticdag"

# From the bottom to the top. A module imports from the layers below it, and within its own layer
# as long as no cycle arises. A package's name stands for every module in it.
LAYERS: list[set[str]] = [
    {
        "errors",
        "_typing",
        "_parameters",
        "_tables",
        "_validation",
        "_redundant",
        "_compiled",
        "_threads",
        "_files",
        "_schema",
        "progress",
        "_watch",
        "tables",
    },
    {"graphs", "drawing", "_terms", "functions", "_arrays", "_constraint", "spectral"},
    {"matrix_functions"},
    {
        "algorithm1",
        "acyclicity",
        "nonconvexity",
        "losses",
        "interventions",
        "least_squares",
        "moments",
        "sums",
        "knowledge",
        "candidates",
        "orders",
        "extended_bic",
    },
    {"simulate", "metrics", "datasets"},
    {"optimize", "search", "noise_shape"},
    {"effects", "fitting"},
    {"linear", "nonlinear", "baselines"},
    {"stability", "diagnostics", "io", "report"},
    {"__init__"},
    {"cli", "__main__"},
]

FORBIDDEN_AT_IMPORT = ["torch", "typer", "rich", "jinja2", "dask", "matplotlib", "cupy"]


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}
HARNESS = {f"benchmarks/{path.name}": path for path in sorted((ROOT / "benchmarks").glob("*.py"))}


def layer(module: str) -> int:
    top = module.split(".")[0]
    return next(level for level, names in enumerate(LAYERS) if top in names)


def absolute(module: str, path: Path, node: ast.ImportFrom) -> str:
    """Name of the module in ``from X import ...``, relative imports resolved."""
    if not node.level:
        return node.module or ""
    package = ["analyticdag", *module.split(".")]
    drop = node.level - 1 if path.name == "__init__.py" and module != "__init__" else node.level
    return ".".join([*package[: len(package) - drop], *filter(None, [node.module])])


def imports(module: str, path: Path) -> set[str]:
    """The modules of this package that ``module`` imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = absolute(module, path, node)
            # The version is the first line of the package: reading it depends on nothing above.
            names = {alias.name for alias in node.names} - {"__version__"}
            found |= {f"{base}.{name}" for name in names}
    prefix = "analyticdag."
    inside = {name.removeprefix(prefix) for name in found if name.startswith(prefix)}
    return {resolve(name) for name in inside} - {module}


def resolve(name: str) -> str:
    """The longest prefix of a dotted name that is a module; else the package itself."""
    while name not in MODULES and "." in name:
        name = name.rpartition(".")[0]
    return name if name in MODULES else "__init__"


def public_modules() -> list[str]:
    """Modules and packages right below the root: a package's own __all__ speaks for its inside."""
    top = [name for name in MODULES if "." not in name]
    return [name for name in top if name == "__init__" or not name.startswith("_")]


def load(module: str) -> types.ModuleType:
    return importlib.import_module(
        "analyticdag" if module == "__init__" else f"analyticdag.{module}"
    )


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_layer(module: str) -> None:
    assert any(module.split(".")[0] in names for names in LAYERS), (
        f"{module} is in no layer: add it to LAYERS (and to docs/design.md)"
    )


@pytest.mark.parametrize("module", MODULES)
def test_layers_import_downward(module: str) -> None:
    upward = {name for name in imports(module, MODULES[module]) if layer(name) > layer(module)}
    assert not upward, f"{module} imports from a layer above it: {sorted(upward)}"


def test_no_import_cycles() -> None:
    graph = {module: imports(module, path) for module, path in MODULES.items()}
    graphlib.TopologicalSorter(graph).prepare()  # CycleError names the cycle


def test_the_import_reader_sees_through_every_spelling(tmp_path: Path) -> None:
    """The guard of the guards: a reader that finds nothing would pass every test above."""
    sample = tmp_path / "sample.py"
    sample.write_text(
        "from analyticdag import errors, __version__\n"
        "import analyticdag._typing\n"
        "def late():\n    from .io.folder import load_run\n"
    )
    assert imports("sample", sample) == {"errors", "_typing", "io.folder"}


@pytest.mark.parametrize("module", public_modules())
def test_every_public_module_declares_its_surface(module: str) -> None:
    loaded = load(module)
    declared = getattr(loaded, "__all__", None)
    assert declared is not None, f"{module} has no __all__"
    missing = [name for name in declared if not hasattr(loaded, name)]
    assert not missing, f"{module}.__all__ names what does not exist: {missing}"


@pytest.mark.parametrize("module", public_modules())
def test_all_is_the_public_surface(module: str) -> None:
    loaded = load(module)
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = {node.name for node in tree.body if isinstance(node, definitions)}
    public = {name for name in defined if not name.startswith("_")}
    hidden = public - set(loaded.__all__)
    assert not hidden, f"{module}: put into __all__, or give an underscore: {sorted(hidden)}"


@pytest.mark.parametrize("module", MODULES)
def test_the_package_knows_nothing_of_its_benchmarks(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    from_ = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    plain = {n.name for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names}
    assert "benchmarks" not in {name.split(".")[0] for name in from_ | plain}


@pytest.mark.parametrize("module", [*MODULES, *HARNESS])
def test_modules_stay_small(module: str) -> None:
    text = {**MODULES, **HARNESS}[module].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400, f"{module} is too long: split it"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= 70, f"{module}.{node.name} has {length} lines: split it"


@pytest.mark.parametrize("module", [name for name in MODULES if name != "cli"])
def test_only_the_command_line_prints(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    printing = [f.id for f in calls if isinstance(f, ast.Name) and f.id == "print"]
    assert not printing, f"{module} prints; return the text and let cli.py print it"


SIDE_EFFECTS = """
import json, logging, random, sys, warnings
import numpy as np

def state():
    return {
        "print options": repr(np.get_printoptions()),
        "error state": repr(np.geterr()),
        "numpy seed": repr(np.random.get_state()[1][:8].tolist()),
        "random seed": repr(random.getstate()[1][:8]),
        "handlers": repr(logging.getLogger().handlers),
        "level": logging.getLogger().level,
        "our handlers": repr(logging.getLogger("analyticdag").handlers),
        "our level": logging.getLogger("analyticdag").level,
        "filters": repr(warnings.filters),
    }

# The libraries we build on may do as they like: only what we add to them counts.
import scipy.linalg, scipy.sparse.csgraph, networkx
try:
    import sklearn.base, sklearn.linear_model, sklearn.utils.validation
except ImportError:
    pass
before = state()
import analyticdag
for name in analyticdag.__all__:
    getattr(analyticdag, name)
after = state()
print(json.dumps({
    "changed": [key for key in before if before[key] != after[key]],
    "modules": sorted(sys.modules),
}))
"""


def in_fresh_interpreter(script: str) -> dict[str, list[str]]:
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    report: dict[str, list[str]] = json.loads(result.stdout)
    return report


def test_importing_has_no_side_effect() -> None:
    report = in_fresh_interpreter(SIDE_EFFECTS)
    assert report["changed"] == []


def loaded_with(name: str) -> list[str]:
    script = f"import json, sys, {name}; print(json.dumps({{'modules': sorted(sys.modules)}}))"
    return in_fresh_interpreter(script)["modules"]


def test_importing_leaves_optional_libraries_alone() -> None:
    loaded = loaded_with("analyticdag")
    assert [name for name in FORBIDDEN_AT_IMPORT if name in loaded] == []


def test_help_is_shown_without_numpy() -> None:
    loaded = loaded_with("analyticdag.cli")
    assert [name for name in ("numpy", "scipy", "networkx", "sklearn") if name in loaded] == []


def tracked_text_files() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = [name for name in listed.split("\0") if name]
    binary = {".png", ".gz", ".npz", ".zip"}
    return [path for name in names if (path := ROOT / name).is_file() and path.suffix not in binary]


def test_no_machine_is_named_in_the_repository() -> None:
    # Spelled in pieces so that this file passes its own test.
    roots = "|".join(["home", "Users", "tmp", "opt", "work", "root", "mnt"])
    machine = re.compile(
        rf"(?<![\w.*}}/-])/(?:{roots})/\w"  # a path on somebody's disk
        + r"|(?<![\w.=])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])"  # an address on somebody's network
    )
    hits = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in tracked_text_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if machine.search(line)
    ]
    assert not hits, "\n".join(hits)


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize(
    "package", sorted(path.parent for path in PACKAGE.rglob("__init__.py")), ids=lambda p: p.name
)
def test_maps_name_every_room(package: Path) -> None:
    """The docstring of a package names its modules; `docs/design.md` does for the outermost."""
    inside = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    inside |= {path.parent.name for path in package.glob("*/__init__.py")}
    text = (ROOT / "docs" / "design.md").read_text("utf-8")
    if package != PACKAGE:
        text = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    named = set(re.findall(r"\w+", text))
    assert inside <= named, f"the map of {package.name} leaves out {sorted(inside - named)}"
    gone = set(re.findall(r"^\| `(\w+)\.py`", text, re.MULTILINE)) - inside
    assert not gone, f"the map of {package.name} shows {sorted(gone)}, which are gone"


# Records of the kernels, which nobody else sees.
OF_KERNELS = {"Column", "State", "Stop"}


def test_a_class_name_stands_for_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name not in OF_KERNELS:
                homes.setdefault(node.name, []).append(module)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/design.md"])
def test_files_that_a_page_names_exist(page: str) -> None:
    named = set(re.findall(r"`([\w./-]+/[\w-]+\.py)`", (ROOT / page).read_text("utf-8")))
    assert named
    places = (ROOT, PACKAGE)
    gone = [name for name in named if not any((place / name).exists() for place in places)]
    assert not gone, f"{page} names {sorted(gone)}, which are gone"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/getting-started.md"])
def test_documented_commands_exist(page: str) -> None:
    mentioned = set(
        re.findall(r"(?:^|`)make ([a-z-]+)", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    )
    assert mentioned
    assert mentioned <= make_targets()


def test_the_readme_opens_with_its_two_commands() -> None:
    first_screen = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:25]
    assert {"make demo", "make test"} <= {line.split("#")[0].strip() for line in first_screen}


def test_ci_runs_what_the_readme_says() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    commands = [line.split("|")[0].split("2>")[0].strip() for line in lines]
    ours = [command for command in commands if command.startswith("make ")]
    checks = ["make test", "make lint", "make type", "make docs"]
    assert ours == [*checks, "make fuzz BUDGET=0.01", "make bench PLAN=quick"]
    assert "set -euo pipefail" in commands
