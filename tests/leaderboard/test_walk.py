"""Every page in a real browser, from a local folder and below a path of a server.

No page may log anything, ask for anything outside the site, or fail a serious accessibility check.
"""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hexathlon.leaderboard.serving import site_server
from support.sites import board_page

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "axe" / "node_modules" / "axe-core" / "axe.min.js"
READY = {
    "trials.html": ".trials tbody tr",
    "trial.html": ".side h2",
    "compare.html": ".tasks tbody tr",
}


@pytest.fixture(scope="module")
def served(site) -> Iterator[str]:
    """Address of the site below a path, as a project's page hosting has it."""
    with site_server(site, 0, "/some/project/") as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}{server.base}"
        server.shutdown()
        thread.join()


@pytest.fixture
def walker(browser):
    """A page whose messages and requests are collected."""
    context = browser.new_context(bypass_csp=False)
    context.set_default_timeout(240_000)  # of a busy machine
    page = context.new_page()
    page.heard, page.asked = [], []
    page.on("console", lambda message: page.heard.append(message.text))
    page.on("pageerror", lambda error: page.heard.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    yield page
    context.close()


def paths_of(site: Path) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))


def visit(page, address: str) -> None:
    page.goto(address, wait_until="load")
    name = address.split("/")[-1].partition("#")[0]
    page.locator(READY.get(name, "main h1")).first.wait_for(state="attached")


@pytest.mark.parametrize("place", ["folder", "server"])
def test_every_page_opens_in_silence_and_asks_for_nothing_elsewhere(walker, site, served, place):
    start = site.as_uri() + "/" if place == "folder" else served
    found = paths_of(site)
    assert len(found) > 40
    for path in found:
        visit(walker, start + path)
        assert walker.heard == [], path
    assert [url for url in walker.asked if not url.startswith(start)] == []
    assert any(url.endswith("/data/records-0000.js") for url in walker.asked)


@pytest.mark.slow
def test_links_from_the_first_page_reach_every_page(walker, site, served):
    waiting, seen = [served + "index.html"], set()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        seen.add(address)
        visit(walker, address)
        links = walker.evaluate("Array.from(document.links, (one) => one.href)")
        own = (link.partition("#")[0] for link in links)
        waiting += [link for link in own if link.endswith(".html") and link.startswith(served)]
        if len(seen) > 200:
            break
    reached = {address.removeprefix(served) for address in seen}
    assert set(paths_of(site)) - reached == set()


SAMPLES = ("index.html", "BOARD", "guide.html", "points.html", "compare.html", "data.html",
           "ledger.html", "checklist.html", "methods.html", "RUN/index.html", "RUN/trials.html",
           "RUN/trial.html")  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_inaccessible(browser, site, scheme):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm install in tests/leaderboard/axe")
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    (run,) = site.glob("runs/cirrus-8b-sft-*")
    board = board_page(site, "hexathlon-sql").relative_to(site).as_posix()
    wrong = []
    for name in SAMPLES:
        path = name.replace("BOARD", board).replace("RUN", run.relative_to(site).as_posix())
        visit(page, f"{site.as_uri()}/{path}")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.evaluate(AXE.read_text("utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        wrong += [
            (name, one["id"], [node["target"] for node in one["nodes"]][:3])
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]
    context.close()
    assert wrong == []


def test_sorting_searching_and_filtering_work_by_keyboard(browser, site):
    page = browser.new_page()
    visit(page, (site / "index.html").as_uri())
    page.get_by_label("contains").focus()
    page.keyboard.type("dune")
    assert page.locator(".count").inner_text() == "1 of 11 systems"
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.locator("#systems thead button").nth(1).focus()
    page.keyboard.press("Enter")
    assert page.locator("#systems th[aria-sort=descending]").count() == 1
    page.keyboard.press("Space")
    assert page.locator("#systems th[aria-sort=ascending]").count() == 1
    (run,) = site.glob("runs/cirrus-8b-sft-*")
    visit(page, (run / "trials.html").as_uri())
    page.get_by_label("Outcome").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert not page.locator(".count").inner_text().startswith("320 of")
    page.close()


def test_two_systems_are_compared_down_to_the_trajectories_of_a_task(walker, site):
    visit(walker, (site / "compare.html").as_uri())
    slugs = [path.parent.name for path in site.glob("runs/*/index.html")]
    first = next(one for one in slugs if one.startswith("atlas"))
    second = next(one for one in slugs if one.startswith("dune"))
    walker.locator("select[name=a]").select_option(first)
    walker.locator("select[name=b]").select_option(second)
    walker.locator("select[name=only]").select_option("a")
    walker.locator(".count", has_text="of 80 shared tasks").wait_for()
    facts = walker.locator(".compared").inner_text()
    assert "Difference" in facts and "±" in facts
    walker.locator(".tasks tbody button").first.click()
    walker.locator(".task-pair li").nth(3).wait_for()
    assert walker.locator(".task-pair h3").all_inner_texts() == ["atlas-72b-instruct", "dune-3b"]
    address = walker.url
    walker.locator(".task-pair li a").first.click()
    walker.locator(".side .verdict").wait_for()
    walker.goto(address)
    walker.locator(".task-pair li").nth(3).wait_for()
    assert walker.heard == []


def test_points_are_sums_by_the_readers_weights(walker, site):
    visit(walker, (site / "points.html").as_uri())
    rows = walker.locator("#points tbody tr")
    first = rows.first.locator("th").inner_text()
    before = rows.first.locator(".sum").inner_text()
    walker.locator(".weights input").nth(1).fill("0")
    sums = [float(text) for text in walker.locator("#points .sum").all_inner_texts()]
    assert sums == sorted(sums, reverse=True) and first and before != "–"
    assert walker.heard == []
