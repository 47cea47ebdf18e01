"""The documentation site builds without warnings and without network."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="the extra [docs] is not installed")
pytestmark = pytest.mark.product
ROOT = Path(__file__).resolve().parents[1]
UNREACHABLE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "docs"
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), UNREACHABLE)
    done = subprocess.run(
        [ROOT / "scripts" / "docs", folder],
        env={**os.environ, **proxies}, capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def pages(site: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(site.rglob("*.html")):
        yield path.relative_to(site).as_posix(), path.read_text("utf-8")


def test_every_document_has_a_page(site: Path) -> None:
    documents = (path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
    expected = {path.with_suffix("").as_posix() for path in documents} | {"404"}
    built = {name.removesuffix(".html") for name, _ in pages(site)}
    assert {name for name in built if not name.startswith("reference/")} == expected


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    fetched = re.compile(r'<(?:script|img|link|iframe)\b[^>]*?(?:src|href)="(https?://[^"]*)"')
    found = {name: fetched.findall(text) for name, text in pages(site)}
    assert not {name: urls for name, urls in found.items() if urls}
    styles = [path.read_text("utf-8") for path in site.rglob("*.css")]
    assert styles and not any(re.search(r"url\(.?https?://", style) for style in styles)


def test_the_reference_shows_signatures_and_docstrings(site: Path) -> None:
    text = (site / "reference" / "envs.html").read_text("utf-8")
    assert 'id="hexathlon.envs.base.Environment"' in text
    assert "on_reset" in text
    listed = (site / "reference" / "index.html").read_text("utf-8")
    for layer in ("tasks", "evaluators", "envs", "baselines", "leaderboard"):
        assert f"hexathlon.{layer}" in listed


def test_the_search_index_contains_the_guides(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    places = {entry["location"].partition("#")[0] for entry in index["docs"]}
    guides = ("evaluation", "training", "plugins", "sandboxes")
    assert {f"guides/{name}.html" for name in guides} <= places
