"""Months, baskets and conversations: oracle, near misses, looks, and the two derivations."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Any, cast

import numpy as np
import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.household.changes import ban, lifted
from hexathlon.tasks.shopping.templates.household.month import HouseMonth
from hexathlon.tasks.shopping.templates.household.needs import asked, overlooked
from hexathlon.tasks.shopping.templates.household.rules import house_rules
from hexathlon.tasks.shopping.templates.table import TEMPLATES
from hexathlon.tasks.shopping.templates.talks.case import TalkCase
from hexathlon.tasks.shopping.templates.talks.policy import numbered
from hexathlon.tasks.shopping.templates.talks.resolve import Unsettled, resolve
from hexathlon.tasks.shopping.world.household.goods import KINDS
from hexathlon.tasks.shopping.world.household.house import Household
from hexathlon.tasks.shopping.world.household.house_tools import HOUSE_REASONS
from hexathlon.tasks.shopping.world.household.prices import (
    MarketNeed,
    Wanted,
    arrival,
    cheapest,
    cheapest_again,
    contents_of,
    fit_of,
)
from hexathlon.tasks.shopping.world.looks import LOOKS, MarketLook, labelled_rows
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.talk.amounts import (
    Goes,
    Refund,
    refund_again,
    refund_due,
    split,
)
from hexathlon.tasks.shopping.world.talk.talk_tools import TALK_REASONS
from hexathlon.tasks.task import Level, Task
from support.shop import call, played

SOURCE = get_source("shopping")
COMPOSED = [name for name, t in TEMPLATES.items() if t.group in ("month", "basket", "talk")]


@cache
def one_of_each(level: Level) -> list[Task]:
    """One task of every template, half of them in each language."""
    wanted = {name for name in COMPOSED if level in TEMPLATES[name].levels}
    found: dict[str, str] = {}
    for i in range(0, 400, 2):
        task_id = SOURCE.address("test", i, level)
        if task_id.split("/")[1] in wanted:
            found.setdefault(task_id.split("/")[1], task_id)
    assert set(found) == wanted
    return [SOURCE.build(task_id) for task_id in found.values()]


@pytest.fixture(scope="module", params=["medium", "hard"])
def tasks(request: pytest.FixtureRequest) -> list[Task]:
    return one_of_each(request.param)


@pytest.fixture(scope="module")
def env() -> ShoppingEnv:
    return ShoppingEnv()


def test_the_oracle_and_its_alternatives_are_right(tasks, env):
    assert {task.params["language"] for task in tasks} == {"en", "zh"}
    for task in tasks:
        assert played(env, task.id, SOURCE.oracle(task)) == 1.0, task.id
        for name, script in SOURCE.alternatives(task).items():
            assert played(env, task.id, script) == 1.0, (task.id, name)


def test_every_near_miss_and_every_trivial_agent_is_wrong(tasks, env):
    for task in tasks:
        mutants = SOURCE.mutants(task)
        assert len(mutants) >= 3, task.id
        for name, script in {**mutants, **SOURCE.policies(task)}.items():
            assert played(env, task.id, script) == 0.0, (task.id, name)


def test_baskets_conversations_and_long_months_have_three_twists_or_more():
    short = [task for task in one_of_each("medium") if task.template.startswith("month_")]
    for task in [*one_of_each("hard"), *one_of_each("medium")]:
        assert len(set(task.checks[0].params["traps"])) >= (1 if task in short else 3), task.id


def test_the_budget_of_actions_is_stated_and_1_4_times_what_the_oracle_needs(tasks):
    for task in tasks:
        calls = sum(1 for _ in calls_of(task))
        assert calls * 1.4 <= task.limits.turns < calls * 1.4 + 1
        assert str(task.limits.turns) in task.instruction


def calls_of(task: Task):
    """Yield the oracle's calls; its scripts do not listen."""
    yield from SOURCE.oracle(task)


def test_every_look_shows_the_same_facts_and_is_reported(env):
    task = next(t for t in one_of_each("medium") if t.template == "basket_match")
    shown: dict[str, str] = {}
    for seed in range(40):
        env.reset(seed=seed, options={"task": task.id})
        look = env.final_state()["look"]
        shown[look] = env.step(call("list_sellers"))[0]
    assert set(shown) == set(LOOKS) and len(set(shown.values())) == len(LOOKS)
    sellers = [key for table, key, _ in task.params["records"] if table == "sellers"]
    assert all(name in text for name in sellers for text in shown.values())


