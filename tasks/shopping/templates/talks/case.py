"""A case under construction: the customer, their orders, the policy, and what they want."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.world.desk.records import draw_address, draw_customer, draw_number
from hexathlon.tasks.shopping.world.talk.goods import COLOURS, GOODS, goods_name
from hexathlon.tasks.shopping.world.wording import enumerated

__all__ = ["TalkCase", "Wish"]


@dataclass
class Wish:
    """What the customer wants in the end, and what somebody takes it for who overlooks a twist."""

    back: dict[str, set[str]] = field(default_factory=dict)
    """Lines that are to go back, by order."""

    exchange: dict[tuple[str, str], str] = field(default_factory=dict)
    """Variant for each line to be exchanged."""

    match: list[tuple[str, str]] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    address: dict[str, dict[str, str]] = field(default_factory=dict)
    devices: list[tuple[str, str]] = field(default_factory=list)
    promised: list[tuple[str, int]] = field(default_factory=list)
    """Orders for which the customer claims a promise, with the amount."""


class TalkCase:
    """A case.

    Args:
        scene: Random stream, language and split.
    """

    def __init__(self, scene: ShoppingScene) -> None:
        self.scene, self.rng = scene, scene.rng
        self.say, self.span = scene.say, scene.span
        self.pick, self.chance = scene.pick, scene.chance
        self.today, self.hour = 100, self.span(9, 17)
        self.numbers = {
            "return_days": self.span(14, 24, 2), "plus_days": self.span(5, 10),
            "opened_percent": self.span(10, 25, 5), "point_cents": self.span(3, 7),
            "match_days": self.span(8, 20), "late_days": self.span(2, 4),
            "late_cents": self.span(400, 900, 50), "free_cents": self.span(60, 110, 5) * 100,
            "promise_days": self.span(5, 12),
            "north_hour": self.span(10, 13), "south_hour": self.span(13, 16),
            "north_days": self.span(2, 3), "south_days": self.span(2, 4),
        }  # fmt: skip
        drawn = draw_customer(self.rng, draw_number(self.rng, "C"), scene.language)
        self.account: dict[str, Any] = {
            "id": drawn["id"], "name": drawn["name"], "points": 0,
            "tier": "plus" if self.chance(0.4) else "standard", "orders": [],
        }  # fmt: skip
        self.orders: dict[str, dict[str, Any]] = {}
        self.variants: dict[str, dict[str, Any]] = {}
        self.matters: list[str] = []
        self.later: list[str] = []
        """What the customer brings up after everything else."""

        self.final: tuple[str, str] | None = None
        """Line that the customer wants to cancel when the case is about to be closed."""

        self.final_words = ""
        self.answers: dict[str, str] = {}
        self.notes: list[str] = []
        self.logs: dict[str, dict[str, Any]] = {}
        self.last, self.first = Wish(), Wish()
        """What the customer wants in the end, and what they said first."""

        self.damaged: set[tuple[str, str]] = set()
        self.opened: set[tuple[str, str]] = set()
        self.works: set[tuple[str, str]] = set()
        self.claimed: dict[str, int] = {}
        """Day on which an order arrived as the customer has it."""

        self.consents: dict[str, bool] = {}
        """Whether the customer agrees to a later arrival, by order."""

        self.binding: dict[str, bool] = {}
        """Whether a note of a colleague still binds, by order."""

        self.asks: list[tuple[str, str]] = []
        plain = [slug for slug, goods in GOODS.items() if not goods.device]
        devices = [slug for slug, goods in GOODS.items() if goods.device]
        self._plain = [plain[i] for i in self.rng.permutation(len(plain)).tolist()]
        self._devices = [devices[i] for i in self.rng.permutation(len(devices)).tolist()]

    def place(self) -> dict[str, str]:
        """Draw an address."""
        return draw_address(self.rng, self.scene.language)

    # Orders --------------------------------------------------------------------------------------

    @property
    def window(self) -> int:
        """Days within which this customer may return goods."""
        more = self.numbers["plus_days"] if self.account["tier"] == "plus" else 0
        return self.numbers["return_days"] + more

    def order(self, status: str, pieces: int, *, device: bool = False, age: int = 0,
              coupon: bool = False, late: int = 0) -> dict[str, Any]:  # fmt: skip
        """Draw an order.

        Args:
            status: `pending`, `shipped` or `delivered`.
            pieces: Number of lines.
            device: Whether the first line is a connected device.
            age: Days since the customer got it, for delivered orders.
            coupon: Whether a coupon was used.
            late: Days by which it came late.
        """
        order_id = draw_number(self.rng, "O", self.orders)
        lines = []
        for number in range(1, pieces + 1):
            pool = self._devices if device and number == 1 else self._plain
            slug = pool.pop()
            lines.append(self._line(str(number), slug))
        total = sum(line["cents"] for line in lines)
        got = self.today - age
        fee = self.span(390, 690, 50)
        free = total >= self.numbers["free_cents"]
        least = self.span(total * 6 // 10, total) // 500 * 500 if coupon else 0
        off = self.span(500, 1500, 100)
        order: dict[str, Any] = {
            "id": order_id, "status": status, "lines": lines,
            "placed": got - late - self.span(6, 9) if status == "delivered"
            else self.today - self.span(1, 3),
            "promised": got - late if status == "delivered" else self.today + self.span(2, 4),
            "coupon": {"off": off, "min": least} if coupon else None,
            "fee": fee, "fee_charged": 0 if free else fee,
            "gift_paid": self.span(0, 6) * 500, "refunds": [0, 0], "goodwill": 0, "resets": [],
            "address": self.place(), "scans": self._scans(status, got),
        }  # fmt: skip
        self.orders[order_id] = order
        self.account["orders"].append(order_id)
        return order

    def _line(self, number: str, slug: str) -> dict[str, Any]:
        base = GOODS[slug].cents
        colours = [list(COLOURS)[i] for i in self.rng.permutation(len(COLOURS)).tolist()[:4]]
        paid = base + self.span(-8, 8) * 50 - 1
        for place, colour in enumerate(colours):
            key = f"V{1000 + len(self.variants) * 7 + self.span(0, 6)}"
            cents = paid + self.pick((-600, -350, 0, 0, 250, 500)) if place else (
                paid - self.pick((0, 250, 400, 750)))  # fmt: skip
            self.variants[key] = {"id": key, "goods": slug, "colour": colour, "cents": cents,
                                  "stock": self.pick((0, 2, 5, 9))}  # fmt: skip
        return {"line": number, "goods": slug, "colour": colours[0], "cents": paid,
                "final": self.chance(0.12), "state": "ordered"}  # fmt: skip

    def _scans(self, status: str, got: int) -> list[list[Any]]:
        if status == "pending":
            return []
        left = self.say("left the warehouse", "已出库")
        if status == "shipped":
            return [[self.today - 1, left]]
        scans: list[list[Any]] = [[got - 4, left]]
        if self.chance(0.6):
            before = got - self.span(2, 3)
            scans.append([before, self.say("handed to a neighbour", "由邻居代收")])
            scans.append([got, self.say("collected by the customer", "顾客本人取走")])
        else:
            scans.append([got, self.say("handed to the customer", "顾客本人签收")])
        return scans

    # What is said --------------------------------------------------------------------------------

    def name(self, order: dict[str, Any], number: str) -> str:
        """Return the name of a line's goods."""
        line = next(line for line in order["lines"] if line["line"] == number)
        return goods_name(line["goods"], self.scene.language)

    def names(self, order: dict[str, Any], numbers: Sequence[str]) -> str:
        """Return the names of several lines' goods."""
        names = [self.say(f"the {self.name(order, n)}", self.name(order, n)) for n in numbers]
        return enumerated(names, self.scene.language)

    def both(self) -> tuple[Wish, Wish]:
        """Return the two wishes, to state something in both."""
        return self.last, self.first
