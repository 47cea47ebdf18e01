"""A service case under construction: a customer with orders, phrases and the ruling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.tasks.catalogue import Product, Variant
from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.world.desk.policy import PARAGRAPHS, DeskPolicy, ruling
from hexathlon.tasks.shopping.world.desk.records import draw_customer, draw_number, draw_order
from hexathlon.tasks.shopping.world.facts import category_of
from hexathlon.tasks.task import Level

__all__ = ["CaseDesk", "ReferenceCall", "ServiceCase", "item", "slot", "which"]

ReferenceCall = tuple[str, dict[str, Any]]
_OTHERS: Mapping[Level, int] = {"tiny": 6, "easy": 7, "medium": 8}
"""Number of the customer's other orders; naming one blindly is hardly ever right."""


@dataclass(frozen=True)
class ServiceCase:
    """A service case under construction."""

    policy: DeskPolicy
    customer: dict[str, Any]
    orders: Sequence[dict[str, Any]]
    """The customer's orders, starting with the one in question."""

    request: str
    """The customer's request, without identification."""

    actions: Sequence[ReferenceCall]
    """The actions requested, whether allowed or not."""

    declined: tuple[str, str] | None = None
    """Reason and record, if the policy does not allow the request."""

    wrong: Mapping[str, Sequence[ReferenceCall]] = field(default_factory=dict)
    """Wrong alternatives by name."""

    slots: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """For dialogue: the customer's answers when asked."""

    goal: str = ""
    goods: str = ""
    """The customer's name for the goods in question."""

    twin: bool = True


def _policy(scene: ShoppingScene) -> DeskPolicy:
    rng = scene.rng
    return DeskPolicy(
        return_days=int(rng.choice([14, 21, 30])),
        plus_days=int(rng.choice([7, 10, 14])),
        cash_days=int(rng.choice([5, 7, 10])),
        late_days=int(rng.choice([2, 3, 4])),
        order=tuple(rng.permutation(len(PARAGRAPHS)).tolist()),
    )