def test_counters_and_shops_have_looks_too(env):
    """Every look of an episode names the same records, in another layout."""
    counter = next(t for t in (SOURCE.build(i) for i in addresses("hard")) if "shift" in t.template)
    order = next(key for table, key, _ in counter.params["records"] if table == "orders")
    shop = next(
        task
        for task in (SOURCE.build(i) for i in addresses("medium"))
        if task.params["world"] == "store" and task.checks[0].params["plan"]["lines"]
    )
    item = str(shop.checks[0].params["plan"]["lines"][0][0]).partition("-")[0]
    for task, action in (
        (counter, call("show_order", order=order)),
        (shop, call("read_specification", item=item)),
    ):
        shown: dict[str, str] = {}
        for seed in range(40):
            env.reset(seed=seed, options={"task": task.id})
            shown[env.final_state()["look"]] = env.step(action)[0]
        assert set(shown) == set(LOOKS) and len(set(shown.values())) == len(LOOKS)
        words = [set(re.findall(r"P[0-9A-Z]{6}-\d+|[$¥][\d.]+", text)) for text in shown.values()]
        assert all(found == words[0] for found in words)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_list_of_the_market_has_two_columns_of_one_name(language):
    for kind in KINDS.values():
        fields = ("id", "brand", "fit", "units", "price", "seller", "stock", "contains", "returns")
        labels = {"fit": kind.fit_name(language) or "-"}
        for wording in range(3):
            look = MarketLook("columns", "tabs", wording, False)
            head = labelled_rows([dict.fromkeys(fields, "")], look, language, labels)
            columns = head.splitlines()[0].split("\t")
            assert len(set(columns)) == len(fields), (kind.slug, columns)


def addresses(level: str) -> Iterator[str]:
    """Yield the ids of the first tasks of a level."""
    yield from (SOURCE.address("dev", k, level) for k in range(80))


def test_simple_shops_have_one_look(env):
    task_id = next(i for i in addresses("tiny") if SOURCE.build(i).params["world"] == "store")
    for seed in range(8):
        env.reset(seed=seed, options={"task": task_id})
        assert env.final_state()["look"] == "stall"


def test_train_does_not_show_the_looks_of_evaluation(env):
    task_id = next(
        i for i in (SOURCE.address("train", k, "medium") for k in range(80)) if "/talk" in i
    )
    looks = Counter()
    for seed in range(30):
        env.reset(seed=seed, options={"task": task_id})
        looks[env.final_state()["look"]] += 1
    assert len(looks) == 3 and not {"sheet", "notes"} & set(looks)


def test_a_fork_keeps_look_and_records(env):
    task = one_of_each("medium")[0]
    env.reset(seed=4, options={"task": task.id})
    child = env.fork(1)[0]
    assert child.final_state() == env.final_state()
    script = list(SOURCE.oracle(task))
    first = [env.step(action)[0] for action in script]
    assert [child.step(action)[0] for action in script] == first


# Composition -----------------------------------------------------------------------------------


def scene(seed: int = 0) -> ShoppingScene:
    """Return a scene without a catalogue, which households and conversations do not need."""
    rng = np.random.default_rng(seed)
    return ShoppingScene(cast("Any", None), rng, "en", "hard", "test", 0)


def test_each_notice_that_does_not_bind_is_a_near_miss_of_its_own():
    month = HouseMonth(scene(5), 10)  # four different sellers are drawn
    ban(month, month.father)
    lifted(month)
    ban(month, month.son)
    ban(month, month.daughter)
    ban(month, month.mother)
    (binding,) = month.banned
    void = month.void_bans
    assert sorted(void.values()) == ["child's notice", "child's notice", "lifted ban"]
    assert binding not in void
    month.begin(month.mother, 5)
    ways = overlooked(month, asked(month, [MarketNeed("bars", 4)]))
    followed = {name: way.banned for name, way in ways.items() if "followed" in name}
    assert followed == {
        f"{why} followed ({seller})": (binding, seller) for seller, why in void.items()
    }


def test_decline_knows_orders_offers_and_members_in_any_case():
    month = HouseMonth(scene(), 10)
    month.begin(month.mother, 1)
    month.restock("bars", (), ())
    house = Household(month.params)
    offer_id = next(each["id"] for each in month.offers(["bars"]) if each["stock"])
    house.call("place_order", {"lines": [offer_id.lower()]})
    for text in (f" {offer_id.lower()} ", "r1", month.judge.name.upper(), "Budget", "X9"):
        house.call("decline", {"reason": "not_entitled", "record": text})
    names = [offer_id, "R1", month.judge.name, "budget", "X9"]
    assert house.state.declines == tuple((name, "not_entitled") for name in names)
    house.call("decline", {"reason": "none", "record": offer_id.lower()})
    assert [key for key, _ in house.state.declines] == names[1:]


