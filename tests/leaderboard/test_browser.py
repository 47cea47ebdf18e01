"""The site in a real browser, from a local file: sorting, filtering, navigation, both themes."""

import json
from pathlib import Path

import pytest

from hexathlon.baselines.exchange.asciicast import to_asciicast
from hexathlon.baselines.exchange.transcript import ChatTranscript
from hexathlon.evaluators.records import read_records
from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.leaderboard.build import build
from support.runs import make_run
from support.sites import board_page

pytestmark = pytest.mark.browser

CONTRAST = """
() => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map((v) => {
      const s = v / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!colour.endsWith(", 0)") && colour !== "transparent") return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const element of document.querySelectorAll("main *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !element.offsetParent || element.closest("svg")) continue;
    const a = light(getComputedStyle(element).color), b = light(ground(element));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${element.className} ${element.textContent} ${ratio}`);
  }
  return [...new Set(found)];
}
"""


@pytest.fixture
def open_page(browser, site):
    """Open pages of the site at a width and theme; console messages fail the test."""
    contexts = []

    def opened(path=None, width=1280, scheme="light", javascript=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=javascript,
        )
        contexts.append(context)
        page = context.new_page()
        page.messages = []
        page.on("console", lambda message: page.messages.append(message.text))
        page.on("pageerror", lambda error: page.messages.append(str(error)))
        page.goto((board_page(site, "hexathlon-sql") if path is None else site / path).as_uri())
        return page

    yield opened
    for context in contexts:
        for page in context.pages:
            assert page.messages == []
        context.close()


def run_folder(site, name):
    (folder,) = site.glob(f"runs/{name}-*")
    return folder.relative_to(site)


def column(page, number, part=None):
    """Texts of a column of the first ranking: of all rows, or of the ranked (0), the others (1) or
    the reference agents (2)."""
    parts = ".ranking >> nth=0 >> tbody:not(.fixed)" + ("" if part is None else f" >> nth={part}")
    return page.locator(f"{parts} >> tr > :nth-child({number})").all_inner_texts()


def numbers(page, number, part):
    return [
        float(text.split()[0].lstrip("$")) for text in column(page, number, part) if text != "–"
    ]


def test_tables_sort_by_click_both_ways_and_by_key(open_page):
    page = open_page()
    table = page.locator(".ranking").first
    others = numbers(page, 3, 2)
    table.get_by_role("button", name="Score").click()
    assert numbers(page, 3, 0) == sorted(numbers(page, 3, 0), reverse=True)
    assert numbers(page, 3, 2) == sorted(others, reverse=True)
    assert table.locator("th[aria-sort=descending]").inner_text().startswith("Score")
    table.get_by_role("button", name="Score").press("Enter")
    assert numbers(page, 3, 0) == sorted(numbers(page, 3, 0))
    assert numbers(page, 3, 2) == sorted(others)
    assert table.locator("th[aria-sort]").count() == 1
    table.get_by_role("button", name="Cost").click()
    costs, known = column(page, 14, 2), numbers(page, 14, 2)
    assert numbers(page, 14, 0) == sorted(numbers(page, 14, 0)) and known == sorted(known)
    assert "–" in costs and "–" not in costs[: len(known)]


def test_rows_without_a_rank_stay_below_the_others(open_page):
    page = open_page()
    table = page.locator(".ranking").first
    assert table.locator("tr.divider").all_inner_texts() == ["Not ranked", "Reference agents"]
    for _ in range(2):
        table.get_by_role("button", name="Score").click()
        assert "–" not in column(page, 1, 0)
        assert set(column(page, 1, 1)) == set(column(page, 1, 2)) == {"–"}


def test_ranks_are_shown_as_ranges(open_page):
    page = open_page()
    assert column(page, 1)[:2] == ["1–2", "1–3"]


def test_heat_map_keeps_levels_above_templates_when_sorted(open_page):
    page = open_page()
    table = page.locator(".templates").first
    table.get_by_role("button", name="dune-3b").click()
    bodies = table.locator("tbody")
    levels = bodies.nth(0).locator("th").all_inner_texts()
    assert levels == ["tiny", "easy", "medium", "hard"]
    cells = (
        bodies.nth(1)
        .locator("tr")
        .evaluate_all(
            "(rows, column) => rows.map((row) => Number(row.cells[column].dataset.value))",
            table.locator("thead th").all_inner_texts().index("dune-3b"),
        )
    )
    assert cells == sorted(cells, reverse=True)


def test_trials_filter_and_lead_to_a_trajectory(open_page, site):
    page = open_page(run_folder(site, "cirrus-8b-sft") / "trials.html")
    count = page.locator(".count")
    page.locator(".trials tbody tr").first.wait_for()
    assert count.inner_text() == "320 of 320 trials"
    assert page.locator(".trials tbody tr").count() == 200
    page.get_by_label("Outcome").select_option("failed")
    page.get_by_label("Level").select_option("hard")
    page.get_by_label("Task contains").fill("sql/top_k")
    shown = page.locator(".trials tbody tr").all_inner_texts()
    assert count.inner_text() == f"{len(shown)} of 320 trials"
    assert 0 < len(shown) < 10
    assert all("failed" in row and "sql/top_k_ties/hard" in row for row in shown)
    page.locator(".trials tbody a").first.click()
    page.locator(".side .verdict").wait_for()
    assert "sql/top_k_ties/hard" in page.locator("h1").inner_text()
    assert page.locator(".side .verdict").inner_text().startswith("failed")
    assert "customer_id" in page.locator(".call .text").first.inner_text()


