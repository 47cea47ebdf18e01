"""The store: search, pages, cart, checkout, and forks that share nothing."""

import json
import re

import pytest

from hexathlon.envs.shopping.env import ShoppingEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.shopping.world.settings import open_settings
from support.shop import call, played

SOURCE = get_source("shopping")


def find(template: str, level: str = "tiny", split: str = "test") -> str:
    """Return a task whose request can be met."""
    for index in range(300):
        task_id = SOURCE.address(split, index, level)
        if f"/{template}/" in task_id and not SOURCE.build(task_id).checks[0].params["answer"]:
            return task_id
    raise AssertionError(template)


@pytest.fixture()
def shop():
    env = ShoppingEnv()
    env.reset(seed=0, options={"task": find("coupon")})
    return env


def target(env):
    line = env.task.checks[0].params["orders"][0]["lines"][0]
    settings = open_settings(env.task.params)
    product = settings.catalogue.product(line["product"])
    return settings, product, product.variant(line["variant"])


def test_search_pages_filters_and_sorts(shop):
    settings, product, _ = target(shop)
    words = {"query": product.title[settings.language], "category": product.category}
    first = shop.step(call("search", **words))[0]
    second = shop.step(call("search", **words, page=2))[0]
    hits = [re.findall(r"(?m)^ *\d+\. (P\w+)", page) for page in (first, second)]
    assert len(hits[0]) == len(hits[1]) == 10 and not set(hits[0]) & set(hits[1])
    assert "brand" in first and "brand" not in second
    cheap = shop.step(
        call("search", query="", category=product.category, sort="price", filters={"price_max": 90})
    )[0]
    prices = [float(p) for p in re.findall(r"[$¥](\d+\.\d\d)", cheap)]
    assert prices == sorted(prices) and all(price <= 90 for price in prices)
    wrong = shop.step(call("search", query="x", filters={"nonsense": 1}))[0]
    assert wrong.startswith("Error") and "brand" in wrong


@pytest.mark.parametrize(
    "arguments",
    [
        {"filters": {"price_max": [1]}},
        {"filters": {"price_max": None}},
        {"filters": {"price_min": float("nan")}},
        {"filters": {"price_max": float("inf")}},
        {"filters": {"price_max": "cheap"}},
        {"filters": {"rating_min": {}}},
        {"filters": {"brand": 7}},
        {"filters": {"": ""}},
        {"category": "nonsense"},
        {"page": 2.0},
        {"sort": "price", "page": 500},
    ],
)
def test_odd_searches_are_answered_in_words(shop, arguments):
    answer = shop.step(json.dumps({"name": "search", "arguments": {"query": "x", **arguments}}))[0]
    assert isinstance(answer, str) and answer


def test_whole_floats_are_numbers_like_any_other(shop):
    _, product, variant = target(shop)
    cart = shop.step(call("add_to_cart", item=variant.id, quantity=2.0))[0]
    assert cart.startswith("2 ×")
    assert "★" in shop.step(call("read_reviews", item=product.id, page=1.0))[0]


def test_item_pages_show_options_and_nothing_that_only_reviews_contain(shop):
    _, product, variant = target(shop)
    page = shop.step(call("open_item", item=product.id))[0]
    assert product.id in page and all(name in page for name in product.options)
    table = shop.step(call("read_specification", item=product.id.lower()))[0]
    assert product.id in table
    reviews = shop.step(call("read_reviews", item=product.id))[0]
    assert "★" in reviews
    one = shop.step(call("choose_options", item=product.id, options=dict(variant.options)))[0]
    assert variant.id in one


@pytest.mark.parametrize("form", ["dict", "text", "named", "variant"])
def test_a_variant_can_be_named_in_several_ways(shop, form):
    settings, product, variant = target(shop)
    arguments = {
        "dict": {"item": product.id, "options": dict(variant.options)},
        "text": {"item": product.id, "options": ", ".join(variant.options.values())},
        "named": {
            "item": product.id,
            "options": "; ".join(f"{k}: {v}" for k, v in variant.options.items()),
        },
        "variant": {"item": variant.id},
    }[form]
    assert variant.id in shop.step(call("add_to_cart", **arguments))[0]


def test_wrong_options_are_answered_with_the_available_ones(shop):
    _, product, _ = target(shop)
    for options in ({"flavour": "mint"}, {}, {next(iter(product.options)): "nonsense"}):
        answer = shop.step(call("add_to_cart", item=product.id, options=options))[0]
        assert answer.startswith("Error") and any(name in answer for name in product.options)


def test_stock_bounds_the_cart(shop):
    _, product, variant = target(shop)
    answer = shop.step(call("add_to_cart", item=variant.id, quantity=99))[0]
    assert answer.startswith("Error") and str(variant.stock) in answer


def test_an_invalid_coupon_is_refused_and_changes_nothing(shop):
    settings, _, variant = target(shop)
    code = next(iter(settings.coupons))
    assert shop.step(call("apply_coupon", code=code))[0].startswith("Error")
    assert shop.step(call("apply_coupon", code="NONSENSE"))[0].startswith("Error")
    shop.step(call("add_to_cart", item=variant.id))
    assert code not in shop.step(call("view_cart"))[0]


