"""Service cases: a customer's request, the policy's ruling, and a twin that is declined.

A template builds a case for an intended outcome by choosing dates, status, tier or stock. The
ruling on the records must agree, otherwise the case is dropped.
"""

from collections.abc import Sequence
from dataclasses import replace
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
from hexathlon.tasks.shopping.templates.service_returns import RETURNS, returned
from hexathlon.tasks.shopping.world.desk.records import draw_address, draw_customer
from hexathlon.tasks.shopping.world.wording import address_text, model_text

__all__ = ["SERVICES", "SERVICE_DIALOGUES"]


def cancel(scene: ShoppingScene) -> ServiceCase | None:
    """Cancel a pending order; in the twin it has already shipped."""
    desk = CaseDesk(scene)
    order = desk.order("pending" if scene.side == 0 else "shipped")
    reason = scene.pick(("not_needed", "mistake"))
    why = {
        "not_needed": scene.say("I don't need it any more", "不需要了"),
        "mistake": scene.say("I ordered it by mistake", "下错单了"),
    }[reason]
    other = "mistake" if reason == "not_needed" else "not_needed"
    goods = item(scene, desk.goods(order))
    return desk.case(
        scene.say(
            f"Please cancel my order with {goods}; {why}.", f"请取消有{goods}的那个订单，{why}。"
        ),
        ("cancel_order", {"order": order["id"], "reason": reason}),
        goal=scene.say("I'd like to cancel an order.", "我想取消一个订单。"),
        slots={
            "order": which(scene, goods),
            "why": slot(scene, why, ("why", "reason"), ("原因", "理由", "为什么")),
        },
        wrong={"another reason": [("cancel_order", {"order": order["id"], "reason": other})]},
        allowed=scene.side == 0,
    )


def _swapped(
    scene: ShoppingScene,
    desk: CaseDesk,
    order: dict[str, Any],
    action: str,
    *,
    stock: bool,
    allowed: bool,
) -> ServiceCase | None:
    new = desk.other_variant(order, stock=stock)
    decoy = desk.other_variant(order)
    if new is None or decoy is None:
        return None
    goods = item(scene, desk.goods(order))
    wanted = model_text(desk.product(order), new, scene.language)
    arguments = {"order": order["id"], "line": desk.line, "variant": new.id}
    wrong: dict[str, Sequence[ReferenceCall]] = {}
    if decoy.id != new.id:
        wrong["another variant"] = [(action, {**arguments, "variant": decoy.id})]
    if action == "exchange_item":
        wrong["returned instead"] = [
            ("return_items", {"order": order["id"], "lines": [desk.line], "refund_to": desk.card})
        ]
        request = scene.say(
            f"I'd like to exchange {goods} for the same thing {wanted}.",
            f"我想把{goods}换成{wanted}。",
        )
        goal = scene.say("I'd like to exchange something.", "我想换货。")
    else:
        request = scene.say(
            f"Before you send my order, please change {goods} in it to the same thing {wanted}.",
            f"发货前请把我订单里的{goods}改成{wanted}。",
        )
        goal = scene.say("I'd like to change something in my order.", "我想改一下订单。")
    return desk.case(
        request,
        (action, arguments),
        goal=goal,
        slots={
            "order": which(scene, goods),
            "variant": slot(
                scene,
                wanted,
                ("which variant", "variant", "what instead", "exchange it for"),
                ("换成什么", "哪一款", "款式"),
                ("The same thing {value}.", "要{value}。"),
            ),
        },
        wrong=wrong,
        allowed=allowed,
    )


def exchange(scene: ShoppingScene) -> ServiceCase | None:
    """Exchange for a variant in stock; in the twin that variant is sold out."""
    desk = CaseDesk(scene)
    order = desk.delivered(2 + int(scene.rng.integers(9)))
    fine = scene.side == 0
    return _swapped(scene, desk, order, "exchange_item", stock=fine, allowed=fine)


def change_item(scene: ShoppingScene) -> ServiceCase | None:
    """Change the variant before shipping; in the twin the order has already shipped."""
    desk = CaseDesk(scene)
    order = desk.order("pending" if scene.side == 0 else "shipped")
    return _swapped(scene, desk, order, "change_item", stock=True, allowed=scene.side == 0)


def change_address(scene: ShoppingScene) -> ServiceCase | None:
    """Change the address of a pending order; in the twin it is on its way."""
    desk = CaseDesk(scene)
    order = desk.order("pending" if scene.side == 0 else "shipped")
    place = draw_address(scene.rng, scene.language)
    goods = item(scene, desk.goods(order))
    shown = address_text(place, scene.language)
    swapped = {**place, "postcode": place["postcode"][::-1]}
    if swapped == place:
        return None
    return desk.case(
        scene.say(
            f"Please send my order with {goods} to {shown} instead.",
            f"请把有{goods}的那个订单改寄到{shown}。",
        ),
        ("change_address", {"order": order["id"], **place}),
        goal=scene.say("I'd like one of my orders sent somewhere else.", "我想改一个订单的地址。"),
        slots={
            "order": which(scene, goods),
            "address": slot(
                scene,
                shown,
                ("address", "where"),
                ("地址", "寄到哪"),
                ("Please send it to {value}.", "寄到{value}。"),
            ),  # fmt: skip
        },
        wrong={
            "another postcode": [("change_address", {"order": order["id"], **swapped})],
            "cancelled instead": [("cancel_order", {"order": order["id"], "reason": "not_needed"})],
        },
        allowed=scene.side == 0,
    )