def test_trials_are_paged(open_page, site):
    path = run_folder(site, "cirrus-8b-sft") / "trials.html"
    page = open_page(path)
    page.locator(".trials tbody tr").first.wait_for()
    first = page.locator(".trials tbody tr a").first.get_attribute("href")
    page.locator(".pages button", has_text="2").click()
    assert page.locator(".trials tbody tr").count() == 120
    assert page.locator(".trials tbody tr a").first.get_attribute("href") != first
    plain = open_page(path, javascript=False)
    assert plain.locator(".filters").is_hidden()
    assert "hexathlon leaderboard unpack" in plain.locator("noscript").inner_text()


def test_arrow_keys_walk_through_trajectories(open_page, site):
    folder = run_folder(site, "cirrus-8b-sft")
    page = open_page(folder / "trials.html")
    page.locator(".trials tbody tr").first.wait_for()
    links = page.locator(".trials tbody a").evaluate_all("all => all.map((a) => a.href)")
    page.goto(links[0])
    page.locator(".walk a").first.wait_for()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(links[1])
    page.locator("[rel=prev]").wait_for()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(links[0])


def test_a_submission_shows_how_to_rerun_it(open_page, site):
    page = open_page(run_folder(site, "borealis-30b-a3b") / "index.html")
    text = page.locator(".command").first.inner_text()
    assert text.startswith("hexathlon eval 'endpoint:http://127.0.0.1:8000/v1#borealis-30b-a3b'")
    assert "--limit-turns 20" in text
    assert page.get_by_text("Head of the record chain").is_visible()


def test_everything_is_visible_without_scripts(open_page):
    page = open_page(javascript=False)
    assert len(column(page, 1)) == 11
    assert page.locator(".plot").count() == 2
    assert page.locator(".templates").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_pages_fit_and_are_readable(open_page, site, width, scheme):
    page = open_page(width=width, scheme=scheme)
    folder = site / run_folder(site, "cirrus-8b-sft")
    parts = {folder / "trials.html": ".trials tbody tr", folder / "trial.html": ".side h2",
             site / "compare.html": ".tasks tbody tr"}  # fmt: skip
    for path in (site / "index.html", site / "guide.html", board_page(site), folder / "index.html",
                 *parts):  # fmt: skip
        page.goto(path.as_uri())
        page.locator(parts.get(path, "main")).first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.evaluate(CONTRAST) == [], (path, scheme)
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (ground == "rgb(250, 248, 244)") == (scheme == "light")


def test_phone_cards_name_their_values_and_sort(open_page):
    page = open_page(width=390)
    card = page.locator(".ranking tbody tr").first
    label = card.locator(".score").evaluate("e => getComputedStyle(e, '::before').content")
    assert label == '"Score %"'
    page.get_by_label("Sort by").first.select_option("Tokens")
    first = page.locator(".ranking tbody tr").first
    assert first.locator(".who a").inner_text() == "ember-1.5b"


def test_names_and_figures_of_the_heat_map_do_not_break_inside_words(open_page):
    page = open_page(width=390)
    lines = """
    (cells) => cells.map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return [cell.innerText, new Set([...range.getClientRects()].map((r) => r.top)).size];
    })
    """
    figures = page.locator(".templates .heat").evaluate_all(lines)
    assert "100" in {text for text, _ in figures}
    assert {rows for _, rows in figures} == {1}
    names = dict(page.locator(".templates tbody th").evaluate_all(lines))
    assert names["pivot_status"] <= 2 and names["rank_over_partition"] <= 3


def test_focus_can_be_seen(open_page):
    page = open_page()
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the content"
    for _ in range(30):
        page.keyboard.press("Tab")
        style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style != "none"


def test_long_trajectories_are_paged_and_huge_texts_shortened(browser, tmp_path):
    def lengthen(record):
        step = record["steps"][0]
        steps = [{**step, "index": n, "action": f"act {n}"} for n in range(95)]
        steps[94]["observation"] = "start" + "x" * 1_000_000 + "end"
        return {**record, "steps": steps}

    run = make_run(tmp_path / "run", "cirrus-8b", tasks=1, edit=lengthen)
    build([run], tmp_path / "site")
    (path,) = (tmp_path / "site").glob("runs/*/trial.html")
    page = browser.new_page()
    page.goto(f"{path.as_uri()}#1")
    page.locator(".step").first.wait_for()
    actions = page.locator(".action .text")
    assert (actions.first.inner_text(), actions.last.inner_text()) == ("act 0", "act 39")
    page.get_by_role("link", name="3", exact=True).last.click()
    page.locator("#step-94").wait_for()
    assert (actions.first.inner_text(), actions.last.inner_text()) == ("act 80", "act 94")
    assert "800008 characters are left out" in page.locator("#step-94").inner_text()
    page.close()