@pytest.mark.parametrize("between", [-2, 0, 2])
def test_orders_placed_on_one_day_have_no_order_of_booking(between):
    case = TalkCase(scene())
    first, second = (case.order("delivered", 2, age=3) for _ in range(2))
    for order in (first, second):
        for line in order["lines"]:
            line["final"] = False
        case.last.back[order["id"]] = {"1"}
    second["placed"] = first["placed"] + between
    rules, _ = numbered(case)
    if between == 0:
        with pytest.raises(Unsettled, match="same day"):
            resolve(case, rules)
        # An order of which everything is kept does not matter.
        case.last.back[second["id"]] = set()
    calls, _ = resolve(case, rules)
    booked = [arguments["order"] for name, arguments in calls if name == "refund_lines"]
    expected = {-2: [second, first], 0: [first], 2: [first, second]}[between]
    assert booked == [order["id"] for order in expected]


def test_every_reason_for_declining_is_named_by_a_rule():
    _, policy = numbered(TalkCase(scene()))
    rules = house_rules(HouseMonth(scene(), 10))
    assert all(any(reason in line for line in policy) for reason in TALK_REASONS)
    assert all(any(reason in line for line in rules) for reason in HOUSE_REASONS)


# The market ------------------------------------------------------------------------------------


def offer(name: str, kind: str, cents: int, seller: str, **fields: object) -> dict:
    return {
        "id": name, "kind": kind, "brand": "Alma", "fit": "", "contents": [], "units": 4,
        "seller": seller, "returns": 0, "reviews": [], "cents": cents, "stock": 5, "dispatch": 0,
        **fields,
    }  # fmt: skip


def seller(**fields: object) -> dict:
    return {
        "fee_cents": 500, "free_cents": 3000, "days": 2, "pause": [9, 10],
        "bundle": {"kinds": 2, "cents": 300}, **fields,
    }  # fmt: skip


SELLERS = {"Amber": seller(), "Birch": seller(fee_cents=900, free_cents=2000)}


def test_fees_thresholds_and_set_discounts_decide_what_is_cheapest():
    offers = [
        offer("F1", "bars", 400, "Amber"),
        offer("F2", "bars", 450, "Birch"),
        offer("F3", "cups", 700, "Amber"),
        offer("F4", "cups", 600, "Birch"),
    ]
    wanted = Wanted(1, (MarketNeed("bars", 8), MarketNeed("cups", 4)))
    # Both from Amber: 800 + 700 + 500 - 300.
    assert cheapest(offers, SELLERS, wanted)[0] == (1700, (("F1", 2), ("F3", 1)))
    assert cheapest_again(offers, SELLERS, wanted) == 1700


def test_verified_reviews_prevail_over_the_page_and_guests_do_not():
    said = {"what": "contains", "value": "nuts", "text": ""}
    two = [{**said, "verified": True}] * 2
    bars = offer("F1", "bars", 400, "Amber", reviews=[*two, {**said, "verified": False}])
    assert contents_of(bars, 3) == set() and contents_of(bars, 2) == {"nuts"}
    fits = [{"what": "fit", "value": "M3", "verified": True, "text": ""}] * 3
    assert fit_of(offer("F2", "blades", 1, "Amber", fit="M5", reviews=fits), 3) == "M3"


def test_sellers_pause_before_they_send():
    assert arrival(offer("F1", "bars", 1, "Amber", dispatch=2), SELLERS["Amber"], 7) == 13
    assert arrival(offer("F1", "bars", 1, "Amber", dispatch=1), SELLERS["Amber"], 7) == 10


def test_waiting_can_cost_more_than_a_dearer_offer():
    offers = [offer("F1", "bars", 400, "Amber", dispatch=3), offer("F2", "bars", 700, "Amber")]
    wanted = Wanted(1, (MarketNeed("bars", 4),), day_cents=150)
    assert cheapest(offers, SELLERS, wanted)[0][1] == (("F2", 1),)
    assert cheapest(offers, SELLERS, wanted)[0][0] == cheapest_again(offers, SELLERS, wanted)


# The desk --------------------------------------------------------------------------------------

ORDER = {
    "status": "pending", "fee": 490, "fee_charged": 0, "gift_paid": 1000,
    "coupon": {"off": 700, "min": 8000},
    "lines": [{"line": "1", "cents": 5050}, {"line": "2", "cents": 3050}],
}  # fmt: skip
POLICY = {"free_cents": 6000, "opened_percent": 10}


