"""Service cases: what a customer asks, what the policy says to it, and the twin where it says no.

A template builds a case towards an outcome by choosing dates, status, tier or stock; the ruling
on the records must come to the same outcome, else the case is dropped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hexathlon.tasks.shopping.catalogue import Product, Variant
from hexathlon.tasks.shopping.facts import category_of
from hexathlon.tasks.shopping.scene import Scene
from hexathlon.tasks.shopping.service.policy import Policy, ruling
from hexathlon.tasks.shopping.service.records import draw_address, draw_customer, draw_order
from hexathlon.tasks.shopping.wording import chosen_text

__all__ = ["SERVICES", "SERVICE_DIALOGUES", "Case"]

Action = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """One service case in the making."""

    policy: Policy
    customer: dict[str, Any]
    orders: Sequence[dict[str, Any]]
    """The customer's orders, the one in question first."""

    request: str
    """What the customer says, without saying who they are."""

    actions: Sequence[Action]
    """What is to be done, or would be, were it allowed."""

    declined: tuple[str, str] | None = None
    """Reason and record, where the policy does not allow it."""

    wrong: Mapping[str, Sequence[Action]] = field(default_factory=dict)
    """Other things that could be done, each wrong."""

    slots: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For dialogue: what the customer tells when asked."""

    goal: str = ""
    twin: bool = True


def _policy(scene: Scene) -> Policy:
    rng = scene.rng
    return Policy(
        return_days=int(rng.choice([14, 21, 30])),
        plus_days=int(rng.choice([7, 10, 14])),
        cash_days=int(rng.choice([5, 7, 10])),
        late_days=int(rng.choice([2, 3, 4])),
    )


class _Desk:
    """A customer with some orders, and words for them."""

    def __init__(self, scene: Scene, *, tier: str | None = None) -> None:
        self.scene = scene
        self.policy = _policy(scene)
        self.customer = draw_customer(scene.rng, f"C{9000 + int(scene.rng.integers(900))}")
        if tier is not None:
            self.customer["tier"] = tier
        self.orders: list[dict[str, Any]] = []

    def order(self, status: str, **fields: Any) -> dict[str, Any]:
        """Draw the order in question, whose goods no other order of the customer has."""
        rng, catalogue = self.scene.rng, self.scene.catalogue
        pieces = 1 if self.scene.level == "tiny" else 2
        number = 70_000 + int(rng.integers(9_000)) * 3
        main = draw_order(rng, catalogue, self.customer, f"O{number}", status=status, pieces=pieces)
        for line in main["lines"]:
            line["final_sale"] = False
        main.update(fields)
        self.orders = [main]
        taken = {self._category(line) for line in main["lines"]}
        for i in range({"tiny": 1, "easy": 2, "medium": 3, "hard": 4}[self.scene.level]):
            for _ in range(50):
                # The first of the others is like the one in question: what is done to all
                # orders alike is done to one too many.
                like = {"delivered": "delivered"}.get(status, "pending") if i == 0 else None
                other = draw_order(
                    rng, catalogue, self.customer, f"O{number + 5 + 7 * i}", status=like
                )
                if taken.isdisjoint(self._category(line) for line in other["lines"]):
                    self.orders.append(other)
                    taken |= {self._category(line) for line in other["lines"]}
                    break
        ids = [order["id"] for order in self.orders]
        self.customer["orders"] = [ids[i] for i in rng.permutation(len(ids)).tolist()]
        return main

    def delivered(self, since: int, **fields: Any) -> dict[str, Any]:
        """Draw an order that was delivered so many days ago."""
        return self.order(
            "delivered", delivered=-since, promised=-since, placed=-since - 6, **fields
        )

    def product(self, order: Mapping[str, Any], line: int = 0) -> Product:
        """Return the product of a line."""
        return self.scene.catalogue.product(order["lines"][line]["product"])

    def goods(self, order: Mapping[str, Any], line: int = 0) -> str:
        """Name the goods of a line by what they are."""
        product = self.product(order, line)
        return category_of(product.category).kind(product.kind).text[self.scene.language]

    @property
    def card(self) -> str:
        """The payment method of every order."""
        return str(next(iter(self.customer["payments"])))

    @property
    def gift(self) -> str:
        """The gift card."""
        return str(list(self.customer["payments"])[1])

    def other_variant(
        self, order: Mapping[str, Any], line: int = 0, *, stock: bool = True
    ) -> Variant | None:
        """Return another variant of the line's item, in stock or sold out."""
        variants = [
            v
            for v in self.product(order, line).variants
            if v.id != order["lines"][line]["variant"] and bool(v.stock) == stock
        ]
        return self.scene.pick(variants) if variants else None

    def case(
        self,
        request: str,
        action: Action,
        *,
        goal: str,
        slots: Mapping[str, Mapping[str, Any]],
        wrong: Mapping[str, Sequence[Action]],
        allowed: bool,
        damaged: bool = False,
    ) -> Case | None:
        """Finish a case; None where the ruling is not what the template meant."""
        order = self.orders[0]
        name, arguments = action
        stock = {}
        if "variant" in arguments:
            product = self.scene.catalogue.product(arguments["variant"].split("-")[0])
            stock[arguments["variant"]] = product.variant(arguments["variant"]).stock
        found = ruling(self.policy, self.customer, order, name, arguments, stock, damaged)
        if (found is None) != allowed:
            return None
        return Case(
            self.policy, self.customer, self.orders, request, [action], found, wrong, slots, goal
        )

    def _category(self, line: Mapping[str, Any]) -> str:
        return self.scene.catalogue.product(line["product"]).category


