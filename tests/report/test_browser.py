"""The page as a person uses it: in a real browser, with pointer and keyboard."""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
import pytest

from analyticdag import AnalyticDAG
from analyticdag._tables import NamedColumns
from analyticdag.datasets import load_sachs
from analyticdag.diagnostics import diagnose
from analyticdag.errors import AnalyticDAGWarning
from analyticdag.io import SavedRun, audit_table, record_of, run_of_weights
from analyticdag.optimize import Schedule
from analyticdag.optimize.adam import Adam
from analyticdag.report import write_report
from analyticdag.simulate import simulate

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("Debian's chromium is not installed", allow_module_level=True)

Page: TypeAlias = Any
Opener: TypeAlias = Callable[..., Page]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
HOSTILE = ("<img src=x onerror=alert(1)>", "\"quoted\" & 'more'", "=1+1", "🧬", "n" * 10_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def sachs_run() -> SavedRun:
    """A short fit: enough for edges, a class with open directions, and a trace."""
    sachs = load_sachs()
    X = np.log(sachs.values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AnalyticDAGWarning)
        model = AnalyticDAG(
            loss="likelihood-nv",
            solver=Adam(schedule=Schedule.paper().with_steps(600)),
            refine=False,
            standardize=True,
            w_threshold=0.05,
        ).fit(NamedColumns(X, sachs.names))
    audit = audit_table(X, model.adjacency_matrix_.astype(bool), keep_rows=True)
    checks = tuple(
        {"name": check.name, "level": "warning", "advice": check.advice}
        for check in diagnose(model, NamedColumns(X, sachs.names), refit=False)
    )
    return replace(record_of(model, audit=audit), diagnostics=checks)


@pytest.fixture(scope="module")
def pages(sachs_run: SavedRun, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    drawn = simulate("ER2", n_nodes=500, n_samples=50, seed=0)
    names = [f"gene {k}" for k in range(500)]
    hostile = run_of_weights(np.diag([0.5, -0.4, 0.3, 0.2], 1), HOSTILE)
    runs = {
        "sachs": sachs_run,
        "large": run_of_weights(
            drawn.weights, names, audit=audit_table(drawn.data, drawn.weights != 0)
        ),
        "hostile": hostile,
        "boxes": run_of_weights(
            simulate("ER2", n_nodes=60, n_samples=50, seed=0).weights, [f"x{k}" for k in range(60)]
        ),
    }
    return {name: write_report(run, folder / f"{name}.html") for name, run in runs.items()}


@pytest.fixture
def visit(browser: Any, pages: dict[str, Path]) -> Iterator[Opener]:
    """Open a page; at the end, nothing may have complained, asked or been fetched."""
    trouble: list[str] = []
    contexts = []

    def opened(name: str, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        url = pages[name].as_uri()
        page.on("console", lambda message: trouble.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        page.on(
            "request",
            lambda request: (
                None
                if request.url == url or request.url.startswith("blob:")
                else trouble.append(request.url[:80])
            ),
        )
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


def visible(page: Page, kind: str) -> list[int]:
    found = page.evaluate(
        f"[...document.querySelectorAll('[data-{kind}]:not(.gone)')].map(e => +e.dataset.{kind})"
    )
    return sorted(found)


def with_class(page: Page, name: str) -> set[int]:
    return set(
        page.evaluate(f"[...document.querySelectorAll('.node.{name}')].map(e => +e.dataset.node)")
    )


def slide(page: Page, control: str, value: int) -> None:
    page.eval_on_selector(
        f"#{control}",
        "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})); }",
        str(value),
    )


def hub(run: SavedRun) -> int:
    """A node with both causes and effects."""
    score = np.minimum(run.adjacency.sum(axis=0), run.adjacency.sum(axis=1))
    return int(np.argmax(score))


@pytest.mark.parametrize(
    ("name", "scheme"),
    [("sachs", "light"), ("sachs", "dark"), ("large", "light"), ("hostile", "light")],
)
def test_pages_open_in_peace_and_show_something(
    visit: Opener, tmp_path: Path, name: str, scheme: str
) -> None:
    page = visit(name, color_scheme=scheme)
    picture = page.locator("#stage").screenshot(path=tmp_path / "graph.png")
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", colour)[:3]))
    assert (brightness < 200) == (scheme == "dark")
    # A blank stage compresses to almost nothing.
    assert len(picture) > 6000


def test_the_slider_hides_the_weakest_edges(visit: Opener, sachs_run: SavedRun) -> None:
    page = visit("sachs")
    by_strength = sorted(range(len(sachs_run.edges)), key=lambda k: sachs_run.edges[k].strength)
    assert len(by_strength) > 4
    assert visible(page, "edge") == sorted(by_strength)
    slide(page, "threshold", 3)
    assert visible(page, "edge") == sorted(by_strength[3:])
    assert f"{len(by_strength) - 3} of {len(by_strength)} links" in page.inner_text(
        "#threshold-text"
    )
    slide(page, "threshold", len(by_strength))
    assert visible(page, "edge") == []
    page.click("#reset")
    assert visible(page, "edge") == sorted(by_strength)


def test_the_ladder_moves_through_graphs_that_were_searched(browser: Any, tmp_path: Path) -> None:
    X = simulate("UD1.5", n_nodes=12, n_samples=300, effects=(0.05, 2.0), seed=[32, 5]).data
    model = AnalyticDAG(solver="order", loss="likelihood-nv", n_jobs=1).fit(X)
    ladder = model.ladder_
    path = write_report(record_of(model), tmp_path / "ladder.html")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.is_visible("#rung")
    assert not page.is_visible("#threshold")
    counts = []
    for k in range(len(ladder)):
        slide(page, "rung", k)
        shown = page.evaluate("document.querySelectorAll('#edges > .edge:not(.gone)').length")
        counts.append(shown)
    assert counts == [rung.n_edges for rung in ladder]
    page.click("#reset")
    assert visible(page, "edge") == list(range(len(model.edges_)))
    page.close()


def test_a_click_shows_ancestors_and_descendants(visit: Opener, sachs_run: SavedRun) -> None:
    page = visit("sachs")
    node = hub(sachs_run)
    name = sachs_run.names[node]
    page.click(f"[data-node='{node}']")
    graph = nx.DiGraph(sachs_run.edge_names(e) for e in sachs_run.edges if not sachs_run.is_open(e))
    graph.add_nodes_from(sachs_run.names)
    index = sachs_run.names.index
    assert with_class(page, "up") == {index(other) for other in nx.ancestors(graph, name)}
    assert with_class(page, "down") == {index(other) for other in nx.descendants(graph, name)}
    assert page.inner_text("#panel h3") == name
    assert f"{len(nx.ancestors(graph, name))} ancestor" in page.inner_text("#panel")
    page.click(f"[data-node='{node}']")
    assert page.is_hidden("#panel")


def test_the_equivalence_class_has_no_arrow_heads_where_it_is_open(
    visit: Opener, sachs_run: SavedRun
) -> None:
    page = visit("sachs")
    heads = "[...document.querySelectorAll('.edge .head')].map(e => getComputedStyle(e).display)"
    assert page.is_visible("#class-note")
    assert page.is_checked("input[value=class]")
    expected = ["none" if sachs_run.is_open(edge) else "inline" for edge in sachs_run.edges]
    assert "none" in expected
    assert page.evaluate(heads) == expected
    page.check("input[value=member]", force=True)
    assert set(page.evaluate(heads)) == {"inline"}
    assert page.is_visible("#member-note")
    page.check("input[value=class]", force=True)
    assert page.evaluate(heads) == expected
    assert page.is_hidden("#member-note")


def test_nothing_names_a_direction_of_an_open_link(visit: Opener, sachs_run: SavedRun) -> None:
    page = visit("sachs")
    text = page.inner_text("body") + page.content()
    for edge in sachs_run.open_edges:
        assert " → ".join(sachs_run.edge_names(edge)) not in text
    k = next(k for k, edge in enumerate(sachs_run.edges) if sachs_run.is_open(edge))
    page.click(f"tr[data-row='{k}']")
    panel = page.inner_text("#panel")
    assert " — " in panel
    assert "direction open" in panel
    assert "What would fix it" in panel
    page.click(f"[data-node='{sachs_run.edges[k].source}']")
    assert "Without an arrow" in page.inner_text("#panel")


def test_a_click_on_a_row_leads_to_the_panel(visit: Opener) -> None:
    page = visit("sachs")
    page.click("tr[data-row='2']")
    place = page.locator("#panel h3").bounding_box()
    assert 0 <= place["y"] < 900


def test_a_click_on_a_link_opens_its_panel(visit: Opener) -> None:
    page = visit("sachs")
    page.eval_on_selector(
        "[data-edge='0'] .hit",
        """edge => {
          const at = edge.getPointAtLength(edge.getTotalLength() * 0.5)
            .matrixTransform(edge.getScreenCTM());
          const options = {bubbles: true, button: 0, clientX: at.x, clientY: at.y, pointerId: 1};
          edge.dispatchEvent(new PointerEvent('pointerdown', options));
          edge.dispatchEvent(new PointerEvent('pointerup', options));
        }""",
    )
    assert page.is_visible("#panel")
    assert page.locator("tr.hot").count() == 1
    assert page.locator(".edge.hot").count() == 1


def test_sliders_filter_the_table_and_counts_are_of_the_whole(
    visit: Opener, sachs_run: SavedRun
) -> None:
    page = visit("sachs")
    node = hub(sachs_run)
    page.click(f"[data-node='{node}']")
    before = page.inner_text("#panel p.soft >> nth=0")
    slide(page, "threshold", 3)
    assert page.inner_text("#table-count").startswith(f"{len(sachs_run.edges) - 3} of ")
    assert page.inner_text("#panel p.soft >> nth=0") == before


def test_a_search_that_finds_nothing_selects_nothing(visit: Opener, sachs_run: SavedRun) -> None:
    page = visit("sachs")
    page.fill("#search", sachs_run.names[0])
    assert with_class(page, "selected") == {0}
    page.fill("#search", "no such protein")
    assert with_class(page, "selected") == set()


def test_a_phone_needs_no_sideways_scrolling(visit: Opener) -> None:
    for name in ("sachs", "large", "boxes"):
        page = visit(name)
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_graph_is_on_the_first_screen_whatever_there_is_to_warn_of(
    visit: Opener, scheme: str
) -> None:
    page = visit("sachs", color_scheme=scheme)
    for width, height in ((1366, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.locator("#stage").bounding_box()["y"] < 0.85 * height
    assert page.is_visible("#care")
    assert page.is_hidden("#notices li >> nth=0")
    page.click("#notices summary")
    assert page.is_visible("#notices li >> nth=0")


@pytest.mark.parametrize("name", ["boxes", "large"])
@pytest.mark.parametrize("width", [1366, 390])
def test_names_can_be_read_at_once(
    browser: Any, pages: dict[str, Path], name: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(pages[name].as_uri())
    sizes = page.evaluate(
        "[...document.querySelectorAll('.node:not(.gone) text')]"
        ".map(e => e.getBoundingClientRect().height)"
    )
    assert min(sizes) > 9
    assert "variables are shown" in page.inner_text("#part")
    assert page.inner_text("#table-count").startswith(f"{page.locator('tr[data-row]').count()} of")
    page.click("#show-all")
    assert page.is_hidden("#part")
    assert page.locator(".node.gone").count() == 0
    page.close()


def test_surroundings_stay_until_others_are_asked_for(visit: Opener) -> None:
    page = visit("large")
    before = visible(page, "node")
    frame = page.locator("#stage").bounding_box()
    page.mouse.click(frame["x"] + 4, frame["y"] + 4)  # beside everything
    assert visible(page, "node") == before
    inside, outside = visible(page, "edge")[0], 0
    while outside in visible(page, "edge"):
        outside += 1
    page.click(f"tr[data-row='{inside}']")
    assert visible(page, "node") == before
    page.click(f"tr[data-row='{outside}']")
    assert outside in visible(page, "edge")
    assert len(visible(page, "node")) < 60
    assert page.locator(".edge.hot").count() == 1


def test_a_link_shows_its_rows_as_measured_and_adjusted(visit: Opener, sachs_run: SavedRun) -> None:
    page = visit("sachs")
    assert sachs_run.audit is not None
    parents = sachs_run.adjacency.sum(axis=0)
    for alone in (True, False):
        k = next(k for k, e in enumerate(sachs_run.edges) if (parents[e.target] == 1) == alone)
        page.click(f"tr[data-row='{k}']")
        assert page.locator("#panel figure").count() == (1 if alone else 2)
        points = page.locator("#panel figure").first.locator("circle").count()
        assert points == len(sachs_run.audit.sample) > 100


@pytest.mark.parametrize("press", ["#zoom-fit", "#show-all"])
def test_all_of_a_drawing_is_inside_its_frame(visit: Opener, press: str) -> None:
    page = visit("boxes")
    page.click(press)
    outside = page.evaluate(
        """() => {
          const frame = document.getElementById('stage').getBoundingClientRect();
          const drawn = '.edge:not(.gone) .line, .node:not(.gone) rect';
          return [...document.querySelectorAll(drawn)].filter((e) => {
            const b = e.getBoundingClientRect();
            return b.left < frame.left - 1 || b.right > frame.right + 1
              || b.top < frame.top - 1 || b.bottom > frame.bottom + 1;
          }).length;
        }"""
    )
    assert outside == 0


def test_a_thousand_variables_open_on_a_neighbourhood(visit: Opener) -> None:
    page = visit("large")
    assert 1 < len(visible(page, "node")) < 60
    assert page.input_value("#steps") == "1"
    names = page.evaluate(
        "[...document.querySelectorAll('.node:not(.gone) text')]"
        ".map(e => getComputedStyle(e).display)"
    )
    assert "none" not in names


def test_plots_are_dark_on_a_dark_page_and_say_why_the_score_rises(visit: Opener) -> None:
    page = visit("sachs", color_scheme="dark")
    grounds = page.evaluate(
        "[...document.querySelectorAll('figure, figure svg')]"
        ".map(e => getComputedStyle(e).backgroundColor)"
    )
    assert grounds
    assert set(grounds) == {"rgba(0, 0, 0, 0)"}
    assert "It rises from stage to stage because" in page.inner_text("#solver-section")


def test_a_saved_picture_keeps_lines_off_the_numbers(visit: Opener, tmp_path: Path) -> None:
    page = visit("sachs")
    with page.expect_download() as waiting:
        page.click("#save-svg")
    waiting.value.save_as(tmp_path / "graph.svg")
    text = (tmp_path / "graph.svg").read_text("utf-8")
    weights = re.findall(r"<text[^>]*data-label[^>]*>", text)
    assert weights
    assert all("paint-order" in one and 'stroke-width="7px"' in one for one in weights)
    assert text.index("data-label") > text.rindex("data-edge")  # painted over the lines


def test_script_and_python_draw_the_same_curves(visit: Opener) -> None:
    page = visit("sachs")
    shapes = "[...document.querySelectorAll('.line, .head')].map(e => e.getAttribute('d'))"
    before = page.evaluate(shapes)
    page.click("#reset")  # draws every curve anew, in the browser
    after = page.evaluate(shapes)
    numbers = [[float(x) for x in re.findall(r"-?\d+\.?\d*", " ".join(s))] for s in (before, after)]
    assert len(before) == len(after)
    np.testing.assert_allclose(numbers[0], numbers[1], atol=0.25)


def test_hovering_an_edge_tells_its_weight(visit: Opener, sachs_run: SavedRun) -> None:
    page = visit("sachs")
    k = max(range(len(sachs_run.edges)), key=lambda k: sachs_run.edges[k].strength)
    page.eval_on_selector(
        f"[data-edge='{k}'] .hit",
        """edge => {
          const middle = edge.getPointAtLength(edge.getTotalLength() * 0.8);
          const at = middle.matrixTransform(edge.getScreenCTM());
          const options = {bubbles: true, clientX: at.x, clientY: at.y};
          edge.dispatchEvent(new PointerEvent('pointermove', options));
        }""",
    )
    tip = page.inner_text("#tip")
    edge = sachs_run.edges[k]
    size = edge.strength if sachs_run.is_open(edge) else edge.weight
    assert f"{float(f'{size:.3g}'):g}" in tip
    assert "direction" in tip


def test_a_node_can_be_dragged_and_its_edges_follow(visit: Opener, sachs_run: SavedRun) -> None:
    page = visit("sachs")
    node = hub(sachs_run)
    edge = next(k for k, e in enumerate(sachs_run.edges) if e.source == node)
    path = f"[data-edge='{edge}'] .line"
    page.click("#reset")  # so that before and after come from the same hand
    before = page.get_attribute(path, "d")
    page.locator(f"[data-node='{node}']").scroll_into_view_if_needed()
    place = page.locator(f"[data-node='{node}']").bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 25, steps=4)
    page.mouse.up()
    moved = page.locator(f"[data-node='{node}']").bounding_box()
    assert moved["x"] - place["x"] == pytest.approx(60, abs=3)
    assert page.get_attribute(path, "d") != before
    assert page.is_hidden("#panel")  # a drag is no click
    page.click("#reset")
    assert page.get_attribute(path, "d") == before


def test_zoom_and_pan(visit: Opener) -> None:
    page = visit("sachs")

    def width() -> float:
        return float(page.get_attribute("#graph", "viewBox").split()[2])

    fitted = width()
    page.click("#zoom-in")
    assert width() == pytest.approx(fitted / 1.3, rel=0.01)
    page.click("#zoom-fit")
    assert width() == pytest.approx(fitted)
    page.evaluate("document.getElementById('stage').scrollIntoView()")
    place = page.locator("#stage").bounding_box()
    before = page.get_attribute("#graph", "viewBox")
    page.mouse.move(place["x"] + 10, place["y"] + 10)
    page.mouse.down()
    page.mouse.move(place["x"] + 90, place["y"] + 10, steps=3)
    page.mouse.up()
    assert page.get_attribute("#graph", "viewBox") != before


def test_the_keyboard_does_everything(visit: Opener, sachs_run: SavedRun) -> None:
    page = visit("sachs")
    node = hub(sachs_run)
    page.fill("#search", sachs_run.names[node])
    assert with_class(page, "selected") == {node}
    page.focus(f"[data-node='{node}']")
    focused = "+document.activeElement.dataset.node"
    page.keyboard.press("ArrowDown")
    child = page.evaluate(focused)
    assert sachs_run.adjacency[node, child]
    page.keyboard.press("ArrowUp")
    assert sachs_run.adjacency[page.evaluate(focused), child]
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    assert (
        with_class(page, "selected") == {page.evaluate(focused)}
        or with_class(page, "selected") == set()
    )
    page.keyboard.press("Escape")
    assert with_class(page, "selected") == set()
    stops = page.evaluate("document.querySelectorAll('.node[tabindex=\"0\"]').length")
    assert stops == 1  # one stop for Tab; arrows go on from there


def test_a_large_graph_is_usable_by_neighbourhood(visit: Opener, tmp_path: Path) -> None:
    page = visit("large")
    weights = simulate("ER2", n_nodes=500, n_samples=50, seed=0).weights
    graph = nx.Graph(weights != 0.0)
    node = max(graph, key=graph.degree)
    page.fill("#search", f"gene {node}")
    page.select_option("#steps", "1")
    assert visible(page, "node") == sorted({node, *graph[node]})
    page.select_option("#steps", "2")
    assert visible(page, "node") == sorted(nx.ego_graph(graph, node, radius=2))
    sizes = page.evaluate(
        "[...document.querySelectorAll('.node:not(.gone) circle')]"
        ".map(e => e.getBoundingClientRect().width)"
    )
    assert min(sizes) > 4  # large enough to point at
    page.locator("#stage").screenshot(path=tmp_path / "neighbourhood.png")
    page.select_option("#steps", "0")
    assert len(visible(page, "node")) == 500
    page.click("#reset")
    slide(page, "degree", 6)
    assert visible(page, "node") == sorted(k for k in graph if graph.degree(k) >= 6)


def test_the_table_sorts_and_filters(visit: Opener, sachs_run: SavedRun) -> None:
    page = visit("sachs")
    page.click("th button:has-text('Strength')")
    cells = page.eval_on_selector_all(
        "#edge-table tbody tr", "rows => rows.map(r => Math.abs(+r.cells[1].dataset.value))"
    )
    assert cells == sorted(cells, reverse=True)
    page.click("th button:has-text('Strength')")
    assert page.get_attribute("th:has-text('Strength')", "aria-sort") == "ascending"
    page.click("th button:has-text('Link')")
    causes = page.eval_on_selector_all(
        "#edge-table tbody tr", "rs => rs.map(r => r.cells[0].innerText)"
    )
    assert causes == sorted(causes, key=str.lower)
    page.fill("#filter", "not fixed")
    expected = sum(edge.fixed_by == "not fixed" for edge in sachs_run.edges)
    assert expected > 0
    assert page.inner_text("#table-count").startswith(f"{expected} of ")
    page.fill("#filter", "")
    page.click("#edge-table tbody tr:first-child")
    assert page.locator(".edge.hot").count() == 1


def test_pictures_can_be_downloaded(visit: Opener, sachs_run: SavedRun, tmp_path: Path) -> None:
    import xml.etree.ElementTree as ET

    page = visit("sachs")
    with page.expect_download() as waiting:
        page.click("#save-svg")
    waiting.value.save_as(tmp_path / "graph.svg")
    root = ET.parse(tmp_path / "graph.svg").getroot()
    texts = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert set(sachs_run.names) <= texts
    with page.expect_download() as waiting:
        page.click("#save-png")
    waiting.value.save_as(tmp_path / "graph.png")
    content = (tmp_path / "graph.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(content) > 5000


def test_hostile_names_are_shown_and_not_obeyed(visit: Opener) -> None:
    page = visit("hostile")
    assert page.evaluate("document.images.length") == 0
    assert page.evaluate("document.scripts.length") == 2
    first = page.inner_text("#edge-table tbody tr:first-child td:first-child")
    assert first == f"{HOSTILE[0]} → {HOSTILE[1]}"
    page.click("[data-node='0']")
    assert page.inner_text("#panel h3") == HOSTILE[0]
    page.click("[data-node='4']")
    assert page.inner_text("#panel h3") == HOSTILE[4]
    # Ten thousand letters must not push the page apart.
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_without_javascript_the_picture_and_the_tables_are_there(
    visit: Opener, sachs_run: SavedRun
) -> None:
    page = visit("sachs", java_script_enabled=False)
    assert page.locator(".node").count() == len(sachs_run.names)
    assert page.locator("[data-node='0'] text").is_visible()
    assert page.locator("#edge-table tbody tr").count() == len(sachs_run.edges)
    assert page.locator("#controls").is_hidden()
    assert page.locator("noscript").count() == 1


def test_the_page_prints(visit: Opener, tmp_path: Path) -> None:
    page = visit("sachs")
    page.emulate_media(media="print")
    assert page.is_hidden("#controls")
    assert page.is_visible("#graph")
    assert page.pdf(path=tmp_path / "page.pdf")[:5] == b"%PDF-"
