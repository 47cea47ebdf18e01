"""A household under construction: records, rules, requests and the reference of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.household.looking import looked_up
from hexathlon.tasks.shopping.templates.household.market import (
    draw_offers,
    draw_sellers,
    priced_anew,
)
from hexathlon.tasks.shopping.templates.household.people import HousePerson, draw_people
from hexathlon.tasks.shopping.world.household.goods import KINDS
from hexathlon.tasks.shopping.world.household.house import Household
from hexathlon.tasks.shopping.world.household.prices import (
    PackChoice,
    Wanted,
    cheapest,
    cheapest_again,
    lines_total,
)
from hexathlon.tasks.shopping.world.retail import DeskProblem

__all__ = ["HouseMonth", "Unfit"]

_Call = tuple[str, dict[str, Any]]

_MARGIN = 30
"""Smallest difference between the two cheapest orders, in cents."""

_DRAWS = 40
"""Number of draws of a request's market before the month is rejected."""


class Unfit(Exception):
    """A draw that makes no valid request."""


class HouseMonth:
    """A month, built request by request.

    Args:
        scene: Random stream, language and split.
        offers: Number of offers of each kind.
    """

    def __init__(self, scene: ShoppingScene, offers: int) -> None:
        self.scene, self.rng = scene, scene.rng
        self.say, self.span = scene.say, scene.span
        self.pick, self.chance = scene.pick, scene.chance
        self._count = offers
        self.train = scene.split == "train"
        self.least = self.span(2, 4)
        self.event_days = self.span(1, 3)
        self.fewest = 0
        """Smallest number of twists that must change an order."""

        self.grows = self.span(40, 60, 5)
        self.people = draw_people(self.rng, scene.language, self.grows, aged=not self.train)
        self.mother, self.father, self.daughter, self.son, self.grandmother = self.people
        self.known = {person.name: list(person.facts) for person in self.people}
        """What is known at the beginning; later reactions are for the agent to keep."""

        self.judge = self.pick((self.mother, self.father))
        """The parent who decides about children's wishes."""

        self.allowance = self.span(20, 35, 5) * 100
        self.banned: list[str] = []
        self.notices: list[dict[str, Any]] = []
        self.calendar: list[str] = []
        self.devices: list[str] = []
        self.history: list[str] = []
        self.requests: list[dict[str, Any]] = []
        self.plans: list[dict[str, Any]] = []
        self.twists: list[str] = []
        self.records: list[list[Any]] = []
        self.params: dict[str, Any] = {
            "world": "household", "language": scene.language, "records": self.records,
            "requests": self.requests, "notices": self.notices, "calendar": self.calendar,
            "devices": self.devices, "history": self.history, "rules": [],
        }  # fmt: skip
        self.sellers = draw_sellers(self.rng, scene.language)
        self.day = 1
        self.fits: dict[str, tuple[str, str]] = {}
        """Fit of the device in use and of the one before, by kind."""

        self.use: dict[str, tuple[int, int, int, int]] = {}
        """Daily use, what was left, the day of that, and what had arrived by then, by kind."""

        self.owners: dict[tuple[str, str], str] = {}
        """Who gets personal goods, by order and offer; everything else is for everybody."""

        self.void_bans: dict[str, str] = {}
        """Sellers against whom a notice hangs that does not bind, with what it is."""

        self.wished: list[str] = []
        self.granted: list[tuple[int, int]] = []
        """Positions of wishes that the budget must allow, with what they would cost if declined."""

        self.short: tuple[int, int] | None = None
        """Number and price of the wish that the budget must not allow."""

        self._ids = [f"F{100 + n}" for n in self.rng.permutation(900).tolist()]
        self._stocked: set[str] = set()
        self.house: Household
        for name, seller in self.sellers.items():
            self.records.append(["sellers", name, seller])
        self.records.append(["budget", "month", {"cents": 0}])
        for person in self.people:
            self.records.append(["members", person.name, {"facts": self.known[person.name]}])

    # Requests ------------------------------------------------------------------------------------

    def begin(self, by: HousePerson, day: int) -> dict[str, Any]:
        """Begin a request; the former one is finished."""
        if self.requests:
            self._finish()
        self.day = max(self.day, day)
        request: dict[str, Any] = {
            "day": self.day, "by": by.name, "says": "", "answers": {}, "events": [], "stir": [],
        }  # fmt: skip
        self.requests.append(request)
        self.plans.append({"looks": [["read_notices", {}]], "actions": [], "wrong": []})
        if len(self.requests) == 1:
            self.house = Household(self.params)
        else:
            self.house.call("finish_request", {"left_cents": self.house.left()})
        return request

    def done(self) -> None:
        """Finish the last request and thereby the month."""
        self._finish()
        self.house.call("finish_request", {"left_cents": self.house.left()})

    def _finish(self) -> None:
        left = self.house.left()
        if left != self._left_again():
            raise Unfit("two sums of what is left disagree")
        self.plans[-1]["left"] = left

    def _left_again(self) -> int:
        """Return what is left, from the lines that were kept instead of the refunds."""
        tables = self.house.tables
        spent = 0
        for key in tables.keys("orders"):
            order = tables.get("orders", key) or {}
            back = sum(
                line["cents"] * (self._bought(key, offer) - line["packs"])
                for offer, line in order["lines"].items()
            )
            spent += order["total_cents"] - back
        return int((tables.get("budget", "month") or {})["cents"]) - spent

    def _bought(self, key: str, offer: str) -> int:
        plan = self.plans[int(key[1:]) - 1]
        lines = [a["lines"] for name, a in plan["actions"] if name == "place_order"][-1]
        return next(int(line.split(" x ")[1]) for line in lines if line.startswith(f"{offer} x "))

    @property
    def key(self) -> str:
        """Id of the order of the request in hand."""
        return f"R{len(self.requests)}"

    def look(self, name: str, **arguments: Any) -> None:
        """Add a look-up of the oracle, unless it has made it in this request."""
        looks = self.plans[-1]["looks"]
        if [name, arguments] not in looks:
            looks.append([name, arguments])

    def ask(self, person: HousePerson, topic: str, answer: str) -> None:
        """Let a person answer a question, and the oracle ask it."""
        self.requests[-1]["answers"][f"{person.name}/{topic}"] = answer
        self.look("ask", member=person.name, topic=topic)

    def act(self, name: str, **arguments: Any) -> None:
        """Do one thing of the reference."""
        self.plans[-1]["actions"].append([name, arguments])
        try:
            self.house.call(name, arguments)
        except DeskProblem:
            if not self.requests[-1]["stir"] or name != "place_order":
                raise

    def wrong(self, label: str, calls: Sequence[_Call]) -> None:
        """Add a near miss: these calls in place of the reference's actions."""
        self.plans[-1]["wrong"].append([label, [list(call) for call in calls]])

    def event(self, table: str, key: str, record: Mapping[str, Any]) -> None:
        """Change a record when the request in hand arrives."""
        self.requests[-1]["events"] = [
            event for event in self.requests[-1]["events"] if event[:2] != [table, key]
        ] + [[table, key, dict(record)]]
        self.house.tables.put(table, key, dict(record))

    def notice(self, by: HousePerson, text: str, later: int = 0) -> None:
        """Put a notice on the board today or some days later."""
        self.notices.append({"day": self.day + later, "by": by.name, "text": text})

    # The market ----------------------------------------------------------------------------------

    def offers(self, kinds: Sequence[str]) -> list[dict[str, Any]]:
        """Return the present offers of some kinds."""
        tables = self.house.tables
        found = [dict(tables.get("offers", key) or {}) for key in tables.keys("offers")]
        return [offer for offer in found if offer["kind"] in kinds]

    def restock(self, kind: str, fits: Sequence[str], brands: Sequence[str]) -> None:
        """Draw the offers of a kind, or new prices and stocks if the kind is known."""
        if kind in self._stocked:
            for offer in self.offers([kind]):
                self.event("offers", offer["id"], priced_anew(self.rng, KINDS[kind], offer))
            return
        self.drop(kind)
        ids, self._ids = self._ids[: self._count], self._ids[self._count :]
        drawn = draw_offers(
            self.rng, KINDS[kind], sorted(ids), list(self.sellers), fits=fits, least=self.least,
            language=self.scene.language, brands=brands,
        )  # fmt: skip
        base = self.house.tables.base.tables
        assert isinstance(base, dict)
        for offer in drawn:
            self.records.append(["offers", offer["id"], offer])
            base.setdefault("offers", {})[offer["id"]] = offer

    def drop(self, kind: str) -> None:
        """Remove the offers of a kind from the market, before anybody has seen them."""
        base = self.house.tables.base.tables
        assert isinstance(base, dict)
        self.records[:] = [r for r in self.records if r[0] != "offers" or r[2]["kind"] != kind]
        kept = {k: o for k, o in base.get("offers", {}).items() if o["kind"] != kind}
        base["offers"] = kept

    def order(
        self,
        wanted: Wanted,
        ways: Mapping[str, Wanted],
        *,
        required: Sequence[str] = (),
        stir: bool = False,
        fit: Callable[[int], bool] = lambda total: True,
        place: bool = True,
        brands: Sequence[str] = (),
    ) -> int:
        """Draw a market for a request and order the one cheapest choice.

        Args:
            wanted: The request.
            ways: Requests as somebody reads them who overlooks a twist, by the twist.
            required: Twists that must change the order.
            stir: Whether the best offer is gone at the first attempt to order.
            fit: Whether a total is acceptable.
            place: Whether the order is placed; a wish may be declined instead.
            brands: Brands that most offers have.

        Returns:
            The total, in cents.

        Raises:
            Unfit: If no draw is valid.
        """
        kinds = list(dict.fromkeys(need.kind for need in wanted.needs))
        for _ in range(_DRAWS):
            for kind in kinds:
                fits = [need.fit for need in wanted.needs if need.kind == kind and need.fit]
                self.restock(kind, fits, brands)
            total = self._tried(wanted, ways, required, stir, fit, place)
            if total is not None:
                self._stocked.update(kinds)
                return total
        raise Unfit("no market makes a valid request")

    def _tried(
        self,
        wanted: Wanted,
        ways: Mapping[str, Wanted],
        required: Sequence[str],
        stir: bool,
        fit: Callable[[int], bool],
        place: bool,
    ) -> int | None:
        kinds = [need.kind for need in wanted.needs]
        offers = self.offers(kinds)
        before = self._sure(offers, wanted)
        if before is None:
            return None
        best, found, moved = before, offers, None
        if stir:
            moved = self._moved(offers, before[1])
            found = [moved if offer["id"] == moved["id"] else offer for offer in offers]
            after = self._sure(found, wanted)
            if after is None or after[1] == before[1]:
                return None
            best = after
        wrong = self._overlooked(found, wanted, best, ways)
        if not set(required) <= set(wrong) or len(wrong) < self.fewest or not fit(best[0]):
            return None
        self._note(offers, found, wanted, before[1] if stir else (), moved)
        if place:
            if moved is not None:
                self.requests[-1]["stir"] = [["offers", moved["id"], moved]]
                self.act("place_order", lines=_lines(before[1]))
            self.act("place_order", lines=_lines(best[1]))
        for name, choice in wrong.items():
            self.twists.append(name)
            if place:
                first = [("place_order", {"lines": _lines(choice)})] * (2 if stir else 1)
                self.wrong(name, first)
        return best[0]

    def _sure(self, offers: list[dict[str, Any]], wanted: Wanted) -> tuple[int, PackChoice] | None:
        """Return the cheapest order if it is clearly that and can be found by looking."""
        try:
            best = cheapest(offers, self.sellers, wanted)
        except ValueError:
            return None
        if not best or (len(best) > 1 and best[1][0] - best[0][0] < _MARGIN):
            return None
        if cheapest_again(offers, self.sellers, wanted) != best[0][0]:
            return None
        waits = wanted.day_cents > 0
        total, choice = best[0]
        if waits:
            by_id = {offer["id"]: offer for offer in offers}
            total = lines_total([(by_id[o], n) for o, n in choice], self.sellers)
        return total, choice

    def _moved(self, offers: list[dict[str, Any]], choice: PackChoice) -> dict[str, Any]:
        """Return an offer of the order as it is when the order is placed: sold out or dearer."""
        chosen, packs = choice[self.span(0, len(choice) - 1)]
        offer = next(offer for offer in offers if offer["id"] == chosen)
        if self.chance(0.5):
            return {**offer, "stock": packs - 1}
        return {**offer, "cents": offer["cents"] * 8 // 5}

    def _overlooked(
        self,
        offers: list[dict[str, Any]],
        wanted: Wanted,
        best: tuple[int, PackChoice],
        ways: Mapping[str, Wanted],
    ) -> dict[str, PackChoice]:
        """Return the orders of those who overlook a twist, if these are not the right one."""
        wrong: dict[str, PackChoice] = {}
        for name, way in {**ways, "reviews": replace(wanted, reviews=99)}.items():
            found = cheapest(offers, self.sellers, way)
            if found and found[0][1] != best[1]:
                wrong[name] = found[0][1]
        careful = [
            {**o, "reviews": [{**r, "verified": True} for r in o["reviews"]]} for o in offers
        ]
        found = cheapest(careful, self.sellers, replace(wanted, reviews=1))
        if found and found[0][1] != best[1]:
            wrong["every review believed"] = found[0][1]
        return wrong

    def _note(
        self,
        offers: list[dict[str, Any]],
        found: list[dict[str, Any]],
        wanted: Wanted,
        before: PackChoice,
        moved: Mapping[str, Any] | None,
    ) -> None:
        """Add the look-ups of the oracle.

        Raises:
            Unfit: If looking only at what the lists leave cheapest does not find the order.
        """
        self.look("list_sellers")
        for need in wanted.needs:
            self.look("list_offers", kind=need.kind)
        calls, choice = looked_up(offers, self.sellers, wanted)
        if moved is not None:
            if choice != before:
                raise Unfit("the first order is not found by looking")
            calls, choice = looked_up(found, self.sellers, wanted)
        for name, arguments in calls:
            self.look(name, **arguments)


def _lines(choice: PackChoice) -> list[str]:
    return [f"{offer} x {packs}" for offer, packs in choice]
