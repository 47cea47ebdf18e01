"""Tasks on sites outside the process, with a stand-in for their browser."""

import json
import re

import gymnasium
import pytest

from hexathlon.envs.errors import BackendMissing, ForkUnsupported
from hexathlon.envs.web.env import WebEnv
from hexathlon.envs.web.twin.twin import TwinBrowser
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.taskset import shared_taskset
from support.web_external import SITES, TrackerBrowser, raw_task

TASKS = [
    raw_task(0, ["string_match"], reference_answers={"must_include": ["Rejected"]},
             intent="What is the status of issue 105?"),
    raw_task(1, ["url_match"], reference_url="__GITLAB__/issues/105"),
    raw_task(2, ["program_html"], program_html=[
        {"url": "__GITLAB__/issues/105", "locator": "",
         "required_contents": {"must_include": ["looks fine to me"]}},
        {"url": "last", "locator": "document.querySelector('h1').outerText",
         "required_contents": {"must_include": ["#105"]}}]),
    raw_task(3, ["program_html"], program_html=[
        {"url": "func:shopping_get_latest_order_url()", "locator": "document.title",
         "required_contents": {"exact_match": "x"}}]),
]  # fmt: skip


@pytest.fixture
def env(tmp_path, monkeypatch):
    folder = tmp_path / "webarena"
    folder.mkdir()
    (folder / "test.raw.json").write_text(json.dumps(TASKS))
    monkeypatch.setenv("HEXATHLON_DATA", str(tmp_path))
    shared_taskset.cache_clear()  # it may have cached tasks of another folder under the same ids
    monkeypatch.setattr(WebEnv, "_make_browser", lambda self, task: TrackerBrowser())
    env = gymnasium.make(
        "hexathlon/Web-v0", taskset="webarena", split="test", sites=SITES
    ).unwrapped
    yield env
    env.close()


def begin(env, number):
    task_id = get_source("webarena").address("test", number)
    observation, _ = env.reset(seed=1, options={"task": task_id})
    return observation


def call(env, name, **arguments):
    return env.step(json.dumps({"name": name, "arguments": arguments}))


def test_an_answer(env):
    assert "http://tracker.hexathlon.test/issues" in begin(env, 0)
    _, reward, terminated, _, info = call(env, "finish", answer="The status is Rejected")
    assert terminated and reward == 1
    assert info["reward_terms"]["webarena_strict"] == 1
    begin(env, 0)
    _, reward, _, _, info = call(env, "finish", answer="Open or Rejected")
    assert reward == 1 and info["reward_terms"]["webarena_strict"] == 0


def test_the_last_url(env):
    begin(env, 1)
    assert call(env, "finish", answer="")[1] == 0
    begin(env, 1)
    call(env, "goto", url="http://tracker.hexathlon.test/issues/105")
    assert call(env, "finish", answer="")[1] == 1


def test_contents_of_pages_are_read_at_the_end(env):
    begin(env, 2)
    call(env, "goto", url="http://tracker.hexathlon.test/issues/105")
    assert env.verdict().score == 0
    assert env.browser.reads == [], "nothing is read before the end"
    screen = call(env, "noop")[0]
    field, button = (
        re.search(rf"\[(\d+)\] {name}", screen)[1]
        for name in ('textbox "Your comment"', 'button "Add comment"')
    )
    call(env, "fill", bid=field, text="This looks fine to me")
    call(env, "click", bid=button)
    assert call(env, "finish", answer="")[1] == 1
    assert env.browser.reads == ["http://tracker.hexathlon.test/issues/105", ""]
    final = env.final_state()
    json.dumps(final)
    sent = [entry["request"]["method"] for entry in final["network"]]
    assert sent.count("POST") == 1
    assert len(env.browser.reads) == 2, "pages are read once"


def test_checks_that_need_the_sites_api_are_unscored(env):
    begin(env, 3)
    call(env, "finish", answer="")
    verdict = env.verdict()
    assert verdict.status == "unscored" and verdict.terms["needs_site"] == 1


def test_sites_cannot_be_forked(env):
    begin(env, 0)
    with pytest.raises(ForkUnsupported, match="elsewhere"):
        env.fork(2)


def test_a_missing_site_is_named(env):
    env.sites = {}
    with pytest.raises(TaskError, match="HEXATHLON_SITE_GITLAB"):
        begin(env, 0)


def test_the_twin_refuses(env, monkeypatch):
    monkeypatch.setattr(WebEnv, "_make_browser", lambda self, task: TwinBrowser())
    with pytest.raises(BackendMissing, match="outside this process"):
        begin(env, 0)
