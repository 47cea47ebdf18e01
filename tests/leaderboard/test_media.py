"""Images and files on trajectory pages: shown once from the site, names only ever as text."""

import json
from pathlib import Path

import numpy as np
import pytest

from hexathlon.evaluators.content import File, Image, Text, content_to_json, media_of
from hexathlon.evaluators.records import RecordWriter, read_records
from hexathlon.evaluators.records.plan import write_plan
from hexathlon.leaderboard.build import build
from support.runs import make_run

IMAGE = Image.from_array(np.full((40, 60, 3), (200, 30, 30), np.uint8))
HOSTILE = File('"><img src=x onerror=hit()>\u202e.html', "text/html", b"<script>hit()</script>")
CONTENT = (Text("<b>See</b>"), IMAGE, HOSTILE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("media")
    clean = make_run(folder / "clean", "atlas-72b-instruct", tasks=2, trials=1)
    run = folder / "run"
    digest = write_plan(run, json.loads((clean / "plan.json").read_text()))
    with RecordWriter(run, digest, fsync="never") as writer:
        for record in read_records(clean):
            steps = [{**one, "observation": content_to_json((IMAGE,))} for one in record["steps"]]
            shown = {**record, "opening": content_to_json(CONTENT), "steps": steps}
            writer.append(shown, media_of([CONTENT]))
    for file in (run / "media").glob("*.png"):
        file.write_bytes(file.read_bytes() + b"<script>hit()</script>")
    build([run], folder / "site")
    return folder / "site"


def test_each_is_stored_once_in_the_site_under_a_neutral_name(site: Path) -> None:
    found = {path.name: path.read_bytes() for path in (site / "media").iterdir()}
    assert found == {f"{IMAGE.sha256}.png": IMAGE.png(), f"{HOSTILE.sha256}.bin": HOSTILE.data}


@pytest.mark.browser
def test_a_browser_draws_the_image_and_runs_nothing(browser, site: Path) -> None:
    page = browser.new_page()
    page.add_init_script("window.hits = 0; window.hit = () => { window.hits += 1; };")
    page.goto(next(site.glob("runs/*/trial.html")).as_uri() + "#1")
    page.locator(".opening img").scroll_into_view_if_needed()
    page.wait_for_function("document.querySelector('.opening img').complete")
    size = page.locator(".opening img").evaluate("one => [one.naturalWidth, one.naturalHeight]")
    assert size == [60, 40] and page.evaluate("window.hits") == 0
    assert page.locator(".file a").first.inner_text().startswith('"><img')
    images = page.locator(".trajectory img")
    places = images.evaluate_all("all => all.map((one) => one.getAttribute('src'))")
    assert len(places) >= 2 and set(places) == {f"../../media/{IMAGE.sha256}.png"}
    assert images.first.get_attribute("alt").startswith("Image of 60 × 40 pixels")
    file = page.locator(".file a").first
    assert file.get_attribute("href") == f"../../media/{HOSTILE.sha256}.bin"
    assert "\u202e" not in file.get_attribute("download")
    assert "<b>See</b>" in page.locator(".opening pre").first.inner_text()
    page.close()
