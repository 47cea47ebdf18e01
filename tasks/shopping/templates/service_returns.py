"""Returns at the desk: the return period, Plus members, the refund method, final sale."""

from collections.abc import Sequence
from typing import Any

from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.case import (
    CaseDesk,
    ReferenceCall,
    ServiceCase,
    item,
    slot,
    which,
)

__all__ = ["RETURNS", "returned"]


def returned(
    scene: ShoppingScene,
    desk: CaseDesk,
    order: dict[str, Any],
    *,
    allowed: bool,
    damaged: bool = False,
) -> ServiceCase | None:
    """Build the case of a return of the line in question."""
    since = desk.policy.today - order["delivered"]
    original = since <= desk.policy.cash_days
    right, other = (desk.card, desk.gift) if original else (desk.gift, desk.card)
    goods = item(scene, desk.goods(order))
    state = scene.say("; it arrived damaged", "，到货就破损了") if damaged else ""
    wrong: dict[str, Sequence[ReferenceCall]] = {
        "refund elsewhere": [
            ("return_items", {"order": order["id"], "lines": [desk.line], "refund_to": other})
        ]
    }
    if len(order["lines"]) > 1:
        both = [line["line"] for line in order["lines"]]
        beside = [next(line for line in both if line != desk.line)]
        wrong["a line too many"] = [
            ("return_items", {"order": order["id"], "lines": both, "refund_to": right})
        ]
        wrong["the other line"] = [
            ("return_items", {"order": order["id"], "lines": beside, "refund_to": right})
        ]
    slots = {"order": which(scene, goods)}
    if damaged:
        slots["state"] = slot(
            scene,
            scene.say("it arrived damaged", "到货就破损了"),
            ("why", "reason", "condition"),
            ("原因", "为什么", "状态"),
        )
    return desk.case(
        scene.say(f"I'd like to return {goods}{state}.", f"我要退{goods}{state}。"),
        ("return_items", {"order": order["id"], "lines": [desk.line], "refund_to": right}),
        goal=scene.say("I'd like to send something back.", "我想退货。"),
        slots=slots,
        wrong=wrong,
        allowed=allowed,
        damaged=damaged,
    )


def return_window(scene: ShoppingScene) -> ServiceCase | None:
    """A return within the allowed period; in the twin a few days late."""
    desk = CaseDesk(scene, tier="standard")
    gap = 1 + int(scene.rng.integers(4))
    days = desk.policy.return_days
    order = desk.delivered(days - gap if scene.side == 0 else days + gap, limit=days)
    return returned(scene, desk, order, allowed=scene.side == 0)


def return_plus(scene: ShoppingScene) -> ServiceCase | None:
    """Late for regular customers but not for Plus members; in the twin the customer is regular."""
    desk = CaseDesk(scene, tier="plus" if scene.side == 0 else "standard")
    since = desk.policy.return_days + 1 + int(scene.rng.integers(6))
    order = desk.delivered(since, limit=desk.return_days)
    return returned(scene, desk, order, allowed=scene.side == 0)


def return_refund(scene: ShoppingScene) -> ServiceCase | None:
    """The refund method: the card for recent orders; in the twin the gift card."""
    desk = CaseDesk(scene)
    near = int(scene.rng.integers(2))
    cash = desk.policy.cash_days
    order = desk.delivered(cash - near if scene.side == 0 else cash + 1 + near, limit=cash)
    return returned(scene, desk, order, allowed=True)


def return_final_sale(scene: ShoppingScene) -> ServiceCase | None:
    """A final-sale item that arrived damaged; in the twin it is undamaged."""
    desk = CaseDesk(scene)
    order = desk.delivered(3 + int(scene.rng.integers(8)))
    order["lines"][desk.place]["final_sale"] = True
    fine = scene.side == 0
    return returned(scene, desk, order, allowed=fine, damaged=fine)


RETURNS = {
    "return_window": return_window,
    "return_plus": return_plus,
    "return_refund": return_refund,
    "return_final_sale": return_final_sale,
}
