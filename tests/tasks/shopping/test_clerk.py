"""The clerk of the service desk: it looks up the records it acts on, and names them."""

import json
import re
from statistics import mean

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.shopping.source import ShoppingSource
from hexathlon.tasks.source import parse_address

SOURCE = ShoppingSource()
CLERKS = ("cancel", "change_address", "not_owner")
ENTRY = re.compile(r"\d+\. (O\d{8})")


def ids(template: str, count: int) -> list[str]:
    every = (SOURCE.address("train", number, "tiny") for number in range(100 * count))
    return [one for one in every if parse_address(one).template == template][:count]


def looked(task_id: str) -> tuple[list[dict], list[str], list[str]]:
    """Play the oracle; return its calls, the thought before each, and the observations."""
    env = ShoppingEnv()
    opening, _ = env.reset(options={"task": task_id})
    heard, calls, thoughts = [str(opening)], [], []
    script, answer = SOURCE.oracle(env.task), None
    while True:
        try:
            action = next(script) if answer is None else script.send(answer)
        except StopIteration:
            break
        thoughts.append(SOURCE.thought(env.task, heard, action))
        observed, reward, ended, _, _ = env.step(action)
        answer = str(observed)
        calls.append(json.loads(action))
        heard.append(answer)
        if ended:
            break
    assert reward == 1.0
    return calls, thoughts, heard


@pytest.mark.parametrize("template", CLERKS)
def test_every_id_that_the_clerk_names_was_read_before(template):
    for task_id in ids(template, 6):
        calls, _, heard = looked(task_id)
        for place, call in enumerate(calls):
            for name in ("customer", "order", "record"):
                if name in call["arguments"]:
                    assert any(call["arguments"][name] in seen for seen in heard[: place + 1])


def test_orders_are_opened_as_listed_until_the_goods_turn_up():
    for task_id in ids("cancel", 8):
        calls, thoughts, heard = looked(task_id)
        opened = [call["arguments"]["order"] for call in calls if call["name"] == "show_order"]
        listed = next(ENTRY.findall(seen) for seen in heard if len(ENTRY.findall(seen)) > 1)
        assert opened == listed[: len(opened)]
        assert opened[-1] == SOURCE.build(task_id).checks[0].params["plan"]["orders"][0]
        asked_on = [thought for thought in thoughts if "?\n" in thought]
        assert len(asked_on) == len(opened) - 1


@pytest.mark.parametrize("template", CLERKS)
def test_thoughts_quote_what_was_read(template):
    for task_id in ids(template, 6):
        _, thoughts, heard = looked(task_id)
        assert any(thoughts)
        for place, thought in enumerate(thoughts):
            read = "\n".join(heard[: place + 1])
            for quote in thought.splitlines():
                assert quote.removesuffix("?") in read


def test_an_order_number_does_not_tell_which_order_is_meant():
    places = []
    for task_id in ids("cancel", 60)[::2]:
        plan = SOURCE.build(task_id).checks[0].params["plan"]
        places.append(sorted(plan["orders"]).index(plan["orders"][0]))
    assert min(places) == 0 and max(places) == 6
    assert 1.5 < mean(places) < 4.5


def test_the_number_of_a_stranger_is_like_any_other():
    owners = []
    for task_id in ids("not_owner", 48):
        task = SOURCE.build(task_id)
        named = task.checks[0].params["plan"]["named"][0]
        (owner,) = (r["customer"] for table, key, r in task.params["patch"] if key == named)
        own = next(key for table, key, _ in task.params["patch"] if table == "customers")
        # Which of the two twins the owner asks for is drawn.
        if owner != own:
            owners.append((owner > own, owner[1] == own[1]))
    assert len(owners) == 24
    assert len({above for above, _ in owners}) == 2 and all(same for _, same in owners)
