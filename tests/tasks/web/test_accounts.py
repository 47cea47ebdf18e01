"""The user's records are closed to other accounts, and signing out by accident does no harm."""

import json
import re

import pytest

from hexathlon.envs.web.env import WebEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.web.world.exchange import WebRequest
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan, people_of
from hexathlon.tasks.web.world.site import SESSION_COOKIE
from hexathlon.tasks.web.world.sites.table import site_named
from support.web_pages import task_ids

OWNED = {
    "bank": [
        ("SELECT replace(number, ' ', '') FROM accounts", ("/accounts/{}", "/accounts/{}/export")),
        ("SELECT id FROM payees", ("/payees/{}", "/payees/{}/delete")),
        ("SELECT id FROM messages", ("/messages/{}",)),
        ("SELECT number FROM cards", ("/cards/{}", "/cards/{}/block")),
        ("SELECT id FROM standing", ("/standing/{}",)),
        ("SELECT id FROM transactions LIMIT 20", ("/bookings/{}", "/bookings/{}/dispute")),
    ],
    "shop": [
        (
            "SELECT number FROM orders WHERE person = :me",
            ("/orders/{}", "/orders/{}/invoice", "/orders/{}/return", "/orders/{}/cancel"),
        ),
        ("SELECT id FROM addresses WHERE person = :me", ("/addresses/{}", "/addresses/{}/delete")),
    ],
    "maps": [
        ("SELECT id FROM bookings WHERE person = :me", ("/bookings/{}", "/bookings/{}/cancel")),
        ("SELECT id FROM lists WHERE owner = :me", ("/lists/{}", "/lists/{}/delete")),
    ],
    "mail": [
        (
            "SELECT id FROM messages LIMIT 20",
            ("/messages/{}/reply", "/messages/{}/move", "/threads/{}"),
        ),
        ("SELECT name FROM folders", ("/folder/{}",)),
    ],
}
FORM = (("name", "x"), ("state", "paused"), ("amount", "1.00"), ("reason", "lost"), ("note", "x"))


@pytest.mark.parametrize("site", OWNED)
def test_other_accounts_neither_see_nor_change_the_users_records(site):
    plan = WorldPlan((site,), 5, "train", "en", 2, "2026-03-02T09:00:00")
    network = Network(plan, LOOKS["harbour"])
    me, *others = people_of(plan)
    store, host = network.store(site), site_named(site).host
    answered, mine = 0, site_named(site).sign_in(store, me.login, network.clock)
    # Neither of the two takes part in a record of mine.
    for stranger in (others[4], others[8]):
        token = site_named(site).sign_in(store, stranger.login, network.clock)
        for query, paths in OWNED[site]:
            keys = [
                next(iter(row.values()))
                for row in store.rows(query.replace(":me", "?"), (me.login,) * query.count(":me"))
            ]
            first = WebRequest(
                "GET", host, paths[0].format(keys[0]), (), (), {}, {SESSION_COOKIE: mine}
            )
            assert keys and network.handle(first).status == 200, query
            for path in (each.format(key) for key in keys for each in paths):
                for method in ("GET", "POST"):
                    request = WebRequest(method, host, path, (), FORM * (method == "POST"), {},
                                         {SESSION_COOKIE: token})  # fmt: skip
                    answered += 1
                    assert network.handle(request).status in (403, 404), (method, path)
    assert answered >= 40
    assert network.final_state()["changes"] == {}
    network.close()


@pytest.mark.parametrize("login", ["nobody", "", "' OR 1 = 1 --"])
def test_nobody_gets_in_without_the_password(login):
    network = Network(
        WorldPlan(("bank",), 5, "train", "en", 2, "2026-03-02T09:00:00"), LOOKS["harbour"]
    )
    for password in ("", "x", "' OR 1 = 1 --"):
        form = (("login", login), ("password", password), ("next", "//example.com/"))
        answer = network.handle(WebRequest("POST", "bank.hexathlon.test", "/sign-in", (), form))
        assert answer.status == 422 and not answer.cookies
    for token in ("", "0" * 16, "' OR 1 = 1 --"):
        request = WebRequest(
            "GET", "bank.hexathlon.test", "/cards", (), (), {}, {SESSION_COOKIE: token}
        )
        assert network.handle(request).location.startswith("/sign-in")
    network.close()


@pytest.mark.parametrize("template", ["bank_limits", "tracker_set_priority"])
def test_signing_out_by_accident_harms_nothing(template):
    level = "easy" if template == "bank_limits" else "tiny"
    task_id = task_ids(template, level, count=1)[0]
    env = WebEnv(look="harbour")
    screen, _ = env.reset(seed=3, options={"task": task_id})
    found = re.search(r"(?:each: |账号：)(\S+?)[,，] ?(?:password |密码：)(\S+)", screen)
    assert found is not None

    def act(tool: str, **arguments: str) -> str:
        return env.step(json.dumps({"name": tool, "arguments": arguments}))[0]

    def number(role: str, nth: int = 0) -> str:
        return re.findall(rf"\[(\d+)\] {role}", screen)[nth]

    host = f"http://{template.partition('_')[0]}.hexathlon.test"
    screen = act("goto", url=f"{host}/sign-out")
    screen = act("fill", bid=number("textbox"), text=found[1])
    screen = act("fill", bid=number("textbox", 1), text=found[2])
    screen = act("press", bid=number("textbox", 1), key_comb="Enter")
    assert found[1].partition(".")[2].title() in screen  # the account's name
    source = get_source("web")
    script = source.oracle(source.build(task_id))
    action, reward, done = next(script), 0.0, False
    while not done:
        screen, reward, terminated, truncated, _ = env.step(action)
        done = terminated or truncated
        action = "" if done else script.send(screen)
    assert reward == 1.0
    env.close()