@pytest.mark.parametrize(
    ("status", "goes", "due"),
    [
        # The coupon and free delivery are lost: 3050 - 700 - 490.
        ("pending", Goes(frozenset("2")), Refund(1860, 30)),
        # A return leaves the fee: 3050 - 700.
        ("delivered", Goes(frozenset("2")), Refund(2350, 30)),
        # What was broken counts as kept.
        ("delivered", Goes(frozenset("2"), damaged=frozenset("2")), Refund(3050, 30)),
        # A tenth of 3050 for use.
        ("delivered", Goes(frozenset("2"), opened=frozenset("2")), Refund(2045, 30)),
        # Everything is cancelled: no fee, no coupon.
        ("pending", Goes(frozenset("12")), Refund(7400, 81)),
    ],
)
def test_refunds_follow_the_policy_in_both_derivations(status, goes, due):
    order = {**ORDER, "status": status}
    assert refund_due(order, goes, POLICY) == refund_again(order, goes, POLICY) == due


def test_refunds_go_to_the_gift_card_first():
    assert split(ORDER, 1500) == (1000, 500)
    assert split(ORDER, 1500, booked=800) == (200, 1300)


def test_supplies_in_the_house_follow_what_was_ordered_and_has_arrived():
    """The reference's figures where it was followed; less where nothing was ordered."""
    seen = 0
    for index in range(0, 400, 2):
        task_id = SOURCE.address("test", index, "hard")
        if task_id.split("/")[1] != "month_supplies":
            continue
        world = SOURCE.build(task_id).params
        events = [
            (place, kind, record)
            for place, asked_for in enumerate(world["requests"])
            for table, kind, record in asked_for["events"]
            if table == "supplies" and record["arrived"] and record["left"]
        ]
        for place, kind, record in events:
            house = Household(world)
            for _ in range(place):
                house.do_finish_request(0)
            now = house.tables.get("supplies", kind)
            assert now["left"] == max(record["left"] - record["arrived"], 0), task_id
            seen += now["left"] < record["left"]
        if seen > 3:
            return
    raise AssertionError("no month has supplies that arrive and are counted again")


# Requests that name what they mean -------------------------------------------------------------


def test_requests_to_give_back_usual_goods_name_the_day_of_one_order():
    seen = 0
    for task in one_of_each("hard"):
        requests, plans = task.params["requests"], task.checks[0].params["plans"]
        for request, plan in zip(requests, plans, strict=True):
            named = re.search(
                r"(?:ordered|asked for) on day (\d+)|第(\d+)天(?:让你)?订", request["says"]
            )
            if named is None:
                continue
            day = int(named[1] or named[2])
            meant = [f"R{n}" for n, other in enumerate(requests, 1) if other["day"] == day]
            assert len(meant) == 1, (task.id, request["says"])
            lines = [
                line.partition(" x ")[0]
                for name, arguments in plans[int(meant[0][1:]) - 1]["actions"]
                for line in arguments["lines"]
            ]
            for name, arguments in plan["actions"]:
                assert arguments.get("order", meant[0]) == meant[0]
                assert name == "give_back" or arguments["record"] in (*meant, *lines)
            seen += 1
    assert seen >= 5


def test_supplies_arrive_on_a_day_that_the_stock_covers_in_full():
    """Played with the reference: what is left covers every day up to the arrival."""
    seen = 0
    for task in one_of_each("hard"):
        house = Household(task.params)
        plans = task.checks[0].params["plans"]
        for request, plan in zip(task.params["requests"], plans, strict=True):
            counted = {
                kind: house.tables.get(table, kind)
                for table, kind, _ in request["events"]
                if table == "supplies"
            }
            for name, arguments in plan["actions"]:
                with suppress(DeskProblem):  # the market moves under some first orders
                    house.call(name, arguments)
            order = house.tables.get("orders", house.key) or {"lines": {}}
            for offer, line in order["lines"].items():
                supply = counted.get(house.record("offers", offer)["kind"])
                if supply is not None:
                    days = line["arrives"] - house.today + 1
                    assert supply["left"] >= supply["rate"] * days, (task.id, request["says"])
                    seen += 1
            house.call("finish_request", {"left_cents": 0})
    assert seen >= 12


def test_instructions_announce_requests_that_come_with_the_close():
    """Those of the worlds in which customers have last words, in the episode's language."""
    spoken = 0
    shifts = islice((each for each in addresses("hard") if "/shift" in each), 4)
    for task in [*one_of_each("medium"), *map(SOURCE.build, shifts)]:
        cases = task.params.get("cases") or [task.params]
        said = "then stays open" in task.instruction or "尚未结束" in task.instruction
        assert said == (task.params["world"] in ("shift", "talk")), task.id
        spoken += said and any(case["last"] for case in cases)
    assert spoken >= 3
