"""X34: pages only display text from models, tasks and submitters.

Each payload is put into every text of a separate run: model, agent, task, template, flags, opening,
actions, tool names, observations, terms, evidence, error, final state. The pages are then opened in
a real browser.
"""

import json
from pathlib import Path

import pytest

from hexathlon.evaluators.records import RecordWriter, read_records
from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.evaluators.records.plan import write_plan
from hexathlon.leaderboard.build import build
from support.judged import judge
from support.payloads import PAYLOADS
from support.runs import make_run
from support.sites import board_texts

ALIVE = r"""
() => {
  const found = [];
  const tags = "iframe, object, embed, img, base, video, marquee, style, form[action]";
  for (const element of document.querySelectorAll(tags)) found.push(element.outerHTML);
  for (const script of document.scripts) {
    const own = /\/(static\/[a-z]+|data\/[a-z0-9-]+)\.js$/.test(script.src);
    if (!own) found.push(script.outerHTML);
  }
  for (const element of document.querySelectorAll("*")) {
    for (const { name } of element.attributes) {
      if (name.startsWith("on") || name === "style") found.push(`${element.tagName} ${name}`);
    }
  }
  for (const link of document.links) if (link.protocol !== "file:") found.push(link.href);
  return found;
}
"""
LISTEN = "window.hits = 0; window.hit = () => { window.hits += 1; };"


def poison(folder: Path, clean: Path, text: str) -> Path:
    """Rewrite a clean run with one text in every text field."""
    plan = json.loads((clean / "plan.json").read_text())
    plan["keys"] = [[env, text, seed, trial] for env, _, seed, trial in plan["keys"]]
    plan["model"] |= {"name": text, "revision": text}
    plan["agent"] = {"name": text, "version": text}
    plan["config"] |= {"model": text, "prompt_suffix": text, text: text}
    plan["code"] |= {"git_revision": text}
    plan["team"] = plan["created"] = plan["run_id"] = plan["sandbox"] = text
    digest = write_plan(folder, plan)
    with RecordWriter(folder, digest, fsync="never") as writer:
        for record in read_records(clean):
            writer.append(poisoned(record, text))
    more = {"kind": text, "experimental": [text], "audits": [text]}
    judge(folder, criterion=text, label=text, judges=[{"model": text}], **more)
    return folder


def poisoned(record, text):
    call = json.dumps({"name": text, "arguments": {text: text, "rows": [text]}})
    step = {"observation": text, "reward": 0.5, "status": text}
    rows = {"added": [{text: text}], "changed": [[{text: 1}, {text: text}]]}
    state = {text: [text], "changes": {text: rows}}
    return {
        **record,
        "key": {**record["key"], "task": text},
        "template": text,
        "level": text,
        "split": text,
        "stop": text,
        "status": "unscored",
        "reward": None,
        "cause": text,
        "error": text,
        "terms": {text: 0.5},
        "evidence": {text: text},
        "checks": [{"name": text, "version": text}],
        "judges": [{"criterion": text}],
        "flags": [text],
        "earlier": [{"attempt": text, "cause": text, "message": text}],
        "usage": {text: {"input": 1, "output": 1, "calls": 1, "cost": None}},
        "sandbox": text,
        "opening": text,
        "steps": [{**step, "index": 0, "action": text}, {**step, "index": 1, "action": call}],
        "final_state": state,
        "final_state_hash": content_hash(state),
    }


@pytest.fixture(scope="module")
def poisoned_site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("poisoned")
    clean = make_run(folder / "clean", "cirrus-8b", tasks=1, infra=0.0)
    runs = [poison(folder / f"r{n:02d}", clean, text) for n, text in enumerate(PAYLOADS)]
    odd = folder / "<script>hit()<" / "x"
    odd.mkdir(parents=True)
    build([*runs, odd], folder / "site")
    return folder / "site"


def test_the_corpus_is_large_enough():
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 60


def test_payloads_name_no_file_outside_the_site(poisoned_site):
    assert len(list(poisoned_site.glob("runs/*/index.html"))) == len(PAYLOADS)
    for path in poisoned_site.rglob("*"):
        assert path.name.isascii()
        assert not set(path.name) & set("<>:\"'\\|?* ")


def test_templates_in_payloads_are_not_run(poisoned_site):
    text = board_texts(poisoned_site)
    assert "{{ 7 * 7 }}" in text
    assert "uid=" not in text


def watch(context, site):
    """Return a page and a list that collects everything on it that should not happen."""
    wrong = []
    page = context.new_page()
    page.add_init_script(LISTEN)
    page.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
    page.on("pageerror", lambda error: wrong.append(f"error {error}"))
    page.on("console", lambda message: wrong.append(f"console {message.text}"))
    page.on("popup", lambda popup: wrong.append(f"popup {popup.url}"))

    def request(asked):
        if not asked.url.startswith(site.as_uri()):
            wrong.append(f"request {asked.url[:100]}")

    page.on("request", request)
    return page, wrong


def examine(page, path, *widths, ready="main"):
    """Open a page and assert, at each width, that our own script is its only active content."""
    page.goto(path.as_uri(), wait_until="load")
    page.locator(ready).first.wait_for(state="attached")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        hits, alive, wide, high = page.evaluate(
            f"[window.hits, ({ALIVE})(), document.documentElement.scrollWidth, "
            "document.querySelector('main').offsetHeight]"
        )
        assert hits == 0, path
        assert alive == [], path
        assert wide <= width, path
        assert high > 100, path


@pytest.mark.browser
def test_the_detector_notices_a_page_that_does_not_escape(browser, tmp_path):
    (tmp_path / "bad.html").write_text(f"<!doctype html><main>{PAYLOADS[10]}</main>")
    page, _ = watch(browser.new_context(), tmp_path)
    page.goto((tmp_path / "bad.html").as_uri())
    page.wait_for_function("window.hits > 0", timeout=60_000)
    with pytest.raises(AssertionError):
        examine(page, tmp_path / "bad.html", 1280)
    page.context.close()


@pytest.mark.browser
def test_no_payload_runs_or_breaks_the_layout(browser, poisoned_site):
    context = browser.new_context()
    page, wrong = watch(context, poisoned_site)
    shown = set()
    for path in (poisoned_site / "index.html", *(poisoned_site / "boards").glob("*.html")):
        examine(page, path, 1280, 390)
    for name, ready in (("compare", ".tasks"), ("points", "td.sum"), ("methods", "h1")):
        examine(page, poisoned_site / f"{name}.html", 390, ready=ready)
    for folder in sorted(poisoned_site.glob("runs/*")):
        examine(page, folder / "index.html", 390)
        examine(page, folder / "trials.html", 390, ready=".trials tbody tr")
        examine(page, folder / "trial.html", 1280, 390, ready=".side h2")
        shown.add(page.locator(".opening pre").text_content())
    assert wrong == []
    context.close()
    plain = {text for text in PAYLOADS if text.isascii() and text.isprintable()}
    assert len(plain) > 30
    assert plain <= shown
