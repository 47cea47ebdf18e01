"""Customers of a day with their accounts and orders."""

from collections.abc import Sequence
from typing import Any

from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.world.desk.records import draw_customer, draw_number, draw_order
from hexathlon.tasks.shopping.world.shift.amounts import placed_cents

__all__ = ["PeopleDraw"]

_NOTES = {
    "en": ("Happy birthday!", "Get well soon!", "With love from all of us", "Thank you, Grandma!",
           "Good luck in the new flat!", "Welcome home!", "To the best neighbour"),
    "zh": ("生日快乐！", "早日康复", "全家人的心意", "谢谢奶奶", "乔迁之喜", "欢迎回家",
           "送给最好的邻居"),
}  # fmt: skip


_LEAST_CENTS = 6000
"""Least price in the shop of goods in orders, whose prices are then set anew."""


class PeopleDraw:
    """Draws accounts and orders of a day; every id is drawn once."""

    def __init__(self, scene: ShoppingScene, free_cents: int) -> None:
        self._scene, self._rng = scene, scene.rng
        self._free = free_cents
        self._taken: set[str] = set()
        self._names: set[str] = set()

    def account(self, *, like: dict[str, Any] | None = None, email: bool = False) -> dict[str, Any]:
        """Draw an account; `like` gives it another one's name, and with `email` its owner."""
        while True:
            drawn = draw_customer(self._rng, self._number("C"), self._scene.language)
            if like is None and drawn["name"] not in self._names:
                break
            if like is not None:
                drawn["name"] = like["name"]
                if email:
                    drawn["email"], drawn["tier"] = like["email"], like["tier"]
                if email or drawn["email"] != like["email"]:
                    break
        self._names.add(drawn["name"])
        return drawn

    def order(
        self,
        account: dict[str, Any],
        status: str,
        *,
        pieces: int,
        since: int = 0,
        delay: int = 0,
        leaving: Sequence[int] = (),
        fee: str = "any",
        coupon: str = "",
        apart: Sequence[dict[str, Any]] = (),
    ) -> dict[str, Any]:
        """Draw an order.

        Args:
            account: Its account, to whose list it is added.
            status: Its status.
            pieces: Number of lines.
            since: Days since delivery.
            delay: Days by which it came late.
            leaving: Positions of lines that will leave the order.
            fee: `lost` if free delivery is lost with them, `kept`, `never` if it was not free.
            coupon: `lapses` or `stays` with them; empty: no coupon.
            apart: Orders with whose goods it has no kind in common.
        """
        taken = {self._kind(line) for other in apart for line in other["lines"]}
        for _ in range(60):
            order = draw_order(self._rng, self._scene.catalogue, account, "O", status=status,
                               pieces=pieces, least_cents=_LEAST_CENTS)  # fmt: skip
            kinds = [self._kind(line) for line in order["lines"]]
            if taken.isdisjoint(kinds) and len(set(kinds)) == len(kinds):
                break
        order["id"] = self._number("O")
        for line in order["lines"]:
            line.update(final_sale=False, state="ordered")
        self._price(order, leaving, fee)
        promised = int(self._rng.integers(1, 6))
        delivered = -since if status == "delivered" else None
        if delivered is not None:
            promised = delivered - delay
        payment, gift = account["payments"]
        order.update(
            promised=promised, placed=promised - 6, delivered=delivered, payment=payment, gift=gift,
            tier=account["tier"], confirmed=True, refunds={}, photo="", agreed=[], coupon=None,
            coupons=[], carrier=("courier", "locker")[int(self._rng.integers(2))],
            note=self.note(),
        )  # fmt: skip
        if coupon:
            self._with_coupon(order, leaving, coupon)
        order.update(placed_cents(order, self._free))
        account["orders"].append(order["id"])
        return order

    def price_choice(self, order: dict[str, Any]) -> None:
        """Set prices so that free delivery is lost with the first line, but not with the second.

        The first line costs more than the second, by less or by more than the delivery fee.
        """
        lines = order["lines"]
        first = self._span(9000, 12000)
        second = first - self._span(150, 1200)
        rest = self._free + self._span(0, first - second - 20) - first
        share = rest // 2 + self._span(0, 300)
        for line, cents in zip(lines, (first, second, share, rest - share), strict=True):
            line["cents"] = cents
        order["coupon"], order["coupons"] = None, []
        order.update(placed_cents(order, self._free))

    def same_goods(self, order: dict[str, Any], line: dict[str, Any]) -> None:
        """Give the first line of an order the goods of another line, at its own price."""
        order["lines"][0] |= {"product": line["product"], "variant": line["variant"]}

    def note(self) -> str:
        """Draw the text of a gift note."""
        return self._scene.pick(_NOTES[self._scene.language])

    def _price(self, order: dict[str, Any], leaving: Sequence[int], fee: str) -> None:
        """Set prices so that the lines that leave decide on free delivery as wished.

        Of the lines that stay, goods that are dearer in the shop cost more.
        """
        lines, span = order["lines"], self._span
        rest = [place for place in range(len(lines)) if place not in leaving]
        rest.sort(key=lambda place: lines[place]["cents"])
        for place in leaving:
            lines[place]["cents"] = span(7500, 12000)
        gone = sum(lines[place]["cents"] for place in leaving)
        total = {
            "lost": self._free + span(500, max(gone - 1400, 700)),
            "kept": self._free + gone + span(300, 8000),
            "never": min(self._free - span(300, 4000), gone + len(rest) * span(5000, 9000)),
            "any": gone + len(rest) * span(6000, 16000),
        }[fee]
        left = max(total - gone, 3000 * len(rest))
        prices = []
        for number in range(len(rest), 0, -1):
            share = left // number
            prices.append(left if number == 1 else span(share // 2, share))
            left -= prices[-1]
        for place, cents in zip(rest, sorted(prices), strict=True):
            lines[place]["cents"] = cents

    def _with_coupon(self, order: dict[str, Any], leaving: Sequence[int], coupon: str) -> None:
        goods = sum(line["cents"] for line in order["lines"])
        gone = sum(order["lines"][place]["cents"] for place in leaving)
        low, high = goods - gone, goods
        least = (low // 100 + 5) * 100 if coupon == "lapses" else (low // 100 - 25) * 100
        least = min(least, high // 100 * 100) if coupon == "lapses" else max(least, 1000)
        code = f"SAVE{self._span(100, 999, 1)}"
        order["coupon"] = {
            "code": code,
            "off_cents": self._span(800, 2000, 100),
            "min_cents": least,
        }
        order["coupons"] = [code]

    def _span(self, low: int, high: int, step: int = 10) -> int:
        return low + step * int(self._rng.integers((high - low) // step + 1))

    def _kind(self, line: dict[str, Any]) -> tuple[str, str]:
        product = self._scene.catalogue.product(line["product"])
        return product.category, product.kind

    def _number(self, letter: str) -> str:
        drawn = draw_number(self._rng, letter, self._taken)
        self._taken.add(drawn)
        return drawn