def late(scene: ShoppingScene) -> ServiceCase | None:
    """Refund a late delivery; in the twin it was not late enough."""
    desk = CaseDesk(scene)
    since, more = 2 + int(scene.rng.integers(6)), 1 + int(scene.rng.integers(3))
    most = desk.policy.late_days
    delay = most + more if scene.side == 0 else most
    order = desk.delivered(since, late=most, delay=delay)
    fee = order["delivery_cents"]
    plus = desk.customer["tier"] == "plus"
    cents, other = (2 * fee, fee) if plus else (fee, 2 * fee)
    goods = item(scene, desk.goods(order))
    arguments = {"order": order["id"], "cents": cents, "refund_to": desk.card}
    return desk.case(
        scene.say(
            f"My order with {goods} came late; I'd like the compensation for that.",
            f"有{goods}的那个订单送晚了，请按规定补偿。",
        ),
        ("refund_delivery", arguments),
        goal=scene.say("One of my orders came late.", "我有个订单送晚了。"),
        slots={"order": which(scene, goods)},
        wrong={
            "another amount": [("refund_delivery", {**arguments, "cents": other})],
            "refund elsewhere": [("refund_delivery", {**arguments, "refund_to": desk.gift})],
        },
        allowed=scene.side == 0,
    )


def not_owner(scene: ShoppingScene) -> ServiceCase | None:
    """The order is the customer's own; in the twin it belongs to somebody else."""
    desk = CaseDesk(scene)
    order = desk.order("pending")
    if scene.side == 1:
        number = int(desk.customer["id"][1:]) + int(scene.rng.choice([-1, 1, 9, 70, 71]))
        stranger = draw_customer(scene.rng, f"C{number}", scene.language)
        order["customer"] = stranger["id"]
        desk.customer["orders"].remove(order["id"])
    else:
        # Both customers have as many orders, in the same states.
        spare = next((other for other in desk.orders[1:] if other["status"] == "pending"), None)
        if spare is None:
            return None
        desk.orders.remove(spare)
        desk.customer["orders"].remove(spare["id"])
    found = desk.case(
        scene.say(
            f"Please cancel order {order['id']}; I placed it by mistake.",
            f"请取消订单{order['id']}，下错单了。",
        ),
        ("cancel_order", {"order": order["id"], "reason": "mistake"}),
        goal=scene.say("I'd like to cancel an order.", "我想取消一个订单。"),
        slots={
            "order": slot(
                scene,
                order["id"],
                ("which order", "order"),
                ("订单",),
                ("Order {value}.", "订单{value}。"),
            ),  # fmt: skip
            "why": slot(
                scene,
                scene.say("I placed it by mistake", "下错单了"),
                ("why", "reason"),
                ("原因", "理由", "为什么"),
            ),
        },
        wrong={
            "another reason": [("cancel_order", {"order": order["id"], "reason": "not_needed"})]
        },
        allowed=scene.side == 0,
    )
    return found


def two_requests(scene: ShoppingScene) -> ServiceCase | None:
    """Return goods from one order and cancel another."""
    desk = CaseDesk(scene, tier="standard")
    order = desk.delivered(1 + int(scene.rng.integers(4)))
    pending = [o for o in desk.orders[1:] if o["status"] == "pending"]
    if not pending:
        return None
    second = pending[0]
    made = returned(scene, desk, order, allowed=True)
    if made is None:
        return None
    goods = item(scene, desk.goods(second))
    cancelled: ReferenceCall = ("cancel_order", {"order": second["id"], "reason": "not_needed"})
    also = scene.say(
        f" And please cancel my order with {goods}; I don't need it any more.",
        f"另外把有{goods}的那个订单取消，不需要了。",
    )
    return replace(
        made,
        request=made.request + also,
        actions=[*made.actions, cancelled],
        wrong={
            **{name: [*actions, cancelled] for name, actions in made.wrong.items()},
            "only the first": list(made.actions),
            "only the second": [cancelled],
        },
        twin=False,
    )


SERVICES = {
    "cancel": cancel,
    **RETURNS,
    "exchange": exchange,
    "change_item": change_item,
    "change_address": change_address,
    "late_delivery": late,
    "not_owner": not_owner,
    "two_requests": two_requests,
}

SERVICE_DIALOGUES = {
    # The same cases with a customer who must be asked and must confirm.
    "dialogue_cancel": cancel,
    "dialogue_return": RETURNS["return_window"],
    "dialogue_exchange": exchange,
    "dialogue_address": change_address,
}