def _slot(scene: Scene, value: str, en: Sequence[str], zh: Sequence[str]) -> dict[str, Any]:
    return {"value": value, "ask": list(zh if scene.language == "zh" else en)}


def _which(scene: Scene, goods: str) -> dict[str, Any]:
    return _slot(scene, goods, ("which order", "order", "item"), ("哪个订单", "订单", "商品"))


def _item(scene: Scene, goods: str) -> str:
    return scene.say(f"the {goods}", goods)


def cancel(scene: Scene) -> Case | None:
    """Cancel a pending order; in the twin it has left the house."""
    desk = _Desk(scene)
    order = desk.order("pending" if scene.side == 0 else "shipped")
    reason = scene.pick(("not_needed", "mistake"))
    why = {
        "not_needed": scene.say("I no longer need it", "我不需要了"),
        "mistake": scene.say("I ordered it by mistake", "我下错单了"),
    }[reason]
    other = "mistake" if reason == "not_needed" else "not_needed"
    goods = _item(scene, desk.goods(order))
    return desk.case(
        scene.say(
            f"Please cancel my order with {goods}; {why}.", f"请取消我那个含{goods}的订单，{why}。"
        ),
        ("cancel_order", {"order": order["id"], "reason": reason}),
        goal=scene.say("I would like to cancel an order.", "我想取消一个订单。"),
        slots={
            "order": _which(scene, goods),
            "why": _slot(scene, why, ("why", "reason"), ("原因", "理由", "为什么")),
        },
        wrong={"another reason": [("cancel_order", {"order": order["id"], "reason": other})]},
        allowed=scene.side == 0,
    )


def _returned(
    scene: Scene, desk: _Desk, order: dict[str, Any], *, allowed: bool, damaged: bool = False
) -> Case | None:
    since = desk.policy.today - order["delivered"]
    original = since <= desk.policy.cash_days
    right, other = (desk.card, desk.gift) if original else (desk.gift, desk.card)
    goods = _item(scene, desk.goods(order))
    state = scene.say("; it arrived damaged", "，到货就是坏的") if damaged else ""
    wrong: dict[str, Sequence[Action]] = {
        "refund elsewhere": [
            ("return_items", {"order": order["id"], "lines": ["1"], "refund_to": other})
        ]
    }
    if len(order["lines"]) > 1:
        both = [line["line"] for line in order["lines"]]
        wrong["a line too many"] = [
            ("return_items", {"order": order["id"], "lines": both, "refund_to": right})
        ]
        wrong["the other line"] = [
            ("return_items", {"order": order["id"], "lines": ["2"], "refund_to": right})
        ]
    slots = {"order": _which(scene, goods)}
    if damaged:
        slots["state"] = _slot(
            scene,
            scene.say("it arrived damaged", "到货就是坏的"),
            ("why", "reason", "condition"),
            ("原因", "为什么", "状态"),
        )
    return desk.case(
        scene.say(f"I want to return {goods}{state}.", f"我要退掉{goods}{state}。"),
        ("return_items", {"order": order["id"], "lines": ["1"], "refund_to": right}),
        goal=scene.say("I would like to send something back.", "我想退货。"),
        slots=slots,
        wrong=wrong,
        allowed=allowed,
        damaged=damaged,
    )


