from __future__ import annotations

import csv
import io
import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import (
    AnalyticDAGWarning,
    InputError,
    MissingDependencyError,
    ParameterError,
)
from analyticdag.io import (
    SavedRun,
    audit_table,
    dagitty,
    dot,
    edges_csv,
    free_folder,
    graphml,
    load_run,
    manifest_of,
    record_of,
    run_of_weights,
    save_run,
    to_causallearn,
    to_dowhy,
    to_networkx,
    to_pgmpy,
)
from analyticdag.io.audit import varsortability
from analyticdag.knowledge import Knowledge
from analyticdag.optimize import Schedule
from analyticdag.optimize.adam import Adam
from analyticdag.simulate import simulate

COLLIDER = np.array([[0, 0, 1.5, 0], [0, 0, -0.5, 0], [0, 0, 0, 0.7], [0, 0, 0, 0]])
HOSTILE = (
    "<script>alert('x')</script>",
    '"quoted", with \\ backslash\\',
    "=1+1",
    "🧬 emoji\nand a line break",
    "n" * 10_000,
    "nul \0 and \x01",
)


def run_of_chain(names: tuple[str, ...]) -> SavedRun:
    return run_of_weights(np.diag(np.full(len(names) - 1, 0.5), 1), names)


@pytest.fixture
def run() -> SavedRun:
    return run_of_weights(COLLIDER, ["a", "b", "c", "d"], manifest={"seed": 7})


def fitted(**options: object) -> AnalyticDAG:
    data = simulate("ER1", n_nodes=4, n_samples=60, seed=1).data
    schedule = Schedule.geometric(s=(1.0, 0.9), max_steps=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalyticDAGWarning)
        return AnalyticDAG(
            loss="mse", solver=Adam(schedule=schedule), refine=False, w_threshold=0.0, **options
        ).fit(data)


def test_a_run_comes_back_as_it_was(run: SavedRun, tmp_path: Path) -> None:
    loaded = load_run(save_run(run, tmp_path / "run"))
    for name in SavedRun.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(run, name), err_msg=name)


def test_an_estimator_is_recorded(tmp_path: Path) -> None:
    data = simulate("ER1", n_nodes=4, n_samples=60, seed=1).data
    model = fitted(knowledge=Knowledge(required_edges=[(0, 1)], forbidden_edges=[(3, 2)]))
    audit = audit_table(data, model.adjacency_matrix_.astype(bool))
    manifest = manifest_of(
        source="x.csv", sha256="0", shape=data.shape, parameters={}, seed=None, command=["a b", "c"]
    )
    record = record_of(model, audit=audit, manifest=manifest)
    loaded = load_run(save_run(record, tmp_path / "run"))
    np.testing.assert_array_equal(loaded.weights, model.weights_)
    assert loaded.names == ("0", "1", "2", "3")
    assert loaded.status == model.status_.name
    assert [row["stage"] for row in loaded.trace] == [0, 1]
    assert loaded.audit == audit
    assert loaded.parameters["w_threshold"] == 0.0
    assert loaded.manifest["command"] == "'a b' c"
    edge = loaded.edges[0]
    sd = data.std(axis=0)
    expected = model.weights_[edge.source, edge.target] * sd[edge.source] / sd[edge.target]
    assert edge.standardized == pytest.approx(expected)


def test_what_fixed_a_direction() -> None:
    knowledge = Knowledge(forbidden_edges=[("e", "d")])
    W = np.zeros((6, 6))
    W[0, 2] = W[1, 2] = W[3, 4] = W[4, 5] = 1.0
    run = run_of_weights(W, ["a", "b", "c", "d", "e", "f"], knowledge=knowledge)
    assert [edge.fixed_by for edge in run.edges] == [
        *("collider", "collider"),
        *("knowledge", "knowledge"),  # the second follows: turned round it would make a collider
    ]
    assert [edge.kind for edge in run.edges] == ["data", "data", "knowledge", "knowledge"]
    assert run_of_chain(("a", "b")).edges[0].kind == "open"


def test_nothing_is_overwritten(run: SavedRun, tmp_path: Path) -> None:
    folder = save_run(run, tmp_path / "run")
    with pytest.raises(ParameterError, match=r"already holds a run .* never overwritten"):
        save_run(run, folder)
    assert free_folder(folder) == tmp_path / "run-2"
    save_run(run, free_folder(folder))
    assert free_folder(folder) == tmp_path / "run-3"
    with pytest.raises(ParameterError, match="is a file; name a folder"):
        save_run(run, folder / "edges.csv")
    other = tmp_path / "with-data"
    other.mkdir()
    (other / "data.csv").write_text("kept")
    save_run(run, other)
    assert (other / "data.csv").read_text() == "kept"