class CaseDesk:
    """A customer with some orders, and phrases for them."""

    def __init__(self, scene: ShoppingScene, *, tier: str | None = None) -> None:
        self.scene = scene
        self.policy = _policy(scene)
        self.customer = draw_customer(scene.rng, draw_number(scene.rng, "C"), scene.language)
        if tier is not None:
            self.customer["tier"] = tier
        self.orders: list[dict[str, Any]] = []
        self.place = 0
        """Position of the line in question."""

    @property
    def return_days(self) -> int:
        """Days after delivery within which this customer may return goods."""
        more = self.policy.plus_days if self.customer["tier"] == "plus" else 0
        return self.policy.return_days + more

    def order(
        self, status: str, *, limit: int | None = None, late: int | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Draw the order in question; no other order of the customer has goods of its kinds.

        The list of orders tells neither which one is meant nor which twin it is: on both sides,
        three orders are pending and three shipped, or two of four delivered ones lie beyond a
        limit.

        Args:
            status: Status of the order in question.
            limit: Days since delivery that decide the case.
            late: Days of delay that decide the case.
            fields: Other fields of the order in question.
        """
        rng, catalogue = self.scene.rng, self.scene.catalogue
        pieces = 1 if self.scene.level == "tiny" else 2
        ids: list[str] = []
        for _ in range(1 + _OTHERS[self.scene.level]):
            ids.append(draw_number(rng, "O", ids))
        main = draw_order(rng, catalogue, self.customer, ids[0], status=status, pieces=pieces)
        for line in main["lines"]:
            line["final_sale"] = False
        main.update(fields)
        self.orders, self.place = [main], int(rng.integers(pieces))
        taken = {self._kind(line) for line in main["lines"]}
        # Most others differ from the one in question only in the goods: an agent that treats all
        # orders alike changes one too many, and nothing else identifies the right one.
        waiting = 2 if status == "pending" else 3
        alike = (
            ("delivered",) * 3
            if status == "delivered"
            else ("pending",) * waiting + ("shipped",) * (5 - waiting)
        )
        moved: list[dict[str, Any]] = []
        for i, other_id in enumerate(ids[1:]):
            like: dict[str, Any] = {}
            if i < len(alike):
                like = {"status": alike[i], "pieces": pieces}
            for _ in range(50):
                other = draw_order(rng, catalogue, self.customer, other_id, **like)
                if taken.isdisjoint(self._kind(line) for line in other["lines"]):
                    if like and status == "delivered":
                        moved.append(other)
                    self.orders.append(other)
                    taken |= {self._kind(line) for line in other["lines"]}
                    break
        self._spread(main, moved, limit, late)
        made = [order["id"] for order in self.orders]
        self.customer["orders"] = [made[i] for i in rng.permutation(len(made)).tolist()]
        return main

    def delivered(
        self, since: int, *, limit: int | None = None, late: int | None = None, delay: int = 0
    ) -> dict[str, Any]:
        """Draw an order delivered `since` days ago; see `order`.

        Args:
            since: Days since delivery.
            limit: Days since delivery that decide the case.
            late: Days of delay that decide the case.
            delay: Days of delay if `late` is given, otherwise drawn.
        """
        if late is None:
            delay = int(self.scene.rng.integers(-1, 3))
        promised = -since - delay
        return self.order(
            "delivered", limit=limit, late=late,
            delivered=-since, promised=promised, placed=promised - 6,
        )  # fmt: skip

    def _spread(
        self,
        main: Mapping[str, Any],
        others: Sequence[dict[str, Any]],
        limit: int | None,
        late: int | None,
    ) -> None:
        """Date the others so that with the order in question half lie beyond each limit."""
        if not others:
            return
        rng = self.scene.rng
        since = -main["delivered"]
        beyond = since > limit if limit is not None else bool(rng.integers(2))
        delayed = late is not None and main["delivered"] - main["promised"] > late
        for place, other in enumerate(others):
            # One of three on the side of the order in question, two on the other.
            far = beyond == (place == 0)
            near = int(rng.integers(4))
            pivot = since if limit is None else limit
            _move(other, -max(pivot + 1 + near if far else pivot - near, 1))
            if late is not None:
                behind = delayed == (place == 1)
                delay = late + 1 + int(rng.integers(3)) if behind else late - int(rng.integers(2))
                other["promised"] = other["delivered"] - delay
                other["placed"] = other["promised"] - 6

    @property
    def line(self) -> str:
        """The number of the line in question, as shown by the desk."""
        return str(self.place + 1)

    def product(self, order: Mapping[str, Any]) -> Product:
        """Return an order's product in question; of any other order, its first."""
        place = self.place if order is self.orders[0] else 0
        return self.scene.catalogue.product(order["lines"][place]["product"])

    def goods(self, order: Mapping[str, Any]) -> str:
        """Name the goods in question by their kind."""
        product = self.product(order)
        return category_of(product.category).kind(product.kind).text[self.scene.language]

    @property
    def card(self) -> str:
        """The payment method used for every order."""
        return str(next(iter(self.customer["payments"])))

    @property
    def gift(self) -> str:
        """The customer's gift card."""
        return str(list(self.customer["payments"])[1])

    def other_variant(self, order: Mapping[str, Any], *, stock: bool = True) -> Variant | None:
        """Return another variant of the item in question, in stock or sold out."""
        variants = [
            v
            for v in self.product(order).variants
            if v.id != order["lines"][self.place]["variant"] and bool(v.stock) == stock
        ]
        return self.scene.pick(variants) if variants else None

    def case(
        self,
        request: str,
        action: ReferenceCall,
        *,
        goal: str,
        slots: Mapping[str, Mapping[str, Any]],
        wrong: Mapping[str, Sequence[ReferenceCall]],
        allowed: bool,
        damaged: bool = False,
    ) -> ServiceCase | None:
        """Complete a case; None if the ruling differs from the template's intention."""
        order = self.orders[0]
        name, arguments = action
        stock = {}
        if "variant" in arguments:
            product = self.scene.catalogue.product(arguments["variant"].split("-")[0])
            stock[arguments["variant"]] = product.variant(arguments["variant"]).stock
        found = ruling(self.policy, self.customer, order, name, arguments, stock, damaged)
        if (found is None) != allowed:
            return None
        goods = self.goods(order)
        return ServiceCase(
            self.policy, self.customer, self.orders, request, [action], found, wrong, slots, goal,
            goods,
        )  # fmt: skip

    def _kind(self, line: Mapping[str, Any]) -> tuple[str, str]:
        product = self.scene.catalogue.product(line["product"])
        return product.category, product.kind


def _move(order: dict[str, Any], delivered: int) -> None:
    """Shift an order to another delivery day, with everything else unchanged."""
    days = delivered - order["delivered"]
    for name in ("placed", "promised", "delivered"):
        order[name] += days


def slot(
    scene: ShoppingScene,
    value: str,
    en: Sequence[str],
    zh: Sequence[str],
    *said: tuple[str, str],
) -> dict[str, Any]:
    """Return a slot of the customer's agenda.

    Args:
        scene: The scene, for its language.
        value: What the customer answers.
        en: English phrases that ask for it.
        zh: Chinese ones.
        said: Sentences around the value, `{value}`, in English and Chinese; by default it alone.
    """
    patterns = said or (("{value}.", "{value}。"),)
    return {
        "value": value,
        "ask": list(zh if scene.language == "zh" else en),
        "say": [scene.say(*each) for each in patterns],
    }


def which(scene: ShoppingScene, goods: str) -> dict[str, Any]:
    """Return the slot that identifies the goods."""
    return slot(
        scene, goods, ("which order", "order", "item"), ("哪个订单", "订单", "商品"),
        ("The one with {value}.", "有{value}的那个。"), ("My order with {value}.", "{value}那单。"),
    )  # fmt: skip


def item(scene: ShoppingScene, goods: str) -> str:
    """Return goods with their article."""
    return scene.say(f"the {goods}", goods)