def return_window(scene: Scene) -> Case | None:
    """A return within the days allowed; in the twin a few days too late."""
    desk = _Desk(scene, tier="standard")
    gap = 1 + int(scene.rng.integers(4))
    days = desk.policy.return_days
    order = desk.delivered(days - gap if scene.side == 0 else days + gap)
    return _returned(scene, desk, order, allowed=scene.side == 0)


def return_plus(scene: Scene) -> Case | None:
    """Late by the common rule; Plus members have longer, in the twin the customer is none."""
    desk = _Desk(scene, tier="plus" if scene.side == 0 else "standard")
    order = desk.delivered(desk.policy.return_days + 1 + int(scene.rng.integers(6)))
    return _returned(scene, desk, order, allowed=scene.side == 0)


def return_refund(scene: Scene) -> Case | None:
    """Where the refund goes: to the card when it is recent, in the twin to the gift card."""
    desk = _Desk(scene)
    near = int(scene.rng.integers(2))
    cash = desk.policy.cash_days
    order = desk.delivered(cash - near if scene.side == 0 else cash + 1 + near)
    return _returned(scene, desk, order, allowed=True)


def return_final_sale(scene: Scene) -> Case | None:
    """Final sale, but it arrived damaged; in the twin nothing was wrong with it."""
    desk = _Desk(scene)
    order = desk.delivered(3 + int(scene.rng.integers(8)))
    order["lines"][0]["final_sale"] = True
    fine = scene.side == 0
    return _returned(scene, desk, order, allowed=fine, damaged=fine)


def _swapped(
    scene: Scene, desk: _Desk, order: dict[str, Any], action: str, *, stock: bool, allowed: bool
) -> Case | None:
    new = desk.other_variant(order, stock=stock)
    decoy = desk.other_variant(order)
    if new is None or decoy is None:
        return None
    goods = _item(scene, desk.goods(order))
    wanted = chosen_text(desk.product(order), new, scene.language).lower()
    arguments = {"order": order["id"], "line": "1", "variant": new.id}
    wrong: dict[str, Sequence[Action]] = {}
    if decoy.id != new.id:
        wrong["another variant"] = [(action, {**arguments, "variant": decoy.id})]
    if action == "exchange_item":
        wrong["returned instead"] = [
            ("return_items", {"order": order["id"], "lines": ["1"], "refund_to": desk.card})
        ]
        request = scene.say(
            f"I want to exchange {goods} for this variant of it: {wanted}.",
            f"我想把{goods}换成{wanted}的那款。",
        )
        goal = scene.say("I would like to exchange something.", "我想换货。")
    else:
        request = scene.say(
            f"Before you send it, please change {goods} in my order to this variant: {wanted}.",
            f"发货前请把我订单里的{goods}改成{wanted}的那款。",
        )
        goal = scene.say("I would like to change something in an order.", "我想改一下订单。")
    return desk.case(
        request,
        (action, arguments),
        goal=goal,
        slots={
            "order": _which(scene, goods),
            "variant": _slot(
                scene,
                wanted,
                ("which variant", "variant", "what instead", "exchange it for"),
                ("换成什么", "哪一款", "款式"),
            ),
        },
        wrong=wrong,
        allowed=allowed,
    )


def exchange(scene: Scene) -> Case | None:
    """An exchange for a variant in stock; in the twin that one is sold out."""
    desk = _Desk(scene)
    order = desk.delivered(2 + int(scene.rng.integers(9)))
    fine = scene.side == 0
    return _swapped(scene, desk, order, "exchange_item", stock=fine, allowed=fine)


def change_item(scene: Scene) -> Case | None:
    """Another variant before sending; in the twin the order has left the house."""
    desk = _Desk(scene)
    order = desk.order("pending" if scene.side == 0 else "shipped")
    return _swapped(scene, desk, order, "change_item", stock=True, allowed=scene.side == 0)


