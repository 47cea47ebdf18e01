"""The strict order verifier: accepted and rejected orders, and the reported faults."""

import copy
from typing import Any

import pytest

from hexathlon.evaluators.shopping.order import FAULTS, shopping_order
from hexathlon.evaluators.shopping.simulator import shopping_loose, shopping_strict
from hexathlon.evaluators.verifier import get_verifier
from hexathlon.tasks.catalogue import Constraint
from hexathlon.tasks.catalogue.goods import CATEGORIES

CATEGORY = CATEGORIES[0]
ATTRIBUTE = next(a for a in CATEGORY.attributes if a.order == "none")
OPTION = CATEGORY.options[0]
FACTS = {
    "category": CATEGORY.slug,
    "kind": CATEGORY.kinds[0].slug,
    "brand": "Nord",
    "series": "Aero",
    "attributes": {ATTRIBUTE.name: ATTRIBUTE.values[0].slug},
    "options": {OPTION.name: OPTION.values[0].slug},
    "price_cents": 4000,
    "rating_tenths": 42,
    "seller": "s1",
    "days": 2,
    "returns": 30,
}
LINE = {"product": "PAAAAAA", "variant": "PAAAAAA-01", "quantity": 1, "facts": FACTS}
ORDER = {
    "lines": [LINE],
    "coupons": [],
    "address": "home",
    "speed": "standard",
    "total_cents": 4390,
}
WISH = [
    Constraint("category", "kind", "==", CATEGORY.kinds[0].slug),
    Constraint("attribute", ATTRIBUTE.name, "==", ATTRIBUTE.values[0].slug),
    Constraint("option", OPTION.name, "==", OPTION.values[0].slug),
    Constraint("price", "price", "<=", 5000),
]
SOURCES = ["request", "request", "profile", "request"]
PARAMS: dict[str, Any] = {
    "orders": [ORDER],
    "changes": {},
    "answer": None,
    "confirm": False,
    "wanted": [
        [
            {"constraint": c.as_json(), "source": source}
            for c, source in zip(WISH, SOURCES, strict=True)
        ]
    ],
    "lures": [Constraint("attribute", ATTRIBUTE.name, "==", ATTRIBUTE.values[1].slug).as_json()],
}
DONE: dict[str, Any] = {
    "orders": [ORDER],
    "changes": {},
    "answer": None,
    "opened": ["PAAAAAA"],
    "offers": [],
    "outcome": "ended",
}


def judged(state=None, params=None):
    final = {**copy.deepcopy(DONE), **(state or {})}
    return shopping_order(None, {**PARAMS, **(params or {})}, final, ())


def order(facts=None, **changes):
    line = {**LINE, "facts": {**FACTS, **(facts or {})}}
    line.update({k: changes.pop(k) for k in ("product", "variant", "quantity") if k in changes})
    return {"orders": [{**ORDER, "lines": [line], **changes}]}


def test_correct_order_scores_one_without_faults():
    verdict = judged()
    assert verdict.score == 1.0 and verdict.partial == 1.0 and verdict.evidence["faults"] == []
    assert get_verifier("shopping_order").function is shopping_order


@pytest.mark.parametrize(
    "state",
    [
        {"orders": []},
        {"orders": [ORDER, ORDER]},
        order(quantity=2),
        order(variant="PAAAAAA-02"),
        order(speed="express"),
        order(address="work"),
        order(coupons=["X1"]),
        order(total_cents=4391),
        {"changes": {"orders/O1": {"status": "cancelled"}}},
        {"answer": {"reason": "out_of_stock", "record": "PAAAAAA"}},
        {"outcome": "open"},
    ],
)
def test_other_orders_score_zero(state):
    assert judged(state).score == 0.0


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        (order({"kind": "other"}, variant="x"), "category"),
        (order({"attributes": {}}, variant="x"), "attribute"),
        (order({"options": {}}, variant="x"), "option"),
        (order({"price_cents": 6000}, variant="x"), "price"),
        (order({"options": {}}, variant="x"), "personal_ignored"),
        (
            order({"attributes": {ATTRIBUTE.name: ATTRIBUTE.values[1].slug}}, variant="x"),
            "personal_overused",
        ),
        ({"opened": []}, "bought_unseen"),
        ({"offers": [{"subject": "PAAAAAA-01", "accepted": False}]}, "bought_after_rejection"),
        ({"orders": []}, "nothing_done"),
        (order(quantity=2), "other_change"),
        ({"orders": [], "answer": {"reason": "too_late", "record": "x"}}, "wrong_answer"),
    ],
)
def test_each_fault_has_its_name(state, fault):
    verdict = judged(state)
    assert fault in FAULTS and fault in verdict.evidence["faults"]
    assert verdict.terms[f"fault_{fault}"] == 1.0


def test_buying_everything_gains_no_partial_credit():
    stray = {**LINE, "product": "PBBBBBB", "variant": "PBBBBBB-01"}
    many = {"orders": [{**ORDER, "lines": [LINE, *[stray] * 9]}]}
    verdict = judged(many)
    assert verdict.score == 0.0 and verdict.partial == pytest.approx(0.1)


def test_confirmation_is_required_if_the_task_says_so():
    expected = {"confirm": True}
    assert judged({}, expected).score == 0.0
    assert judged({}, expected).terms["fault_unconfirmed"] == 1.0
    yes, no = ({"subject": "PAAAAAA-01", "accepted": answer} for answer in (True, False))
    assert judged({"offers": [yes]}, expected).score == 1.0
    assert judged({"offers": [no, yes]}, expected).score == 1.0
    assert judged({"offers": [yes, no]}, expected).score == 0.0


def test_typed_answers_need_reason_and_one_of_the_records():
    params = {"orders": [], "answer": {"reason": "too_late", "records": ["V1", "P1"]}}
    right = {"orders": [], "answer": {"reason": "too_late", "record": "P1"}}
    assert judged(right, params).score == 1.0
    for answer in (
        None,
        {},
        {"reason": "too_late", "record": "V1, P1"},
        {"reason": "over_budget", "record": "P1"},
        {"reason": "too_late", "record": None},
        {"reason": "too_late", "record": ["P1"]},
        "too_late P1",
    ):
        assert judged({"orders": [], "answer": answer}, params).score == 0.0


def test_loose_is_a_mean_and_strict_a_product():
    half = order({"options": {}, "price_cents": 6000}, variant="x")
    final = {**DONE, **half}
    assert shopping_loose(None, PARAMS, final, ()).score == 0.5
    assert shopping_strict(None, PARAMS, final, ()).score == 0.0
    assert shopping_loose(None, PARAMS, DONE, ()).score == 1.0
    assert shopping_strict(None, PARAMS, DONE, ()).score == 1.0
    assert shopping_loose(None, PARAMS, {**DONE, "orders": []}, ()).score == 0.0


@pytest.mark.parametrize("final", [{}, {"orders": [], "answer": []}, {"outcome": None}])
def test_empty_state_scores_zero(final):
    assert shopping_order(None, PARAMS, final, ()).score == 0.0
