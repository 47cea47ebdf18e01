"""Rulings, memos and amounts of a day at the counter, on plain records."""

import pytest

from hexathlon.tasks.shopping.world.shift.amounts import (
    due_refund,
    payable_cents,
    placed_cents,
    refund_by_lines,
)
from hexathlon.tasks.shopping.world.shift.policy import (
    AUTHORITY,
    PAGES,
    Memo,
    ShiftPolicy,
    policy_page,
    rule_number,
    terms_at,
)
from hexathlon.tasks.shopping.world.shift.rulings import Facts, ruling
from hexathlon.tasks.shopping.world.shift.shelf import best_baskets

POLICY = ShiftPolicy(14, 7, 10, 3, 6000, 500, 8000)
NOON = 12 * 60


def line(number: int, cents: int, **fields: object) -> dict:
    return {"line": str(number), "product": f"P{number}", "variant": f"P{number}-01",
            "cents": cents, "final_sale": False, "state": "ordered", **fields}  # fmt: skip


def order(*lines: dict, **fields: object) -> dict:
    plain = {
        "id": "O1", "customer": "C1", "tier": "standard", "status": "delivered", "placed": -12,
        "promised": -6, "delivered": -5, "delivery_cents": 490, "payment": "card-1",
        "gift": "gift-1", "coupon": None, "agreed": [], "lines": list(lines), **fields,
    }  # fmt: skip
    return {**plain, **placed_cents(plain, POLICY.free_cents)}


def facts(*memos: Memo, goodwill: dict | None = None) -> Facts:
    category = {f"P{n}": "tea" if n == 1 else "tents" for n in range(1, 5)}
    return Facts(POLICY, memos, NOON, {"C1": "a", "C2": "a", "C3": "c"}, category,
                 {"P1-02": {"units": 2, "reserved": 2}, "P1-03": {"units": 2, "reserved": 1}},
                 goodwill or {})  # fmt: skip


def memo(kind: str, value: int = 0, **fields: object) -> Memo:
    plain = {"id": "M7", "at": 9 * 60, "author": AUTHORITY, "kind": kind, "value": value}
    return Memo(**{**plain, **fields})  # type: ignore[arg-type]


RETURN = {"do": "return", "line": "1"}


@pytest.mark.parametrize(("since", "allowed"), [(14, True), (15, False)])
def test_the_last_day_of_the_window_counts(since, allowed):
    refusal = ruling(RETURN, order(line(1, 900), delivered=-since), "C1", facts())
    assert (refusal is None) == allowed
    if refusal:
        assert refusal == ("window_passed", "O1/1", rule_number(POLICY, "return"))


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({}, True),
        ({"author": "warehouse"}, False),
        ({"start": NOON + 1}, False),
        ({"start": NOON}, True),
        ({"end": NOON}, False),
        ({"end": NOON + 1}, True),
        ({"at": NOON + 1}, False),
        ({"scope": "tea"}, True),
        ({"scope": "tents"}, False),
    ],
)
def test_a_memo_counts_by_author_time_and_goods(fields, counts):
    found = ruling(RETURN, order(line(1, 900), delivered=-20), "C1",
                   facts(memo("window", 30, **fields)))  # fmt: skip
    assert (found is None) == counts


def test_the_latest_memo_counts_unless_it_is_withdrawn():
    first, second = memo("window", 30), memo("window", 10, id="M8", at=10 * 60)
    late = order(line(1, 900), delivered=-20)
    assert ruling(RETURN, late, "C1", facts(first, second)) is not None
    gone = memo("withdraw", id="M9", at=11 * 60, withdraws="M8")
    assert ruling(RETURN, late, "C1", facts(first, second, gone)) is None
    assert terms_at(POLICY, (first, second, gone), NOON, "tea").return_days == 30


def test_a_refusal_cites_the_memo_only_if_it_decides():
    short = memo("window", 3)
    assert ruling(RETURN, order(line(1, 900)), "C1", facts(short)) == (
        "window_passed", "O1/1", "M7",
    )  # fmt: skip
    longer, gone = memo("window", 30), memo("withdraw", id="M8", at=10 * 60, withdraws="M7")
    shorter = memo("window", 3, id="M9", at=11 * 60)
    late = order(line(1, 900), delivered=-20)
    for decides in (gone, shorter):  # without it, the return would be allowed
        found = ruling(RETURN, late, "C1", facts(longer, decides))
        assert found is not None and found.rule == decides.id
    found = ruling(RETURN, order(line(1, 900), delivered=-40), "C1", facts(short))
    assert found is not None and found.rule == rule_number(POLICY, "return")


def test_of_several_reasons_the_one_with_the_smallest_rule_is_given():
    both = order(line(1, 900, final_sale=True), delivered=-40)
    found = ruling(RETURN, both, "C1", facts())
    assert found is not None
    reasons = {"window_passed": "return", "final_sale": "final"}
    assert found.reason == min(reasons, key=lambda reason: POLICY.order.index(reasons[reason]))


