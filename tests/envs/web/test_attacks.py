"""No input of an agent breaks an episode: a page, an error page or a refusal follows."""

import json
from collections import Counter

import pytest

from hexathlon.envs.messages import parse_text
from hexathlon.envs.web.env import WebEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.web.world.sites.table import site_named
from support.web_pages import task_ids

TASKS = {
    "tracker": "tracker_set_priority",
    "shop": "shop_add",
    "mail": "mail_contact",
    "wiki": "wiki_set_fact",
    "sheets": "sheets_set_figure",
}
UNREADABLE = ["\x00", "a\x01b\x1f", "\x0b\x0c", "\ud800", "x\udfff", "\ufffe\uffff"]


@pytest.fixture
def env():
    env = WebEnv()
    yield env
    env.close()


def begin(env, site="tracker"):
    env.reset(seed=3, options={"task": task_ids(TASKS[site], "tiny", count=1)[0]})


def act(env, tool, **arguments):
    """The turn as an agent writes it: JSON escapes may stand for any character."""
    observation, *_ = env.step(json.dumps({"name": tool, "arguments": arguments}))
    json.dumps(env.final_state()).encode()
    observation.encode()
    return observation


@pytest.mark.parametrize(
    "url",
    [
        "http://[", "http://x]#y", "http://tracker。hexathlon。test/", "http://\ud800/",
        "file:///etc/passwd", "data:text/html,x", "javascript:alert(1)", "blob:x", "about:blank",
        "http://127.0.0.1:8000/", "http://localhost/", "https://tracker.hexathlon.test/",
        "http://tracker.hexathlon.test:80/", "http://me@tracker.hexathlon.test/",
        "http://shop.hexathlon.test/", "http://tracker.hexathlon.test\\@example.test/", "",
    ],
)  # fmt: skip
def test_addresses_outside_are_refused_and_noted(env, url):
    begin(env)
    assert act(env, "goto", url=url).startswith("Error: ")
    assert len(env.final_state()["blocked"]) == 1


@pytest.mark.parametrize("text", UNREADABLE)
def test_characters_that_no_page_contains(env, text):
    begin(env)
    path = text.encode("utf-8", "surrogatepass")
    encoded = "".join(f"%{byte:02x}" for byte in path)
    for url in (f"/{text}", f"/{encoded}", f"/issues?q={encoded}", f"/projects/{encoded}"):
        assert "Page:" in act(env, "goto", url=f"http://tracker.hexathlon.test{url}")
    act(env, "goto", url="http://tracker.hexathlon.test/issues/101")
    screen = env.browser.view().text
    comment = [line for line in screen.splitlines() if "] textbox" in line][-1]
    bid = comment.partition("[")[2].partition("]")[0]
    act(env, "fill", bid=bid, text=f"before {text} after")
    assert "before" in act(env, "press", bid=bid, key_comb="Tab")
    assert env.verdict().score == 0


def test_characters_that_no_page_contains_are_stored_readably(env):
    begin(env)
    act(env, "goto", url="http://tracker.hexathlon.test/sign-in")
    login = next(line for line in env.browser.view().text.splitlines() if "textbox" in line)
    bid = login.partition("[")[2].partition("]")[0]
    act(env, "fill", bid=bid, text="a\x00\ud800b")
    assert "a\ufffd\ufffdb" in act(env, "press", bid=bid, key_comb="Enter")


@pytest.mark.parametrize("path", ["/calendar-panel", "/calendar-panel?month=2026-02&field=x"])
def test_a_fragment_can_be_opened_as_a_page(env, path):
    begin(env)
    assert "Page:" in act(env, "goto", url=f"http://tracker.hexathlon.test{path}")


@pytest.mark.parametrize("answer", [["\ud800"], [{"a\ud800": ["\x00"]}], [float("nan")], [[[1]]]])
def test_any_answer_is_scored(env, answer):
    begin(env)
    act(env, "finish", task_type="RETRIEVE", retrieved_data=answer)
    assert env.verdict().score == 0


