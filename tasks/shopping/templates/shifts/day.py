"""A day under construction: records, memos, customers, and the reference actions so far.

The day is composed in order. `act` carries out the reference actions on a counter without defects,
so that every case starts from what the earlier ones and other people have left.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.shifts.people import PeopleDraw
from hexathlon.tasks.shopping.world.facts import category_of
from hexathlon.tasks.shopping.world.shift.amounts import due_refund, keeps_coupon, refund_by_lines
from hexathlon.tasks.shopping.world.shift.counter import ShiftCounter
from hexathlon.tasks.shopping.world.shift.lapses import LAPSES
from hexathlon.tasks.shopping.world.shift.linked import LINKED, linked_due
from hexathlon.tasks.shopping.world.shift.policy import (
    AUTHORITY,
    PAGES,
    Memo,
    ShiftPolicy,
    in_force,
)
from hexathlon.tasks.shopping.world.shift.rulings import Decline, Facts, ruling
from hexathlon.tasks.shopping.world.tables import Record

__all__ = ["HUMAN_TRAPS", "TRAIN_TRAPS", "TRAPS", "Rejected", "CounterDay"]

HUMAN_TRAPS = ("reserved", "packed", "history", "account", "condition")
"""Kinds of gaps that lie in the records and in what customers do not say."""

TRAPS = (
    "unkept address", "unkept note", "reset", "route", "linked", "coupon twice", "undone",
    "substituted", "goodwill", "points", "points undone", "namesake", "card", "label", "warranty",
    "slot elsewhere", *LAPSES, *HUMAN_TRAPS,
)  # fmt: skip
"""Kinds of gaps that nothing announces; all but the last five are defects of the shop's system."""

_HELD_OUT = ("linked", "coupon twice", "undone", "sync", "points undone", "namesake", "card",
             "slot elsewhere", "relabelled", "card reset")  # fmt: skip

TRAIN_TRAPS = tuple(kind for kind in TRAPS if kind not in _HELD_OUT)
"""Kinds that occur in the train split; a third of all do not."""


class Rejected(Exception):
    """A draw does not make a valid day; another attempt may."""


