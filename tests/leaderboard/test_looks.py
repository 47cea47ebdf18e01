"""Boards name the worst look of every row and the spread between the best and the worst."""

import re

import pytest

from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.leaderboard.build import build
from support.runs import make_run
from support.sites import board_texts

LOOKS = ("lagoon", "night", "<b>studio</b>")


def text_of(page):
    return re.sub(r"<[^>]+>", " ", page.read_text("utf-8"))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("looks")
    scores: dict[str, list[float]] = {look: [] for look in LOOKS}

    def with_look(record):
        look = LOOKS[int(content_hash(record["key"])[:8], 16) % len(LOOKS)]
        record["final_state"] = {**record["final_state"], "look": look}
        record["final_state_hash"] = content_hash(record["final_state"])
        if record["status"] == "scored":
            scores[look].append(record["reward"])
        return record

    run = make_run(folder, "atlas-72b-instruct", tasks=60, edit=with_look)
    plain = make_run(folder / "other", "ember-1.5b", tasks=60)
    build([run, plain], folder / "site")
    means = {look: sum(each) / len(each) for look, each in scores.items()}
    return folder / "site", means


def test_the_board_shows_worst_look_and_spread(pages):
    site, means = pages
    worst = min(means, key=lambda look: (means[look], look))
    page = board_texts(site)
    table = page[page.index("By look</h2>") :].partition("</table>")[0]
    row = table.partition("<tbody>")[2]
    assert row.count("<tr") == 1  # of the run that has looks
    shown = row.replace("&lt;", "<").replace("&gt;", ">")
    assert worst in shown and f">{100 * means[worst]:.1f}<" in row
    assert f">{100 * (max(means.values()) - means[worst]):.1f}<" in row
    assert "<b>studio" not in page


def test_the_page_of_a_run_lists_looks_worst_first(pages):
    site, means = pages
    page = next(page for page in (site / "runs").glob("*/index.html")
                if "By look, the worst first" in page.read_text("utf-8"))  # fmt: skip
    table = (
        page.read_text("utf-8").partition("By look, the worst first")[2].partition("</table>")[0]
    )
    order = sorted(means, key=lambda look: (means[look], look))
    shown = table.replace("&lt;", "<").replace("&gt;", ">")
    places = [shown.index(f"<bdi>{look}</bdi>") for look in order]
    assert places == sorted(places)
    spread = max(means.values()) - min(means.values())
    assert f"worst look: {100 * spread:.1f} points" in " ".join(text_of(page).split())