def test_the_overview_filters_by_text_organisation_and_check(open_page):
    page = open_page("index.html")
    count = page.locator(".count")
    assert count.inner_text() == "11 of 11 systems"
    page.get_by_label("contains").fill("cirrus")
    assert count.inner_text() == "2 of 11 systems"
    page.get_by_label("Weights").select_option("open")
    assert count.inner_text() == "1 of 11 systems"
    assert page.locator("#systems tbody tr:visible").inner_text().startswith("cirrus-8b-sft")


def test_a_terminal_trial_is_played_and_saved_as_a_recording(browser, tmp_path):
    long = "\n".join(f"line {number} " + "x" * 90 for number in range(30))
    turns = [
        ("run", {"command": "ls -A\necho é"}, "a\x1b[31m\n\u202eé\n[exit status 0]"),
        ("send_keys", {"keys": "vi<Enter>", "rows": 10}, "~\n~\n[cursor in row 1, column 1]"),
        ("write_file", {"path": "/app/x", "text": "1"}, "Wrote 1 bytes."),
        ("run", {"command": "cat long"}, f"{long}\n[exit status 0]"),
    ]

    def edit(record):
        step = record["steps"][0]
        steps = [
            {
                **step,
                "index": number,
                "action": json.dumps({"name": name, "arguments": given}),
                "observation": seen,
                "reward": 0.0,
                "status": "ongoing",
            }
            for number, (name, given, seen) in enumerate(turns)
        ]
        last = {**steps[-1], "reward": step["reward"], "status": step["status"]}
        return {**record, "steps": [*steps[:-1], last], "turns": len(steps)}

    run = make_run(tmp_path / "run", "cirrus-8b", tasks=1, infra=0.0, edit=edit)
    build([run], tmp_path / "site")
    (path,) = (tmp_path / "site").glob("runs/*/trial.html")
    page = browser.new_page()
    page.goto(f"{path.as_uri()}#1")
    page.get_by_text("Recording, 6 screens").click()
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save as .cast").click()
    record = next(iter(read_records(run)))
    messages = [{"role": "user", "content": "Begin."}]
    for name, given, seen in turns:
        function = {"name": name, "arguments": json.dumps(given)}
        messages += [
            {"role": "assistant", "tool_calls": [{"function": function}]},
            {"role": "tool", "content": seen},
        ]
    expected = to_asciicast(ChatTranscript(messages, task=record["key"]["task"]))
    saved = Path(saving.value.path()).read_text("utf-8").splitlines()
    assert [json.loads(line) for line in saved] == [
        json.loads(line) for line in expected.splitlines()
    ]
    screen, place = page.locator("pre.cast"), page.get_by_label("Position")
    assert screen.inner_text().startswith("$ ls -A\necho")
    place.fill("1")
    assert "a<1b>[31m" in screen.inner_text() and "U+202E" in screen.inner_text()
    place.fill("2")
    assert screen.inner_text() == "~\n~"
    place.fill("4")
    page.get_by_role("button", name="Play").click()
    page.get_by_text("6 of 6").wait_for()
    rows = screen.inner_text().splitlines()
    assert len(rows) <= 24 and rows[-1] == "[exit status 0]" and rows[-3].startswith("line 29 xxx")
    page.get_by_role("button", name="Play").wait_for()
    page.close()


def test_changes_of_the_world_and_the_terminal_session_are_shown(browser, tmp_path):
    row = {"id": 7, "name": "<i>Ada</i>", "balance": 10}
    changes = {
        "bank": {"accounts": {"added": [row], "changed": [[row, {**row, "balance": 4}]]}},
        "notes": "one",
    }
    call = json.dumps({"name": "run", "arguments": {"command": "ls -A"}})

    def edit(record):
        first, *rest = record["steps"]
        first = {**first, "action": call, "observation": "copies\n[exit status 0]"}
        state = {"changes": changes if record["key"]["task"].endswith("00000") else {}}
        return {
            **record, "steps": [first, *rest], "final_state": state,
            "final_state_hash": content_hash(state),
        }  # fmt: skip

    run = make_run(tmp_path / "run", "cirrus-8b", tasks=2, infra=0.0, edit=edit)
    build([run], tmp_path / "site")
    (path,) = (tmp_path / "site").glob("runs/*/trial.html")
    page = browser.new_page()
    page.goto(f"{path.as_uri()}#1")
    rows = page.locator(".changes tbody tr")
    rows.first.wait_for()
    texts = [" ".join(text.split()) for text in rows.all_inner_texts()]
    assert texts[0] == "bank.accounts added balance 10 id 7 name <i>Ada</i>"
    assert texts[1].startswith("bank.accounts changed balance 10 → 4")
    assert texts[2] == "notes one"
    page.get_by_text("Terminal session, 1 command").click()
    assert page.locator(".session pre.text").inner_text() == "$ ls -A\ncopies\n[exit status 0]\n"
    page.goto(f"{path.as_uri()}#2")
    page.get_by_text("Nothing was changed.").wait_for()
    page.close()