def test_damaged_goods_can_always_be_returned():
    broken = order(line(1, 900, final_sale=True, state="exchanged"), delivered=-40)
    assert ruling({**RETURN, "damaged": True}, broken, "C1", facts()) is None


def test_an_agreement_in_the_history_goes_before_a_memo():
    agreed = order(line(1, 900), delivered=-40, agreed=["1"])
    assert ruling(RETURN, agreed, "C1", facts(memo("window", 2))) is None


@pytest.mark.parametrize(("variant", "reason"), [("P1-02", "no_free_unit"), ("P1-03", None)])
def test_reserved_units_are_not_free(variant, reason):
    request = {"do": "exchange", "line": "1", "variant": variant}
    found = ruling(request, order(line(1, 900)), "C1", facts())
    assert (found.reason if found else None) == reason


def test_goodwill_is_paid_once_to_a_person_and_within_the_budget():
    late = order(line(1, 900), promised=-12)
    ask = {"do": "goodwill"}
    assert ruling(ask, late, "C1", facts()) is None
    paid = {"O7": {"customer": "C2", "cents": 300}}
    found = ruling(ask, late, "C1", facts(goodwill=paid))
    assert found == ("already_paid", "O7", rule_number(POLICY, "once"))
    spent = {"O7": {"customer": "C3", "cents": 7501}}
    found = ruling(ask, late, "C1", facts(goodwill=spent))
    assert found == ("budget_spent", "O1", rule_number(POLICY, "budget"))


def test_requests_for_other_people_are_declined_except_for_the_same_person():
    late = order(line(1, 900), promised=-12)
    assert ruling({"do": "late"}, late, "C2", facts()) is None
    found = ruling({"do": "late"}, late, "C3", facts())
    assert found is not None and found.reason == "not_owner"


@pytest.mark.parametrize("status", ["packed", "shipped", "delivered"])
def test_only_pending_orders_change(status):
    sent = order(line(1, 900), status=status)
    assert ruling({"do": "cancel"}, sent, "C1", facts()) == (
        "already_packed", "O1", rule_number(POLICY, "cancel"),
    )  # fmt: skip
    assert ruling({"do": "address"}, sent, "C1", facts()) == (
        "already_packed", "O1", rule_number(POLICY, "change"),
    )  # fmt: skip


COUPON = {"code": "SAVE100", "off_cents": 700, "min_cents": 5000}


@pytest.mark.parametrize(
    ("states", "coupon", "refund"),
    [
        # 3000 + 3200: free delivery is lost.
        (("returned", "ordered"), None, 3000 - 490),
        # The coupon is lost as well.
        (("returned", "ordered"), COUPON, 3000 - 490 - 700),
        (("returned damaged", "ordered"), COUPON, 3000),
        (("cancelled", "cancelled"), COUPON, 6200 - 700),
        # Delivery is refunded only if everything is cancelled.
        (("returned", "returned"), None, 6200 - 490),
        (("exchanged", "ordered"), COUPON, 0),
    ],
)
def test_refunds_by_hand_and_in_two_derivations(states, coupon, refund):
    placed = order(line(1, 3000), line(2, 3200), coupon=coupon)
    lines = [{**each, "state": state} for each, state in zip(placed["lines"], states, strict=True)]
    after = {**placed, "lines": lines}
    assert placed["paid_cents"] == payable_cents(placed, POLICY.free_cents)
    assert due_refund(after, POLICY.free_cents) == refund
    assert refund_by_lines(after, POLICY.free_cents) == refund


def test_every_rule_is_on_one_page_with_its_number():
    texts = [policy_page(POLICY, page, "en") for page in PAGES]
    numbers = [text.split(".")[0] for page in texts for text in page.splitlines()[1:]]
    assert sorted(numbers) == sorted(rule_number(POLICY, rule) for rule in POLICY.order)
    assert all(page in policy_page(POLICY, "", "en") for page in PAGES)


def test_the_cheapest_basket_by_hand():
    def offer(name: str, kind: int, cents: int, seller: str, **fields: object) -> dict:
        return {"id": name, "kind": kind, "system": "K", "cents": cents, "seller": seller,
                "dispatch": 2, "units": 1, "reserved": 0, **fields}  # fmt: skip

    sellers = {
        "A": {"fee_cents": 500, "free_cents": 3000, "days": 2},
        "B": {"fee_cents": 300, "free_cents": 9000, "days": 2},
    }
    offers = [
        offer("a0", 0, 1500, "A"),
        offer("a1", 1, 1600, "A"),  # together with a0 free of delivery: 3100
        offer("b0", 0, 1400, "B"),
        offer("b1", 1, 1450, "B"),  # 2850 + 300 = 3150
        offer("late", 1, 100, "A", dispatch=9),
        offer("held", 0, 100, "A", reserved=1),
        offer("other", 1, 100, "A", system="N"),
    ]
    wishes = {"kinds": [0, 1], "by": 5, "sellers": 2, "without": ""}
    assert best_baskets(offers, sellers, wishes) == [(3100, ("a0", "a1")), (3150, ("b0", "b1"))]
    assert best_baskets(offers, sellers, {**wishes, "without": "A"})[0] == (3150, ("b0", "b1"))
