"""Cart arithmetic: bundles, coupons, shipping, in whole cents."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hexathlon.tasks.catalogue import (
    Address,
    Bundle,
    CartLine,
    Coupon,
    Rules,
    ShippingRate,
    open_catalogue,
    price_cart,
)

RULES = Rules(
    shipping={
        "city": ShippingRate(500, 1_100, 5_000),
        "country": ShippingRate(700, 1_500, 9_000),
        "island": ShippingRate(1_500, 3_000, None),
    },
    bundles={"B1": Bundle("B1", (0, 1), 10)},
)
CITY = Address("Mill Lane 1", "Brook", "1000")
ISLAND = replace(CITY, region="island")


def line(cents: int, quantity: int = 1, **more: object) -> CartLine:
    given_fields: dict[str, object] = {
        "product_id": "P", "variant_id": "P-01", "quantity": quantity, "unit_cents": cents,
        "category": "tea", "brand": "Norvik", "seller": "mill",
    }  # fmt: skip
    return CartLine(**(given_fields | more))  # type: ignore[arg-type]


def test_an_empty_cart_costs_nothing() -> None:
    priced = price_cart([], [], CITY, RULES)
    assert (priced.subtotal_cents, priced.shipping_cents, priced.total_cents) == (0, 0, 0)


def test_shipping_is_free_from_the_threshold_on_and_never_to_islands() -> None:
    assert price_cart([line(4_999)], [], CITY, RULES).total_cents == 5_499
    assert price_cart([line(5_000)], [], CITY, RULES).total_cents == 5_000
    assert price_cart([line(5_000)], [], CITY, RULES, "express").total_cents == 6_100
    assert price_cart([line(50_000)], [], ISLAND, RULES).total_cents == 51_500


def test_a_coupon_can_cost_the_free_shipping() -> None:
    coupon = Coupon("TEN", "percent", 10)
    priced = price_cart([line(5_500)], [coupon], CITY, RULES)
    assert priced.coupon_cents == {"TEN": 550}
    assert (priced.shipping_cents, priced.total_cents) == (500, 5_450)


def test_percentages_round_down_line_by_line() -> None:
    priced = price_cart([line(999), line(999)], [Coupon("C", "percent", 15)], CITY, RULES)
    assert priced.coupon_cents == {"C": 149 + 149}


def test_caps_amounts_and_coverage() -> None:
    lines = [line(10_000), line(2_000, category="pans"), line(3_000, brand="Tava")]
    capped = Coupon("CAP", "percent", 50, maximum_cents=1_200)
    assert price_cart(lines, [capped], CITY, RULES).coupon_cents == {"CAP": 1_200}
    pans = Coupon("PANS", "amount", 2_500, categories=("pans",))
    assert price_cart(lines, [pans], CITY, RULES).coupon_cents == {"PANS": 2_000}
    shut = Coupon("SHUT", "percent", 10, excluded_brands=("Norvik",), excluded_categories=("tea",))
    priced = price_cart(lines, [shut], CITY, RULES)
    assert priced.refused == {"SHUT": "excluded"}
    seller = Coupon("SELL", "percent", 10, excluded_sellers=("mill",))
    assert price_cart(lines, [seller], CITY, RULES).refused == {"SELL": "excluded"}


def test_refusals_have_reasons_and_change_nothing() -> None:
    lines = [line(3_000)]
    good = Coupon("GOOD", "amount", 300, stackable=True)
    cases = {
        "minimum": Coupon("X", "percent", 10, minimum_cents=3_001, stackable=True),
        "expired": Coupon("X", "percent", 10, last_day=-1, stackable=True),
        "first_order": Coupon("X", "percent", 10, first_order_only=True, stackable=True),
        "not_stackable": Coupon("X", "percent", 10),
        "repeated": good,
    }
    for reason, coupon in cases.items():
        priced = price_cart(lines, [good, coupon], CITY, RULES)
        assert priced.refused == {coupon.code: reason}
        assert priced.total_cents == price_cart(lines, [good], CITY, RULES).total_cents


def test_no_more_coupons_than_the_rules_allow() -> None:
    coupons = [Coupon(code, "amount", 100, stackable=True) for code in "ABC"]
    priced = price_cart([line(3_000)], coupons, CITY, RULES)
    assert priced.refused == {"C": "too_many"} and len(priced.coupon_cents) == 2


def test_a_shipping_coupon_pays_the_shipping() -> None:
    coupon = Coupon("SHIP", "shipping", 0)
    priced = price_cart([line(3_000)], [coupon], ISLAND, RULES)
    assert (priced.coupon_cents, priced.shipping_cents) == ({"SHIP": 1_500}, 0)
    assert priced.total_cents == 3_000


def test_bundles_count_complete_sets_only() -> None:
    lines = [line(2_000, 3, bundles=("B1/0",)), line(1_005, 2, bundles=("B1/1",))]
    priced = price_cart(lines, [], CITY, RULES)
    assert priced.bundle_cents == 2 * 200 + 2 * 100
    assert price_cart([lines[0]], [], CITY, RULES).bundle_cents == 0


def test_coupons_see_what_bundles_left() -> None:
    lines = [line(2_000, bundles=("B1/0",)), line(2_000, bundles=("B1/1",))]
    coupon = Coupon("C", "percent", 10, minimum_cents=3_601)
    assert price_cart(lines, [coupon], CITY, RULES).refused == {"C": "minimum"}


@settings(max_examples=150)
@given(
    prices=some.lists(some.tuples(some.integers(0, 9_999), some.integers(1, 4)), max_size=5),
    percents=some.lists(some.integers(1, 100), max_size=3),
    amount=some.integers(0, 20_000),
)
def test_totals_add_up_and_are_never_negative(
    prices: list[tuple[int, int]], percents: list[int], amount: int
) -> None:
    lines = [line(cents, quantity) for cents, quantity in prices]
    coupons = [Coupon(f"P{i}", "percent", p, stackable=True) for i, p in enumerate(percents)]
    coupons.append(Coupon("A", "amount", amount, stackable=True))
    priced = price_cart(lines, coupons, CITY, RULES)
    goods = priced.subtotal_cents - priced.bundle_cents - sum(priced.coupon_cents.values())
    assert goods >= 0
    assert priced.total_cents == goods + priced.shipping_cents
    assert set(priced.coupon_cents) | set(priced.refused) == {coupon.code for coupon in coupons}


def test_lines_need_a_quantity() -> None:
    with pytest.raises(ValueError, match="quantity"):
        line(100, 0)


def test_the_shop_has_coupons_of_every_kind_and_bundles_that_can_be_bought(tmp_path: Path) -> None:
    catalogue = open_catalogue(2, 1_000, tmp_path)
    coupons = catalogue.coupons
    assert len({coupon.code for coupon in coupons}) == len(coupons) >= 20
    assert {coupon.kind for coupon in coupons} == {"percent", "amount", "shipping"}
    assert any(coupon.excluded_brands for coupon in coupons)
    assert any(coupon.last_day is not None and coupon.last_day < 0 for coupon in coupons)
    bundle = catalogue.bundles[0]
    lines = []
    for family in bundle.families:
        product = catalogue.product(catalogue.family(family)[0])
        lines.append(catalogue.cart_line(product.id, product.variants[0].id))
    assert price_cart(lines, [], CITY, catalogue.rules()).bundle_cents > 0
