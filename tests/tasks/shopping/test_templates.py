"""Foundations of templates: two pricings that agree, rulings, and unambiguous wording."""

from dataclasses import replace

import pytest

from hexathlon.tasks.catalogue import Address, open_catalogue, price_cart
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.shopping.templates.second_pricing import second_total
from hexathlon.tasks.shopping.world.arithmetic import calculate
from hexathlon.tasks.shopping.world.desk.policy import DeskPolicy, paragraph_of, policy_text, ruling
from hexathlon.tasks.shopping.world.settings import cart_line
from hexathlon.tasks.shopping.world.tables import Base, Tables, same
from hexathlon.tasks.shopping.world.wording import find_variant

POLICY = DeskPolicy(return_days=14, plus_days=7, cash_days=5, late_days=2)
CUSTOMER = {"id": "C1", "tier": "standard"}
ORDER = {
    "id": "O1",
    "customer": "C1",
    "status": "delivered",
    "delivered": -10,
    "promised": -13,
    "lines": [{"line": "1", "final_sale": True}, {"line": "2", "final_sale": False}],
}


@pytest.fixture(scope="module")
def catalogue():
    return open_catalogue(5, 1_000)


def test_two_pricings_agree_on_thousands_of_carts(catalogue):
    draw = generator_for("two pricings")
    rules = replace(catalogue.rules(), bundles={})
    used = 0
    for _ in range(3_000):
        lines = []
        for _ in range(1 + int(draw.integers(3))):
            product = catalogue.product_at(int(draw.integers(catalogue.size)))
            variant = product.variants[int(draw.integers(len(product.variants)))]
            lines.append(cart_line(product, variant, 1 + int(draw.integers(4))))
        picked = draw.permutation(len(catalogue.coupons))[: int(draw.integers(4))]
        coupons = [catalogue.coupons[int(i)] for i in picked]
        region = ("city", "country", "island")[int(draw.integers(3))]
        speed = ("standard", "express")[int(draw.integers(2))]
        price = price_cart(lines, coupons, Address("", "", "", region), rules, speed)
        assert second_total(lines, coupons, rules, region, speed) == price.total_cents
        used += bool(price.coupon_cents)
    assert used > 500, "many of the carts used a coupon"


@pytest.mark.parametrize(
    ("action", "arguments", "changes", "found"),
    [
        ("return_items", {"lines": ["2"]}, {}, None),
        ("return_items", {"lines": ["1"]}, {}, ("final_sale", "O1/1")),
        ("return_items", {"lines": ["2"]}, {"delivered": -15}, ("window_passed", "O1/2")),
        ("return_items", {"lines": ["2"]}, {"delivered": -14}, None),
        ("return_items", {"lines": ["2"]}, {"customer": "C2"}, ("not_owner", "O1")),
        ("exchange_item", {"line": "1", "variant": "V1"}, {}, None),
        ("exchange_item", {"line": "1", "variant": "V0"}, {}, ("out_of_stock", "V0")),
        ("cancel_order", {}, {"status": "pending"}, None),
        ("cancel_order", {}, {"status": "shipped"}, ("already_shipped", "O1")),
        ("change_address", {}, {"status": "shipped"}, ("already_shipped", "O1")),
        ("refund_delivery", {}, {}, None),
        ("refund_delivery", {}, {"promised": -12}, ("not_late", "O1")),
    ],
)
def test_rulings_follow_the_policy(action, arguments, changes, found):
    order = {**ORDER, **changes}
    stock = {"V1": 3, "V0": 0}
    assert ruling(POLICY, CUSTOMER, order, action, arguments, stock) == found


def test_exceptions_of_the_policy():
    late = {**ORDER, "delivered": -20}
    plus = {**CUSTOMER, "tier": "plus"}
    lines = {"lines": ["2"]}
    assert ruling(POLICY, CUSTOMER, late, "return_items", lines, {}) == ("window_passed", "O1/2")
    assert ruling(POLICY, plus, late, "return_items", lines, {}) is None
    final = {"lines": ["1"]}
    assert ruling(POLICY, CUSTOMER, ORDER, "return_items", final, {}, damaged=True) is None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_number_of_the_policy_is_written_out(language):
    policy = DeskPolicy(return_days=41, plus_days=37, cash_days=29, late_days=23)
    text = policy_text(policy, language)
    assert all(str(number) in text for number in (41, 37, 29, 23))


def test_paragraphs_are_named_as_they_are_written():
    policy = replace(POLICY, order=(7, 3, 0, 1, 6, 2, 4, 5))
    assert DeskPolicy.from_json(policy.as_json()) == policy
    lines = policy_text(policy, "en").splitlines()
    for action, reason, opening in [
        ("return_items", "final_sale", "Return:"),
        ("exchange_item", "out_of_stock", "Exchange:"),
        ("change_item", "already_shipped", "Change of"),
        ("cancel_order", "already_shipped", "Cancel:"),
        ("refund_delivery", "not_late", "Late delivery:"),
        ("cancel_order", "not_owner", "Find the customer"),
    ]:
        number = paragraph_of(policy, action, reason)
        assert lines[number].startswith(f"{number}. {opening}") and reason in lines[number]


def test_tables_change_without_touching_the_base():
    base = Base({"orders": {"1": {"status": "pending"}, "2": {"status": "sent"}}})
    tables = Tables(base)
    tables.put("orders", "1", {"status": "cancelled"})
    tables.put("orders", "3", {"status": "new"})
    tables.put("orders", "2", None)
    assert tables.keys("orders") == ["1", "3"] and tables.get("orders", "2") is None
    assert tables.difference() == {
        "orders/1": {"status": "cancelled"},
        "orders/2": None,
        "orders/3": {"status": "new"},
    }
    tables.put("orders", "1", {"status": "pending"})
    assert "orders/1" not in tables.difference()
    assert Tables(base).difference() == {} and base.tables["orders"]["1"]["status"] == "pending"


def test_values_that_say_the_same():
    assert same({"a": [1, 2.0]}, {"a": (1.0, 2)}) and not same({"a": 1}, {"a": 2})


@pytest.mark.parametrize(
    ("text", "value"), [("1 + 2 * 3", 7), ("-(2 - 5) / 2", 1.5), (".5*4", 2), ("2--1", 3)]
)
def test_arithmetic(text, value):
    assert calculate(text) == value


def test_options_are_understood_in_both_languages_and_as_plain_text(catalogue):
    product = catalogue.product_at(5)
    for variant in product.variants:
        assert find_variant(product, dict(variant.options), "en") == variant
        assert find_variant(product, ", ".join(variant.options.values()), "zh") == variant
    wrong = find_variant(product, "mauve-ish", "en")
    assert isinstance(wrong, str) and next(iter(product.options)) in wrong