class CounterDay:
    """A day under construction."""

    def __init__(self, scene: ShoppingScene) -> None:
        self.scene, self.rng = scene, scene.rng
        self.say, self.pick, self.span = scene.say, scene.pick, scene.span
        self.policy = _policy(scene)
        self.memos: list[Memo] = []
        self.records: list[tuple[str, str, Record]] = []
        self.cases: list[dict[str, Any]] = []
        self.plans: list[dict[str, Any]] = []
        self.offers: list[dict[str, Any]] = []
        """Possible defects of the system, from which `choose_defects` draws."""
        self.traps: set[str] = set()
        """Kinds of gaps that lie in the records and in what customers say."""
        self.persons: dict[str, str] = {}
        self.mind: dict[str, dict[str, Any]] = {}
        """What is known of the customers who may come back, by role."""
        kinds = TRAIN_TRAPS if scene.split == "train" else TRAPS
        human = [kind for kind in kinds if kind in HUMAN_TRAPS]
        self.kinds = frozenset(
            human[i] for i in self.rng.permutation(len(human)).tolist()[: self.span(2, 3)]
        )
        """Kinds of gaps in the records that this day may have."""
        self.counter = ShiftCounter(
            {
                "language": scene.language,
                "policy": self.policy.as_json(),
                "memos": [],
                "cases": [{"events": [], "at": 0}],
                "records": [],
                "defects": [],
            },
            scene.catalogue,
        )
        self.counter.cases = self.cases
        self.people = PeopleDraw(scene, self.policy.free_cents)
        self.shelf: Any = None
        """What the partner sellers' offers are for, once they are drawn."""
        self.late: dict[str, int] = {}
        """Refunds for lateness by order."""

    # Records -------------------------------------------------------------------------------------

    def add(self, table: str, key: str, record: dict[str, Any]) -> dict[str, Any]:
        """Add a record to those of the morning."""
        self.records.append((table, key, record))
        self.counter.tables.base.tables.setdefault(table, {})[key] = record  # type: ignore[attr-defined]
        return record

    def drop(self, *tables: str) -> None:
        """Remove tables from the records of the morning, before anyone has used them."""
        self.records = [record for record in self.records if record[0] not in tables]
        for table in tables:
            self.counter.tables.base.tables.pop(table, None)  # type: ignore[attr-defined]

    def order(self, order_id: str) -> Record:
        """Return an order as it should be now."""
        record = self.counter.tables.get("orders", order_id)
        assert record is not None
        return record

    def kind(self, line: Record) -> str:
        """Name a line's goods."""
        product = self.scene.catalogue.product(line["product"])
        return category_of(product.category).kind(product.kind).text[self.scene.language]

    def the(self, line: Record) -> str:
        """Name a line's goods with an article."""
        return self.say(f"the {self.kind(line)}", self.kind(line))

    def category(self, line: Record) -> str:
        """Return the category of a line's goods."""
        return self.scene.catalogue.product(line["product"]).category

    # Cases ---------------------------------------------------------------------------------------

    def begin(self, accounts: Sequence[str]) -> dict[str, Any]:
        """Begin a case; the first is at nine, and about 40 minutes lie between two."""
        before = self.cases[-1]["at"] if self.cases else 9 * 60 - 40
        case: dict[str, Any] = {
            "at": before + self.span(30, 50, 5), "says": "", "answers": {}, "last": "",
            "slips": {}, "accounts": list(accounts), "events": [],
        }  # fmt: skip
        self.cases.append(case)
        self.plans.append({"looks": [], "actions": [], "wrong": {}})
        return case

    @property
    def case(self) -> dict[str, Any]:
        """The case under construction."""
        return self.cases[-1]

    @property
    def plan(self) -> dict[str, Any]:
        """The reference for the case under construction."""
        return self.plans[-1]

    @property
    def now(self) -> int:
        """Time of the case."""
        return int(self.case["at"])

    @property
    def past(self) -> int:
        """Time of the former case."""
        return int(self.cases[-2]["at"]) if len(self.cases) > 1 else 8 * 60

    def event(self, table: str, key: str, **fields: Any) -> None:
        """Let others change a record before this case."""
        self.case["events"].append([table, key, fields])
        record = self.counter.tables.get(table, key)
        self.counter.tables.put(table, key, {**(record or {}), **fields})

    def memo(self, kind: str, *, state: str = "live", value: int = 0, scope: str = "") -> Memo:
        """Add a memo that changes no earlier case.

        Args:
            kind: Its kind.
            state: `live`, `future` (it applies after this case), `ended`, or `first`: it applies,
                and appeared before all others of the day.
            value: Its number.
            scope: Category of goods.
        """
        gap = -(-(self.past + 5) // 5) * 5
        start = self.now + 5 if state == "future" else self.span(gap, self.now - 10, 5)
        end = self.now + self.span(30, 120, 5)
        if state == "ended":
            start = gap  # no memo is meant for a few minutes
            end = self.span(min(start + 20, self.now), self.now, 5)
        early = 8 * 60 - self.span(5, 60, 5)
        at = early if state == "first" else self.span(8 * 60, min(start, self.now - 5), 5)
        return self._posted(Memo("", at, AUTHORITY, kind, value, scope, start, end))

    def chat(self, value: int) -> None:
        """Add a message that does not change the policy."""
        author = self.pick(("warehouse", "shop floor"))
        self._posted(Memo("", self.span(self.past + 5, self.now - 5, 5), author, "chat", value))

    def distract(self, scope: str, since: int, *, allowed: bool, deciding: bool) -> None:
        """Add two memos on the return window that do not count, and would change the outcome.

        Args:
            scope: Category of the goods in question.
            since: Days since delivery.
            allowed: Whether the goods can be returned.
            deciding: Whether another memo decides, so that an earlier one may contradict it.
        """
        value = max(since - self.policy.plus_days - self.span(1, 4), 1)
        if not allowed:
            value = since + self.span(1, 6)
        ways = ["future", "ended", "other", *([] if allowed else ["chat"])]
        ways += ["first", "first"] if deciding else []
        drawn = {ways[i]: None for i in self.rng.permutation(len(ways)).tolist()}
        for way in list(drawn)[:2]:
            if way == "chat":
                self.chat(value)
            elif way == "other":
                self.memo("window", value=value, scope=self._elsewhere(scope))
            else:
                self.memo("window", state=way, value=value, scope=scope)

    def _elsewhere(self, scope: str) -> str:
        """Draw a category of which no order of the day has goods."""
        catalogue, tables = self.scene.catalogue, self.counter.tables
        taken = {
            self.category(line)
            for key in tables.keys("orders")
            for line in self.order(key)["lines"]
        }
        for _ in range(50):
            category = catalogue.product_at(int(self.rng.integers(catalogue.size))).category
            if category not in taken and category != scope:
                return category
        raise Rejected("every category of goods occurs on the day")

    def withdrawal(self, memo: Memo) -> None:
        """Withdraw a memo between the former case and this one."""
        at = max(memo.at + 1, self.now - 5)
        self._posted(Memo("", at, AUTHORITY, "withdraw", withdraws=memo.id))

    def _posted(self, memo: Memo) -> Memo:
        numbers = [n for n in range(10, 100) if f"M{n}" not in {m.id for m in self.memos}]
        at = memo.at
        while any(at == other.at for other in self.memos):
            at -= 1  # so that it is clear which one is the latest
        named = replace(memo, id=f"M{self.pick(numbers)}", at=at)
        self.memos.append(named)
        return named

    def look(self, name: str, /, **arguments: Any) -> None:
        """Note a look-up of the oracle."""
        self.plan["looks"].append([name, arguments])

    def act(self, name: str, /, **arguments: Any) -> None:
        """Carry out a reference action."""
        self.counter.call(name, arguments)
        self.plan["actions"].append([name, arguments])

    def wrong(self, label: str, replaced: int, *actions: list[Any]) -> None:
        """Add a near miss: this case with the reference action at a position replaced."""
        self.plan["wrong"][label] = [replaced, list(actions)]

    # Rulings -------------------------------------------------------------------------------------

    def facts(self) -> Facts:
        """Return what rulings depend on now."""
        tables = self.counter.tables
        products = {
            line["product"] for key in tables.keys("orders") for line in self.order(key)["lines"]
        }
        catalogue = self.scene.catalogue
        return Facts(
            self.policy, self.memos, self.now, self.persons,
            {key: catalogue.product(key).category for key in products},
            {key: tables.get("stock", key) or {} for key in tables.keys("stock")},
            {key: tables.get("goodwill", key) or {} for key in tables.keys("goodwill")},
        )  # fmt: skip

    def ruled(self, what: str, order: Record, **request: Any) -> Decline | None:
        """Rule on a request of the customer at the counter.

        Raises:
            Rejected: If several memos rule it out, so that none is the one to cite.
        """
        asked, asker, facts = {"do": what, **request}, self.case["accounts"][0], self.facts()
        found = ruling(asked, order, asker, facts)
        if found and found.rule.startswith("R"):
            if ruling(asked, order, asker, facts._replace(memos=())) is None:
                raise Rejected("several memos rule a request out")
        return found

    def readings(self) -> Iterator[tuple[str, Facts]]:
        """Yield what rulings depend on for clerks who misread one memo, with its name.

        They ignore a memo that counts, or apply one that does not.
        """
        facts = self.facts()
        live = {memo.id for memo in in_force(self.memos, self.now)}
        for memo in self.memos:
            others = [other for other in self.memos if other.id != memo.id]
            if memo.at > self.now:
                continue
            if memo.id in live:
                yield f"memo {memo.id} ignored", facts._replace(memos=others)
            else:
                kind = "window" if memo.kind == "chat" else memo.kind
                applied = replace(memo, id=f"{memo.id}*", at=self.now, author=AUTHORITY, kind=kind,
                                  start=0, end=24 * 60)  # fmt: skip
                label = f"memo {memo.id} applied all the same"
                yield label, facts._replace(memos=[*others, applied])

    def misread(
        self, refusal: Decline | None, order: Record, place: int, instead: list[Any],
        what: str, **request: Any,
    ) -> None:  # fmt: skip
        """Add the near misses of clerks who misread a memo and come to another ruling.

        Args:
            refusal: The right ruling.
            order: The order.
            place: Position of the reference action that follows from it.
            instead: The call that follows from permission.
            what: The request, as for `ruled`.
            request: Its fields.
        """
        for label, facts in self.readings():
            other = ruling({"do": what, **request}, order, self.case["accounts"][0], facts)
            if (other is None) == (refusal is None):
                continue
            self.wrong(label, place, instead if other is None else ["decline", other._asdict()])

    def decline(self, refusal: Decline) -> None:
        """Decline."""
        self.act("decline", reason=refusal.reason, record=refusal.record, rule=refusal.rule)

    def settle(self, order_id: str, method: str, late: int = 0) -> None:
        """Set coupons and refund as the lines of an order now require."""
        order = self.order(order_id)
        if order["coupon"]:
            codes = [order["coupon"]["code"]] if keeps_coupon(order) else []
            if codes != order["coupons"]:
                self.act("set_coupons", order=order_id, codes=codes)
        owed = self.late[order_id] = self.late.get(order_id, 0) + late
        due = due_refund(order, self.policy.free_cents, owed)
        if due != refund_by_lines(order, self.policy.free_cents) + owed:
            raise Rejected("two derivations of a refund disagree")
        if due < 0:
            raise Rejected("a refund would be negative")
        others = sum(cents for name, cents in order["refunds"].items() if name != method)
        if due - others < 0:
            raise Rejected("a refund would have to be taken back from another method")
        if due - others != order["refunds"].get(method, 0):
            self.act("set_refund", order=order_id, refund_to=method, cents=due - others)

    def finish(self, before: int) -> None:
        """Close the case; `before` is what the customer had been refunded when it began."""
        net = self.booked() - before
        if self.case["last"] and not self.counter.state.spoken:
            raise Rejected("the customer's last words were never heard")
        self._linked_agree()
        self.act("finish_case", net_cents=net)

    def _linked_agree(self) -> None:
        """Compare what belongs to the customer's orders with a second derivation.

        Raises:
            Rejected: If they differ.
        """
        for account in self.case["accounts"]:
            for key, due in linked_due(self.counter.tables, account).items():
                table, _, name = key.partition("/")
                if (self.counter.tables.get(table, name) or {})[LINKED[table]] != due:
                    raise Rejected("two derivations of a linked record disagree")

    def early_finish(self, before: int) -> None:
        """Try to close the case, upon which the customer speaks again."""
        self.act("finish_case", net_cents=self.booked() - before)

    def booked(self) -> int:
        """Return all refunds and goodwill of the day's accounts."""
        tables = self.counter.tables
        refunds = sum(sum(self.order(key)["refunds"].values()) for key in tables.keys("orders"))
        paid = (tables.get("goodwill", key) for key in tables.keys("goodwill"))
        return int(refunds + sum(record["cents"] for record in paid if record))


def _policy(scene: ShoppingScene) -> ShiftPolicy:
    rng = scene.rng
    pages = [list(PAGES)[i] for i in rng.permutation(len(PAGES)).tolist()]
    order = [PAGES[page][i] for page in pages for i in rng.permutation(len(PAGES[page])).tolist()]
    return ShiftPolicy(
        return_days=int(rng.choice([14, 21, 30])),
        plus_days=int(rng.choice([5, 7, 10])),
        cash_days=int(rng.choice([6, 8, 10])),
        late_days=int(rng.choice([2, 3, 4])),
        free_cents=int(rng.choice([20000, 25000, 30000])),
        goodwill_cents=int(rng.choice([500, 800, 1000])),
        budget_cents=int(rng.choice([8000, 10000, 12000])),
        order=tuple(order),
    )