def test_an_empty_cart_cannot_be_ordered_and_unknown_addresses_are_named(shop):
    assert shop.step(call("checkout"))[0].startswith("Error")
    _, _, variant = target(shop)
    shop.step(call("add_to_cart", item=variant.id))
    assert "home" in shop.step(call("checkout", address="moon"))[0]


def test_forks_are_independent_and_the_parent_is_unchanged():
    task_id = find("dialogue_ask")
    script = SOURCE.oracle(SOURCE.build(task_id))
    parent = ShoppingEnv()
    parent.reset(seed=3, options={"task": task_id})
    action = next(script)
    for _ in range(3):
        action = script.send(parent.step(action)[0])
    before = parent.snapshot()
    one, two = parent.fork(2)
    rest, left, right = [action], [], []
    while True:
        observation, _, terminated, _, _ = one.step(rest[-1])
        left.append(observation)
        if terminated:
            break
        rest.append(script.send(observation))
    assert one.verdict().score == 1.0
    assert parent.snapshot() == before
    right = [two.step(action)[0] for action in rest]
    assert left == right and two.verdict() == one.verdict()


def test_the_same_seed_gives_the_same_words_and_another_one_others():
    env = ShoppingEnv()
    texts = {}
    for seed in (1, 1, 2, 3):
        task_id = find("dialogue_ask")
        env.reset(seed=seed, options={"task": task_id})
        question = env.task.checks[0].params["plan"]["asks"][0]
        texts.setdefault(seed, set()).add(env.step(call("ask_user", question=question))[0])
    assert all(len(said) == 1 for said in texts.values())


def test_a_purchase_after_the_customer_left_or_said_no_does_not_count():
    task_id = find("dialogue_ask")
    env = ShoppingEnv()
    env.reset(seed=0, options={"task": task_id})
    for _ in range(5):
        env.step("Do you like opera?")
    variant = env.task.checks[0].params["orders"][0]["lines"][0]["variant"]
    env.step(call("offer", item=variant))
    env.step(call("add_to_cart", item=variant))
    _, reward, terminated, _, info = env.step(call("checkout"))
    assert terminated and reward == 0.0
    assert info["reward_terms"]["fault_unconfirmed"] == 1.0


def test_messages_work_as_well_as_text():
    env = ShoppingEnv(action_format="message")
    task = SOURCE.build(find("exact"))
    env.reset(seed=0, options={"task": task.id})
    script = SOURCE.oracle(task)
    action, terminated = next(script), False
    while not terminated:
        message = {
            "role": "assistant",
            "content": "",
            "tool_calls": ({"id": "1", **_parts(action)},),
        }
        observation, reward, terminated, _, _ = env.step(message)
        if not terminated:
            action = script.send(observation[0]["content"])
    assert reward == 1.0


def _parts(action: str) -> dict:
    parsed = json.loads(action)
    return {"name": parsed["name"], "arguments": json.dumps(parsed["arguments"])}


def test_service_writes_need_the_customers_yes():
    task_id = find("dialogue_cancel")
    task = SOURCE.build(task_id)
    name, arguments = task.checks[0].params["plan"]["actions"][0]
    env = ShoppingEnv()
    env.reset(seed=0, options={"task": task_id})
    wrong = {**arguments, "reason": {"mistake": "not_needed"}.get(arguments["reason"], "mistake")}
    refused = env.step(call("propose", action=name, arguments=wrong))[0]
    agreed = env.step(call("propose", action=name, arguments=arguments))[0]
    assert refused != agreed
    env.step(call(name, **arguments))
    assert env.step(call("finish_case"))[1] == 1.0


def test_the_policy_is_a_document_and_its_numbers_differ_from_task_to_task():
    env, texts = ShoppingEnv(), set()
    for index in range(400):
        task_id = SOURCE.address("train", index, "tiny")
        if "/return_window/" in task_id:
            env.reset(seed=0, options={"task": task_id})
            texts.add(env.step(call("read_policy"))[0])
            assert str(env.task.params["policy"]["return_days"]) in env.step(call("read_policy"))[0]
    assert len(texts) >= 3


def test_every_template_can_be_played_from_a_seed():
    env = ShoppingEnv(split="dev", level="tiny")
    opening, info = env.reset(seed=5)
    again, other = env.reset(seed=5)
    assert opening == again and info["task_id"] == other["task_id"]
    assert played(env, env.task.id, SOURCE.oracle(env.task)) == 1.0


def test_other_goods_are_rejected_whatever_their_values():
    env = ShoppingEnv()
    env.reset(seed=0, options={"task": find("dialogue_hidden")})
    settings, product, _ = target(env)
    stranger = settings.catalogue.family(settings.catalogue.sibling(product.family))[0]
    variant = settings.catalogue.product(stranger).variants[0].id
    env.step(call("offer", item=variant))
    assert env.final_state()["offers"] == [{"subject": variant, "accepted": False}]