@pytest.mark.parametrize("site", TASKS)
def test_random_input(env, site):
    """Random actions with hostile texts; every fiftieth state is forked and compared."""
    rng = generator_for("web attacks", site)
    begin(env, site)
    refused = 0
    texts = [*UNREADABLE, "]]>", "<b>&amp;", "{0}{{", "%_%_%", "'\"", "1e309", "9" * 30, "x" * 900,
             "2026-02-30", "9999-12-31", "=A1", "=SUM(A1:ZZ999)", "-1", "１２", "\r\n", "\u2028"]  # fmt: skip
    pick = lambda items: items[int(rng.integers(len(items)))]  # noqa: E731
    for step in range(300):
        elements = list(env.browser.view().text.partition("\n")[2].split("["))[1:]
        element = pick(elements) if elements else "0] link"
        bid, _, rest = element.partition("] ")
        name, arguments = "click", {"bid": bid}
        if rest.startswith("textbox"):
            name, arguments = "fill", {"bid": bid, "text": pick(texts)}
        elif rng.random() < 0.1:
            name = "goto"
            arguments = {"url": f"http://{site}.hexathlon.test/{pick(texts)}?q={pick(texts)}"}
        problem = env._run(parsed(name, arguments))
        refused += problem.startswith("Error")
        if step % 50 == 49:
            state, before = env.save(), env.final_state()
            json.dumps(before).encode()
            env.load(state)
            assert env.final_state() == before
    assert refused < 300
    assert env.verdict().score == 0


def parsed(name, arguments):
    return parse_text(json.dumps({"name": name, "arguments": arguments})).calls[0]


@pytest.mark.parametrize(
    ("template", "paths"),
    [
        ("calendar_create", ["/week?day=9999-12-31", "/week?day=0001-01-01",
                             "/rooms/birch?day=9999-12-31", "/free?day=0001-01-01"]),
        ("mail_contact", ["/search?q=" + "word+" * 1100, "/search?q=" + "-label:a+" * 500]),
        ("shop_add", ["/products?q=" + "word+" * 1100]),
        ("tracker_set_priority", ["/issues?page=99999999999999999999", "/issues?page=-1"]),
    ],
)  # fmt: skip
def test_extreme_queries_are_answered(env, template, paths):
    env.reset(seed=3, options={"task": task_ids(template, "tiny", count=1)[0]})
    site = template.partition("_")[0]
    for path in paths:
        assert "Page:" in act(env, "goto", url=f"http://{site}.hexathlon.test{path}")
    assert {event[3] for event in env.final_state()["trace"]} <= {200, 303, 404}


def test_an_error_of_a_site_is_a_page(env, monkeypatch):
    begin(env)
    site = site_named("tracker")

    def overflow(call):
        raise OverflowError("date value out of range")

    monkeypatch.setattr(site, "_signed_in", lambda call, token: overflow(call))
    assert "Page:" in act(env, "goto", url="http://tracker.hexathlon.test/issues")
    assert env.final_state()["trace"][-1][3] == 500


@pytest.mark.parametrize(
    ("template", "level"),
    [
        ("maps_closing_time", "easy"),
        ("tracker_count", "medium"),
        ("bank_transfer", "easy"),
        ("maps_book_table", "easy"),
        ("sheets_protected", "easy"),
        ("sheets_undo_entries", "medium"),
        ("shop_buy", "easy"),
    ],
)
def test_no_constant_is_right_for_many_tasks(template, level):
    source = get_source("web")
    answers = [
        source.build(task_id).checks[0].params["answer"]
        for task_id in task_ids(template, level, count=48)
    ]
    given = [str(answer["data"] or answer["record"]) for answer in answers]
    counts = Counter(value for value in given if value)
    assert max(counts.values()) <= 12, counts