def test_a_half_written_folder_is_no_run(run: SavedRun, tmp_path: Path) -> None:
    folder = save_run(run, tmp_path / "run")
    (folder / "model.json").unlink()
    with pytest.raises(InputError, match="name the folder of a saved run"):
        load_run(folder)
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def damaged_model(folder: Path, **changes: object) -> None:
    model = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**model, **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": "another"}, "is not the model of an analyticdag run"),
        ({"version": 1}, "has version 1 and this package reads 2"),
        ({"certificate": {"order": [3, 2, 1, 0], "h": 0}}, "order does not fit the graph"),
        ({"certificate": {"order": [0, 1, 2, 2], "h": 0}}, "must list every column once"),
        ({"names": ["a", "b", "c"]}, r"weights must be a \(3, 3\) matrix"),
        ({"names": ["a", "b", "c", "c"]}, "names that differ"),
        ({"weights_sha256": "0"}, "not the file that model.json was saved with"),
        ({"edges": []}, "table of edges does not fit"),
        ({"edges": [{"who": 1}]}, "is damaged"),
    ],
)
def test_loading_checks_what_it_reads(
    run: SavedRun, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    folder = save_run(run, tmp_path / "run")
    damaged_model(folder, **changes)
    with pytest.raises(InputError, match=message):
        load_run(folder)


def test_a_cycle_is_named_when_it_is_loaded() -> None:
    W = COLLIDER.copy()
    W[3, 0] = 1.0
    with pytest.raises(InputError, match="has the cycle"):
        run_of_weights(W, ["a", "b", "c", "d"])


def test_weights_and_class_must_fit_the_graph(run: SavedRun) -> None:
    parts = {name: getattr(run, name) for name in SavedRun.__dataclass_fields__}
    with pytest.raises(InputError, match="weights do not fit"):
        SavedRun(**{**parts, "weights": run.weights + np.eye(4)})
    with pytest.raises(InputError, match="CPDAG does not fit"):
        SavedRun(**{**parts, "cpdag": np.zeros((4, 4), dtype=int)})


def test_no_pickle_is_ever_opened(run: SavedRun, tmp_path: Path) -> None:
    folder = save_run(run, tmp_path / "run")
    np.savez(folder / "weights.npz", weights=np.array([{"a": 1}], dtype=object))
    import hashlib

    digest = hashlib.sha256((folder / "weights.npz").read_bytes()).hexdigest()
    damaged_model(folder, weights_sha256=digest)
    with pytest.raises(InputError, match="damaged"):
        load_run(folder)


def test_the_archive_holds_plain_arrays(run: SavedRun, tmp_path: Path) -> None:
    with zipfile.ZipFile(save_run(run, tmp_path / "run") / "weights.npz") as archive:
        assert archive.namelist() == ["weights.npy", "adjacency.npy", "cpdag.npy"]


def test_json_files_must_be_json(run: SavedRun, tmp_path: Path) -> None:
    folder = save_run(run, tmp_path / "run")
    (folder / "manifest.json").write_text("[]")
    with pytest.raises(InputError, match="must hold a JSON object"):
        load_run(folder)
    (folder / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="is not valid JSON"):
        load_run(folder)


@pytest.mark.parametrize("render", [edges_csv, dot, dagitty, graphml])
def test_no_file_gives_orders_to_a_terminal(render: Callable[..., str]) -> None:
    text = render(run_of_chain(("red\x1b[31m", "red\x07[31m", "bell\x9b")))
    assert not set(text) & {"\x1b", "\x07", "\x9b"}
    if render is not graphml:  # which can hold the last one, and escapes it
        assert "red\ufffd[31m (2)" in text  # names stay apart


def test_hostile_names_survive_every_file(tmp_path: Path) -> None:
    run = run_of_chain(HOSTILE)
    folder = save_run(run, tmp_path / "run")
    assert load_run(folder).names == HOSTILE
    graph = nx.read_graphml(folder / "graph.graphml")
    labels = list(nx.get_node_attributes(graph, "label").values())
    assert labels == [*HOSTILE[:5], "nul \ufffd and \ufffd"]
    rows = list(csv.DictReader(io.StringIO((folder / "edges.csv").read_text(encoding="utf-8"))))
    assert [row["source"] for row in rows] == [*HOSTILE[:2], "'=1+1", *HOSTILE[3:5]]


@pytest.mark.parametrize("render", [dot, dagitty])
def test_quotes_stay_closed(render: object) -> None:
    text = render(run_of_chain(HOSTILE))  # type: ignore[operator]
    # Take out every string, as a reader of these formats does: no name may be left over.
    outside, inside, escaped = [], False, False
    for character in text:
        if not inside and character != '"':
            outside.append(character)
        if character == '"' and not escaped:
            inside = not inside
        escaped = character == "\\" and not escaped
    assert not inside
    bare = "".join(outside)
    assert not any(word in bare for word in ("script", "quoted", "emoji", "nnn", "1+1"))
    assert bare.count("->") == len(HOSTILE) - 1


def test_names_that_collide_in_xml_stay_apart() -> None:
    graph = nx.parse_graphml(graphml(run_of_chain(("\x01", "\x02"))))
    assert list(graph.nodes) == ["\ufffd", "\ufffd (2)"]


def test_every_formula_is_defused() -> None:
    names = ("=1", "+1", "-1", "@x", "\t=1", " =1", "plain")
    rows = list(csv.reader(io.StringIO(edges_csv(run_of_chain(names)))))[1:]
    assert [row[0] for row in rows] == [f"'{name}" for name in names[:-1]]
    assert rows[-1][1] == "plain"


def test_networkx_keeps_a_required_edge_of_weight_zero(run: SavedRun) -> None:
    weights = run.weights.copy()
    weights[2, 3] = 0.0
    edges = tuple(
        edge if edge.target != 3 else type(edge)(2, 3, 0.0, "knowledge") for edge in run.edges
    )
    parts = {name: getattr(run, name) for name in SavedRun.__dataclass_fields__}
    graph = to_networkx(SavedRun(**{**parts, "weights": weights, "edges": edges}))
    assert graph.edges["c", "d"] == {"weight": 0.0, "fixed_by": "knowledge", "open": False}


def test_dowhy_reads_the_string_as_gml(run: SavedRun) -> None:
    # DoWhy hands a string that looks like "graph [...]" to networkx's GML reader.
    graph = nx.parse_gml(to_dowhy(run))
    assert set(graph.edges) == {("a", "c"), ("b", "c"), ("c", "d")}
    assert set(nx.parse_gml(to_dowhy(run_of_chain(HOSTILE[:5])))) == set(HOSTILE[:5])


@pytest.mark.filterwarnings("ignore")  # of DoWhy about pandas
@pytest.mark.parametrize("names", [tuple("abcd"), HOSTILE[:4]])
def test_dowhy_itself_finds_an_effect_on_the_graph(names: tuple[str, ...]) -> None:
    dowhy = pytest.importorskip("dowhy")
    pandas = pytest.importorskip("pandas")
    W = np.array([[0, 0, 1, 1], [0, 0, 0.5, 0], [0, 0, 0, 2], [0, 0, 0, 0]], dtype=float)
    X = np.random.default_rng(0).normal(size=(1000, 4)) @ np.linalg.inv(np.eye(4) - W)
    model = dowhy.CausalModel(
        pandas.DataFrame(X, columns=list(names)),
        treatment=names[2],
        outcome=names[3],
        graph=to_dowhy(run_of_weights(W, names)),
    )
    effect = model.identify_effect(proceed_when_unidentifiable=True)
    assert names[0] in effect.get_backdoor_variables()  # the common cause must be adjusted for
    estimate = model.estimate_effect(effect, method_name="backdoor.linear_regression")
    assert estimate.value == pytest.approx(2.0, abs=0.1)


def test_causallearn(run: SavedRun) -> None:
    pytest.importorskip("causallearn")
    graph = to_causallearn(run)
    nodes = {node.get_name(): node for node in graph.get_nodes()}
    assert graph.is_directed_from_to(nodes["a"], nodes["c"])


def test_packages_that_are_not_there_are_named(
    run: SavedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pgmpy.base", None)
    monkeypatch.setitem(sys.modules, "causallearn.graph.Edge", None)
    for convert in (to_pgmpy, to_causallearn):
        with pytest.raises(MissingDependencyError, match=r"analyticdag\[interop\]"):
            convert(run)


def test_pgmpy(run: SavedRun) -> None:
    pytest.importorskip("pgmpy")
    assert set(to_pgmpy(run).edges) == {("a", "c"), ("b", "c"), ("c", "d")}


def test_the_audit_sees_what_is_wrong() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5)) * [1, 2, 3, 4, 5]
    X[:, 3], X[:, 4] = 7.0, 2.0 * X[:, 0]
    audit = audit_table(X, np.zeros((5, 5), dtype=bool), rows_dropped=3)
    assert [column.constant for column in audit.columns] == [False, False, False, True, False]
    assert audit.copies == ((0, 4),)
    assert (audit.n_rows, audit.rows_dropped, audit.varsortability) == (50, 3, None)
    X[:, 4] = X[:, 0] + X[:, 1]
    again = audit_table(X, np.zeros((5, 5), dtype=bool))
    assert (again.copies, again.collinear) == ((), True)
    scaled = (X[:, :3] - X[:, :3].mean(axis=0)) / X[:, :3].std(axis=0)
    assert audit_table(scaled, np.zeros((3, 3), dtype=bool)).standardised


def test_varsortability_counts_paths_of_each_length() -> None:
    chain = np.diag([True, True], 1)
    assert varsortability(chain, np.array([1.0, 2.0, 3.0])) == 1.0
    assert varsortability(chain, np.array([3.0, 2.0, 1.0])) == 0.0
    # 0 -> 1 up, 1 -> 2 down, 0 -> 2 a tie.
    assert varsortability(chain, np.array([1.0, 2.0, 1.0])) == pytest.approx(0.5)
