"""The search of the documentation, on pages that are opened as files, without a server."""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("material", reason="mkdocs-material is not installed")
yaml = pytest.importorskip("yaml")
CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("Debian's chromium is not installed", allow_module_level=True)

ROOT = Path(__file__).resolve().parent.parent
# Those that answer the questions below, and some that hold the same words.
PAGES = ("index", "questions", "your-table", "how-to-choose", "what-happens-if", "reliability")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few pages, built with the project's own settings."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs" / "assets", folder / "docs" / "assets")
    for page in PAGES:
        shutil.copy(ROOT / "docs" / f"{page}.md", folder / "docs")
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    settings["plugins"] = [one for one in settings["plugins"] if "mkdocstrings" not in one]
    del settings["nav"], settings["hooks"]
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings), "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of mkdocs' own libraries
        from mkdocs.commands.build import build
        from mkdocs.config import load_config

        build(load_config(str(folder / "mkdocs.yml")))
    return folder / "site"


@pytest.fixture(scope="module")
def page(site: Path) -> Iterator[Any]:
    """The home page as a file; nothing may be fetched from elsewhere."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        opened, fetched = browser.new_page(), []
        opened.on("request", lambda request: fetched.append(request.url))
        opened.goto((site / "index.html").as_uri())
        yield opened
        assert [url for url in fetched if not url.startswith("file:")] == []
        browser.close()


@pytest.mark.parametrize(
    "words", ["categorical", "missing", "confounder", "DoWhy", "how many rows do I need"]
)
def test_the_questions_are_found_first(page: Any, words: str) -> None:
    page.fill(".md-search__input", "")
    page.click(".md-search__input")
    page.keyboard.type(words)
    first = page.locator(".md-search-result__item").first
    sync_api.expect(first.locator("h1")).to_have_text("Questions")
    sync_api.expect(first.locator("h2").first).to_have_text(re.compile(words, re.IGNORECASE))