def change_address(scene: Scene) -> Case | None:
    """A new address for a pending order; in the twin it is on its way."""
    desk = _Desk(scene)
    order = desk.order("pending" if scene.side == 0 else "shipped")
    place = draw_address(scene.rng)
    goods = _item(scene, desk.goods(order))
    shown = f"{place['street']}, {place['city']}, {place['postcode']}"
    swapped = {**place, "postcode": place["postcode"][::-1]}
    if swapped == place:
        return None
    return desk.case(
        scene.say(
            f"Please send my order with {goods} to {shown} instead.",
            f"请把含{goods}的订单改寄到 {shown}。",
        ),
        ("change_address", {"order": order["id"], **place}),
        goal=scene.say("An order of mine should go elsewhere.", "我想改一个订单的地址。"),
        slots={
            "order": _which(scene, goods),
            "address": _slot(scene, shown, ("address", "where"), ("地址", "寄到哪")),
        },
        wrong={
            "another postcode": [("change_address", {"order": order["id"], **swapped})],
            "cancelled instead": [("cancel_order", {"order": order["id"], "reason": "not_needed"})],
        },
        allowed=scene.side == 0,
    )


def late(scene: Scene) -> Case | None:
    """A refund for a late delivery; in the twin it was not late enough."""
    desk = _Desk(scene)
    since = 2 + int(scene.rng.integers(6))
    extra = desk.policy.late_days + (1 + int(scene.rng.integers(3)) if scene.side == 0 else 0)
    order = desk.delivered(since)
    order["promised"] = order["delivered"] - extra
    order["placed"] = order["promised"] - 6
    fee = order["delivery_cents"]
    plus = desk.customer["tier"] == "plus"
    cents, other = (2 * fee, fee) if plus else (fee, 2 * fee)
    goods = _item(scene, desk.goods(order))
    arguments = {"order": order["id"], "cents": cents, "refund_to": desk.card}
    return desk.case(
        scene.say(
            f"My order with {goods} came late; I want the compensation that I am due.",
            f"含{goods}的订单送晚了，我要求应得的补偿。",
        ),
        ("refund_delivery", arguments),
        goal=scene.say("A delivery of mine came late.", "我有个订单送晚了。"),
        slots={"order": _which(scene, goods)},
        wrong={
            "another amount": [("refund_delivery", {**arguments, "cents": other})],
            "refund elsewhere": [("refund_delivery", {**arguments, "refund_to": desk.gift})],
        },
        allowed=scene.side == 0,
    )


def not_owner(scene: Scene) -> Case | None:
    """The order named is the customer's own; in the twin it is somebody else's."""
    desk = _Desk(scene)
    order = desk.order("pending")
    if scene.side == 1:
        stranger = draw_customer(scene.rng, f"C{8000 + int(scene.rng.integers(900))}")
        order["customer"] = stranger["id"]
        desk.customer["orders"].remove(order["id"])
    found = desk.case(
        scene.say(
            f"Cancel order {order['id']}; it was ordered by mistake.",
            f"请取消订单 {order['id']}，下错单了。",
        ),
        ("cancel_order", {"order": order["id"], "reason": "mistake"}),
        goal=scene.say("I would like to cancel an order.", "我想取消一个订单。"),
        slots={
            "order": _slot(scene, order["id"], ("which order", "order"), ("订单",)),
            "why": _slot(
                scene,
                scene.say("it was a mistake", "下错单了"),
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


def two_requests(scene: Scene) -> Case | None:
    """A return from one order and the cancelling of another."""
    desk = _Desk(scene, tier="standard")
    order = desk.delivered(1 + int(scene.rng.integers(4)))
    pending = [o for o in desk.orders[1:] if o["status"] == "pending"]
    if not pending:
        return None
    second = pending[0]
    made = _returned(scene, desk, order, allowed=True)
    if made is None:
        return None
    goods = _item(scene, desk.goods(second))
    cancelled: Action = ("cancel_order", {"order": second["id"], "reason": "not_needed"})
    also = scene.say(
        f" And cancel the order with {goods}; I no longer need it.",
        f"另外把含{goods}的订单取消，我不需要了。",
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
    "return_window": return_window,
    "return_plus": return_plus,
    "return_refund": return_refund,
    "return_final_sale": return_final_sale,
    "exchange": exchange,
    "change_item": change_item,
    "change_address": change_address,
    "late_delivery": late,
    "not_owner": not_owner,
    "two_requests": two_requests,
}

SERVICE_DIALOGUES = {
    # The same cases with a customer who is asked, and whose yes is needed.
    "dialogue_cancel": cancel,
    "dialogue_return": return_window,
    "dialogue_exchange": exchange,
    "dialogue_address": change_address,
}
