"""Whatever a saved run, a graph file or a checkpoint was turned into: one line, or it is whole."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import re
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag.errors import DataError, InputError
from analyticdag.io import (
    audit_table,
    dagitty,
    dot,
    edges_csv,
    graphml,
    load_run,
    manifest_of,
    record_of,
    run_of_weights,
    save_run,
)
from analyticdag.io.convert import read_graph
from analyticdag.report import render_report
from analyticdag.simulate import simulate

ODD: tuple[Any, ...] = (None, True, -1, 1e308, 10**30, "x", [[]], {"a": []})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has everything a run can have."""
    data = simulate("ER1", n_nodes=4, n_samples=60, seed=1).data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AnalyticDAG(loss="mse", lambda1="auto", refine=False).fit(data)
    audit = audit_table(data, model.adjacency_matrix_.astype(bool), notes=("a note",))
    manifest = manifest_of(
        source="t.csv", sha256="0", shape=data.shape, parameters={}, seed=1, command=["fit", "it"]
    )
    run = record_of(model, audit=audit, manifest=manifest)
    assert run.edges
    assert run.trace
    assert run.selection
    return save_run(run, tmp_path_factory.mktemp("gate") / "run")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in plain data; of a long list the first two entries stand for all."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2])
    if isinstance(value, dict | list):
        for key, item in inner:
            yield from (
                places(item, (*path, key)) if isinstance(item, dict | list) else [(*path, key)]
            )


def replaced(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(record)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


@pytest.mark.parametrize("name", ["model.json", "manifest.json"])
def test_a_tampered_run_is_refused_or_its_report_is_whole(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)  # our own layout is the quicker one
    text = (folder / name).read_text("utf-8")
    record, refused, several_lines = json.loads(text), 0, 0
    try:
        for path in places(record):
            for value in ODD:
                (folder / name).write_text(json.dumps(replaced(record, path, value)), "utf-8")
                try:
                    run = load_run(folder)
                except InputError as error:
                    refused += 1
                    several_lines += "\n" in str(error)
                else:
                    render_report(run)
    finally:
        (folder / name).write_text(text, "utf-8")
    assert refused
    assert not several_lines
    load_run(folder)


def damaged(folder: Path, tmp_path: Path, **changes: Any) -> Path:
    """A copy of the run with other values in its model."""
    copied = tmp_path / "copy"
    copied.mkdir()
    for file in folder.iterdir():
        (copied / file.name).write_bytes(file.read_bytes())
    model = json.loads((copied / "model.json").read_text("utf-8"))
    (copied / "model.json").write_text(json.dumps({**model, **changes}), "utf-8")
    return copied


def test_a_weight_that_contradicts_the_matrix_is_refused(folder: Path, tmp_path: Path) -> None:
    edges = json.loads((folder / "model.json").read_text("utf-8"))["edges"]
    edges[0]["weight"] = 9.0
    with pytest.raises(InputError, match=r"has the weight 9\.0 in the table of edges and"):
        load_run(damaged(folder, tmp_path, edges=edges))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"h": 1.0}, "h is there twice"),
        ({"converged": None}, "converged must be true or false"),
        ({"status": "CONVERGED", "converged": False}, "contradicts converged"),
        ({"status": "0"}, "status must be one of CONVERGED, "),
        ({"status": ""}, "has a loss and a status"),
        ({"selection": None}, "need each other"),
        ({"removed_edges": [["a", "nobody"]]}, "columns that are not there"),
        ({"more": 1}, "unknown key 'more'"),
        ({"n_iter": -1}, "fewer than no steps or rows"),
        ({"version": "a\nb"}, r"has version 'a\\nb' and this package"),
        ({"trace": [{"a\nb": "x"}]}, r"trace\[0\]\.'a\\nb' must be a number"),
    ],
)
def test_facts_that_contradict_each_other(
    folder: Path, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load_run(damaged(folder, tmp_path, **changes))


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("<script>alert(1)</script>", "what fixed 'x0' -> 'x1' is not one of knowledge, collider"),
        ("collider", "said to be fixed by the data"),
    ],
)
def test_a_label_that_is_unknown_or_contradicts_the_class(label: str, message: str) -> None:
    run = run_of_weights(np.array([[0.0, 1.0], [0.0, 0.0]]), ["x0", "x1"])
    with pytest.raises(InputError, match=message):
        replace(run, edges=(replace(run.edges[0], fixed_by=label),))


def test_an_edge_that_the_class_fixes_is_not_open() -> None:
    collider = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    run = run_of_weights(collider, ["x0", "x1", "x2"])
    with pytest.raises(InputError, match="said to be open, and the CPDAG fixes its direction"):
        replace(run, edges=(replace(run.edges[0], fixed_by="not fixed"), run.edges[1]))


@pytest.mark.parametrize("search", ["x", 2.5, [], {"plan": 1, "gamma": None}, {"plan": ""}])
def test_what_a_search_did_is_checked(folder: Path, tmp_path: Path, search: Any) -> None:
    parameters = json.loads((folder / "model.json").read_text("utf-8"))["parameters"]
    with pytest.raises(InputError, match=r"parameters\.search"):
        load_run(damaged(folder, tmp_path, parameters={**parameters, "search": search}))


def test_the_loss_is_the_one_that_was_chosen(folder: Path, tmp_path: Path) -> None:
    scores = dict.fromkeys(("equal", "unequal", "kurtosis", "margin"))
    choice = {**scores, "loss": "likelihood-nv", "reason": ""}
    with pytest.raises(InputError, match="the loss 'mse' is not the one that was chosen"):
        load_run(damaged(folder, tmp_path, loss_choice=choice))


def with_archive(folder: Path, tmp_path: Path, content: bytes) -> Path:
    digest = hashlib.sha256(content).hexdigest()
    copied = damaged(folder, tmp_path, weights_sha256=digest)
    (copied / "weights.npz").write_bytes(content)
    return copied


def test_a_zip_bomb_is_not_unpacked(folder: Path, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weights.npy", bytes(50_000_000))
    bomb = with_archive(folder, tmp_path, buffer.getvalue())
    with pytest.raises(InputError, match=r"larger than|would unpack to more than"):
        load_run(bomb)


@pytest.mark.parametrize("kind", ["float16", "float32", "longdouble"])
def test_moments_of_other_numbers_are_refused(folder: Path, tmp_path: Path, kind: str) -> None:
    with np.load(folder / "weights.npz") as saved:
        arrays = {**saved, "covariances": saved["covariances"].astype(kind)}
    np.savez(packed := io.BytesIO(), **arrays)
    with pytest.raises(InputError, match="covariances is not float64"):
        load_run(with_archive(folder, tmp_path, packed.getvalue()))


def test_a_truncated_archive_is_refused(folder: Path, tmp_path: Path) -> None:
    content = (folder / "weights.npz").read_bytes()
    with pytest.raises(InputError, match="is damaged"):
        load_run(with_archive(folder, tmp_path, content[: len(content) // 2]))


def test_deep_nesting_is_refused(folder: Path, tmp_path: Path) -> None:
    copied = damaged(folder, tmp_path)
    (copied / "manifest.json").write_text('{"a":' * 50_000 + "1" + "}" * 50_000)
    with pytest.raises(InputError, match="nested too deeply"):
        load_run(copied)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("source,target\na,b\nc\n", "e.csv, row 3 has 1 cells and the header 2"),
        ("source,target\na,b,c\n", "row 2 has 3 cells"),
        ('source,target\na,b\n"c,d\ne,f\n', "row 4: unexpected end of data; check its quotes"),
        ('source,target\n"a,b\nc",d\ne,"f"g\n', "check its quotes"),
        ("source,target\na,\n", "row 2 lacks a name"),
        ("source,source,target\n", "needs the columns source and target"),
        ("", "needs the columns source and target"),
        (b"source,target\na,\xff\n", "not UTF-8"),
    ],
)
def test_a_list_of_edges_is_never_read_wrongly(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    (tmp_path / "e.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=message):
        read_graph(tmp_path / "e.csv")


def test_names_that_a_spreadsheet_would_compute_come_back(tmp_path: Path) -> None:
    names = ("=1", "-log p", "'quoted", "plain")
    run = run_of_weights(np.diag([0.5, 0.5, 0.5], 1), names)
    (tmp_path / "edges.csv").write_text(edges_csv(run), "utf-8")
    assert tuple(read_graph(tmp_path / "edges.csv")) == names


@pytest.mark.parametrize(
    "text",
    [
        "<",
        "<a>" * 20_000,
        '<!DOCTYPE x [<!ENTITY a "b">]><graphml>&a;</graphml>',
        "<graphml/>",
    ],
)
def test_what_is_no_graphml(tmp_path: Path, text: str) -> None:
    (tmp_path / "g.graphml").write_text(text)
    with pytest.raises(DataError, match=r"is not GraphML|defines entities"):
        read_graph(tmp_path / "g.graphml")


def test_graph_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    with pytest.raises(DataError, match=r"there is no file|Too many levels"):
        read_graph(tmp_path / "loop.csv")
    with pytest.raises(DataError, match="File name too long; check the path"):
        read_graph(tmp_path / ("x" * 300))


LINE_ENDS = ("a\nb", "a\r\nb", "a\rb", "a b", "a\nb (2)")


@pytest.mark.parametrize("render", [dot, dagitty])
def test_names_that_differ_in_line_ends_stay_apart(render: Any) -> None:
    text = render(run_of_weights(np.diag(np.full(4, 0.5), 1), LINE_ENDS))
    edges = re.findall(r'"([^"]*)" -> "([^"]*)"', text)
    assert len(edges) == 4
    assert len({name for edge in edges for name in edge}) == len(LINE_ENDS)


def test_line_ends_stay_apart_in_graphml() -> None:
    run = run_of_weights(np.diag(np.full(4, 0.5), 1), LINE_ENDS)
    assert len(nx.parse_graphml(graphml(run))) == len(LINE_ENDS)


def test_huge_numbers_have_a_finite_audit() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2)) * [1e200, 1e-200]
    audit = audit_table(X, np.zeros((2, 2), dtype=bool))
    assert all(np.isfinite([c.mean, c.sd, c.minimum, c.maximum]).all() for c in audit.columns)
    assert audit.columns[0].sd == pytest.approx(1e200 * (X[:, 0] / 1e200).std())
