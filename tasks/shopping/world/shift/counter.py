"""The counter of one day: customers one after the other, tools that change records, and defects.

Tools check that a call is possible, not that it follows the policy. Some saves of the shop's system
go wrong, and between two customers it changes records that were as agreed (`defects`). Nothing
announces this, but everything that goes wrong can be seen on some page and set right. Parameters
come from the task; all that changes is in `save()`. `pages.py` has the tools that only read.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from hexathlon.tasks.catalogue import Catalogue
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.shift.lapses import LAPSES, lapse
from hexathlon.tasks.shopping.world.shift.linked import follow, kept_points
from hexathlon.tasks.shopping.world.shift.pages import CounterPages
from hexathlon.tasks.shopping.world.shift.policy import Memo, clock
from hexathlon.tasks.shopping.world.shift.views import memos_text
from hexathlon.tasks.shopping.world.tables import Record

__all__ = ["CounterState", "ShiftCounter"]


class CounterState(NamedTuple):
    """Everything that changes during a day, except records."""

    case: int = 0
    """Position of the customer at the counter."""

    fired: tuple[int, ...] = ()
    """Defects that have happened once."""

    spoken: bool = False
    """Whether the customer has said what they say when the case is about to be closed."""

    errors: tuple[str, ...] = ()
    """Steps in which the customer has erred once."""

    declines: tuple[tuple[str, str, str], ...] = ()
    """Record, reason and rule of each refusal in this case."""

    closes: tuple[Mapping[str, Any], ...] = ()
    """Changes, refusals and net amount of each closed case."""

    look: str = "stall"
    """Name of the look of the pages."""


class ShiftCounter(CounterPages):
    """One day at the counter.

    Args:
        params: `policy`, `memos`, `cases`, `records` ([table, key, record]), `defects`, `language`.
        catalogue: The goods that orders refer to.
        look: Name of the look of all pages.
    """

    def __init__(
        self, params: Mapping[str, Any], catalogue: Catalogue, look: str = "stall"
    ) -> None:
        super().__init__(params, catalogue)
        self.memos = tuple(Memo(**memo) for memo in params["memos"])
        self.cases: Sequence[Mapping[str, Any]] = params["cases"]
        self._defects: Sequence[Mapping[str, Any]] = params["defects"]
        self.state = CounterState(look=look)
        self._begin()

    # Course of the day ---------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether the last case has been closed."""
        return bool(self.state.case >= len(self.cases))

    @property
    def now(self) -> int:
        """Time of day in minutes."""
        return int(self.cases[min(self.state.case, len(self.cases) - 1)]["at"])

    def heading(self) -> str:
        """Return the time and what the customer at the counter says first."""
        case = self.cases[self.state.case]
        number = f"{self.state.case + 1}/{len(self.cases)}"
        return self._say(
            f"[{clock(self.now)}, customer {number}] {case['says']}",
            f"[{clock(self.now)}，第{number}位顾客] {case['says']}",
        )

    def do_read_memos(self) -> str:
        """Read the memos so far."""
        return memos_text([memo for memo in self.memos if memo.at <= self.now], self._language)

    def do_finish_case(self, net_cents: int) -> str:
        """Close the case, unless the customer has something more to say."""
        case = self.cases[self.state.case]
        if case["last"] and not self.state.spoken:
            self.state = self.state._replace(spoken=True)
            return str(case["last"])
        before = self._recorded()
        changes = {
            key: record
            for key, record in self.tables.difference().items()
            if key not in before or before[key] != record
        }
        for key in before:
            table, _, name = key.partition("/")
            if key not in changes and self.tables.get(table, name) != before[key]:
                changes[key] = self.tables.get(table, name)
        entry = {
            "changes": changes,
            "declines": {record: [reason, rule] for record, reason, rule in self.state.declines},
            "net_cents": int(net_cents),
        }
        self.state = CounterState(
            case=self.state.case + 1,
            fired=self.state.fired,
            closes=(*self.state.closes, entry),
            look=self.state.look,
        )
        done = self._say("The case is closed.", "已结案。")
        if self.closed:
            return done + self._say(" That was the last one.", "这是最后一位。")
        self._begin()
        return f"{done}\n{self.heading()}"

    def _recorded(self) -> dict[str, Any]:
        known: dict[str, Any] = {}
        for entry in self.state.closes:
            known.update(entry["changes"])
        return known

    def _begin(self) -> None:
        """Apply what others have changed before this customer."""
        for table, key, fields in self.cases[self.state.case]["events"]:
            record = self.tables.get(table, key)
            self.tables.put(table, key, {**(record or {}), **fields})
        for defect in self._defects:
            if defect["kind"] in LAPSES and defect["case"] == self.state.case:
                if defect["kind"] == "sync":
                    self._synchronised(defect["order"], defect["field"])
                else:
                    lapse(self.tables, defect, self._with_another_offer)

    def _synchronised(self, order: str, field: str) -> None:
        """Give a field of an order the value that it had in the morning."""
        morning = self.tables.base.tables["orders"][order]
        self._put(self._record("orders", order), {field: morning[field]})

    def _with_another_offer(self, basket: Record) -> Record:
        chosen = list(basket["offers"])
        taken = self._substitute(chosen)
        self._hold(chosen[0], -1)
        self._hold(taken, 1)
        return {**basket, "offers": sorted([taken, *chosen[1:]])}

    # The customer --------------------------------------------------------------------------------

    def do_ask_customer(self, topic: str) -> str:
        """Ask about one subject."""
        answers: Mapping[str, str] = self.cases[self.state.case]["answers"]
        return answers.get(topic) or self._say(
            "I have nothing to say about that.", "这个我没有什么要说的。"
        )

    def do_guide_customer(self, step: str, order: str, line: str = "") -> str:
        """Let the customer act."""
        record = self._record("orders", order)
        case = self.cases[self.state.case]
        if record["customer"] not in case["accounts"]:
            return self._say("That is not my order.", "那不是我的订单。")
        slip = case["slips"].get(step)
        erring = slip is not None and step not in self.state.errors
        if step == "photo":
            number = self._line(record, line)["line"]
            shown = slip if erring else number
            fields: dict[str, Any] = {"photo": shown}
        else:
            fields = {} if erring else {"confirmed": True}
        if erring:
            self.state = self.state._replace(errors=(*self.state.errors, step))
        if fields:
            self.tables.put("orders", record["id"], {**record, **fields})
        return self._say("I have done it.", "我弄好了。")

    # Writing -------------------------------------------------------------------------------------

    def do_cancel_lines(self, order: str, lines: list[str]) -> str:
        """Cancel lines."""
        record = self._in_status(order, ("pending",))
        return self._lines_become(record, lines, "cancelled", ("ordered",))

    def do_return_lines(self, order: str, lines: list[str], damaged: bool = False) -> str:
        """Take lines back."""
        record = self._in_status(order, ("delivered",))
        state = "returned damaged" if damaged else "returned"
        return self._lines_become(record, lines, state, ("ordered", "exchanged"))

    def do_restore_lines(self, order: str, lines: list[str]) -> str:
        """Put lines back as ordered."""
        record = self._in_status(order, ("pending", "packed", "delivered"))
        states = ("cancelled", "returned", "returned damaged", "exchanged")
        return self._lines_become(record, lines, "ordered", states)

    def do_exchange_line(self, order: str, line: str, variant: str) -> str:
        """Exchange a delivered line."""
        record = self._in_status(order, ("delivered",))
        old = self._line(record, line)
        product = self._catalogue.product(old["product"])
        new = next((v for v in product.variants if v.id == variant.strip().upper()), None)
        if new is None or new.id == old["variant"]:
            raise DeskProblem(
                self._say(
                    f"{variant[:60]!r} is no other variant of {product.id}",
                    f"{variant[:60]!r} 不是 {product.id} 的其他款式",
                )
            )
        if old["state"] not in ("ordered", "exchanged"):
            raise self._wrong_state(record, old)
        self._release(old)
        self._reserve(new.id, 1)
        was = old.get("was", old["variant"])
        changed = {**old, "state": "exchanged", "variant": new.id, "was": was}
        return self._write(record, lines=_replaced(record, [changed]))

    def do_change_address(self, order: str, street: str, city: str, postcode: str) -> str:
        """Change an address."""
        record = self._in_status(order, ("pending",))
        place = {"street": _tidy(street), "city": _tidy(city), "postcode": _tidy(postcode)}
        if self._fires("unkept address", record["id"]):
            return self._saved(record)
        fields: dict[str, Any] = {"address": place, "confirmed": False}
        if self._defect("reset", record["id"]) is not None:
            fields |= {"carrier": "post", "note": ""}
        return self._write(record, **fields)

    def do_set_carrier(self, order: str, carrier: str) -> str:
        """Set the carrier."""
        return self._write(self._in_status(order, ("pending",)), carrier=carrier)

    def do_set_note(self, order: str, note: str) -> str:
        """Set the gift note."""
        record = self._in_status(order, ("pending",))
        if self._fires("unkept note", record["id"]):
            return self._saved(record)
        return self._write(record, note=_tidy(note))

    def do_set_coupons(self, order: str, codes: list[str]) -> str:
        """Set the coupons that count."""
        record = self._record("orders", order)
        known = record["coupon"]["code"] if record["coupon"] else ""
        if any(code.strip().upper() != known for code in codes):
            raise DeskProblem(
                self._say(
                    f"the order's own coupon is {known or 'none'}",
                    f"该订单自己的优惠券：{known or '无'}",
                )
            )
        return self._write(record, coupons=[known for _ in codes])

    def do_set_refund(self, order: str, refund_to: str, cents: int) -> str:
        """Set the refund of an order to one method."""
        record = self._record("orders", order)
        known = list(self._record("customers", record["customer"])["payments"])
        method = refund_to.strip()
        if method not in known:
            names = ", ".join(known)
            raise DeskProblem(
                self._say(f"the payment methods are {names}", f"可用的支付方式：{names}")
            )
        if self._fires("route", record["id"]):
            method = next(name for name in known if name != method)
        refunds = {**record["refunds"], method: int(cents)}
        return self._write(record, refunds={name: c for name, c in refunds.items() if c})

    def do_pay_goodwill(self, order: str, cents: int) -> str:
        """Set the goodwill of an order."""
        record = self._record("orders", order)
        former = self.tables.get("goodwill", record["id"])
        paid = {"customer": record["customer"], "cents": int(cents)}
        if former is None and not cents:
            return self._saved(record)
        if self._fires("goodwill", record["id"]):
            paid["cents"] *= 2
        self.tables.put("goodwill", record["id"], paid if cents else None)
        return self._saved(record)

    def do_place_order(self, customer: str, offers: list[str], total_cents: int) -> str:
        """Order a basket."""
        record = self._record("customers", customer)
        chosen = [self._record("offers", offer)["id"] for offer in offers]
        if len(set(chosen)) != len(chosen) or not chosen:
            raise DeskProblem(self._say("name each offer once", "每个报价写一次"))
        if self._fires("substituted", record["id"]):
            chosen[0] = self._substitute(chosen)
        former = self.tables.get("baskets", record["id"])
        for offer in former["offers"] if former else ():
            self._hold(offer, -1)
        for offer in chosen:
            self._hold(offer, 1)
        basket = {"offers": sorted(chosen), "total_cents": int(total_cents)}
        self.tables.put("baskets", record["id"], basket)
        return self._say("Saved.", "已保存。")

    def do_set_appointment(self, order: str, day: int, part: str) -> str:
        """Set the appointment for a delivery."""
        record = self._in_status(order, ("pending",))
        slot = {"day": int(day), "part": part}
        astray = self._fired("slot elsewhere", record["id"])
        for key in (astray["other"],) if astray else (record["id"],):
            self.tables.put("parcels", key, {**self._record("parcels", key), "slot": slot})
        return self._saved(record)

    def do_print_label(self, order: str) -> str:
        """Print a parcel's label with the address of its order."""
        record = self._in_status(order, ("pending",))
        parcel = self._record("parcels", record["id"])
        self.tables.put("parcels", record["id"], {**parcel, "label": dict(record["address"])})
        return self._saved(record)

    def do_set_warranty(self, order: str, line: str, variant: str = "") -> str:
        """Register a variant for a line, or end its warranty."""
        record = self._in_status(order, ("delivered",))
        known = self._line(record, line)
        named = variant.strip().upper()
        product = self._catalogue.product(known["product"])
        if named and named not in {v.id for v in product.variants}:
            raise self._missing(variant)
        warranty = self._record("warranties", record["id"])
        lines = {**warranty["lines"], known["line"]: named}
        self.tables.put("warranties", record["id"], {**warranty, "lines": lines})
        return self._saved(record)

    def do_set_points(self, customer: str, points: int) -> str:
        """Set an account's points."""
        record = self._record("customers", customer)
        self.tables.put("customers", record["id"], {**record, "points": int(points)})
        return self._saved(record)

    def do_set_card(self, customer: str, cents: int) -> str:
        """Set the balance of an account's gift card."""
        record = self._record("customers", customer)
        card = self._record("cards", record["id"])
        self.tables.put("cards", record["id"], {**card, "balance_cents": int(cents)})
        return self._saved(record)

    def do_decline(self, reason: str, record: str, rule: str) -> str:
        """Decline one part of a request."""
        name = record.strip().upper()
        kept = tuple(entry for entry in self.state.declines if entry[0] != name)
        if reason != "none":
            kept = (*kept, (name, reason, rule.strip().upper()))
        self.state = self.state._replace(declines=kept)
        return self._say("Noted.", "已记录。")

    # Parts ---------------------------------------------------------------------------------------

    def _substitute(self, chosen: Sequence[str]) -> str:
        """Return another offer of the first one's kind."""
        kind = self._record("offers", chosen[0])["kind"]
        for key in self.tables.keys("offers"):
            if key not in chosen and self._record("offers", key)["kind"] == kind:
                return key
        return chosen[0]

    def _hold(self, offer: str, units: int) -> None:
        record = self._record("offers", offer)
        self.tables.put("offers", offer, {**record, "reserved": record["reserved"] + units})

    def _reserve(self, variant: str, units: int) -> None:
        stock = self._stock(variant)
        self.tables.put("stock", variant, {**stock, "reserved": stock["reserved"] + units})

    def _release(self, line: Record) -> None:
        """Free the unit that is held for an exchanged line."""
        if "was" in line:
            self._reserve(line["variant"], -1)

    def _lines_become(
        self, record: Record, lines: list[str], state: str, allowed: tuple[str, ...]
    ) -> str:
        chosen = [self._line(record, line) for line in lines]
        if not chosen or len({line["line"] for line in chosen}) != len(chosen):
            raise DeskProblem(self._say("name each line once", "每行写一次"))
        for line in chosen:
            if line["state"] not in allowed:
                raise self._wrong_state(record, line)
        if state == "ordered":
            for line in chosen:
                self._release(line)
        changed = [_with_state(line, state) for line in chosen]
        linked = self._defect("linked", record["id"])
        if linked is not None and state != "ordered":
            other = self._line(record, linked["other"])
            numbers = {line["line"] for line in chosen}
            if linked["line"] in numbers and other["state"] == "ordered":
                changed.append(_with_state(other, state))
        fields: dict[str, Any] = {"lines": _replaced(record, changed)}
        if state != "ordered" and self._fires("coupon twice", record["id"]):
            fields["coupons"] = [*record["coupons"], *record["coupons"]]
        return self._write(record, **fields)

    def _write(self, order: Record, **fields: Any) -> str:
        self._put(order, fields)
        if kept_points({**order, **fields}) == kept_points(order):
            self._points_undone(order)
        undone = self._defect("undone", order["id"])
        if undone is not None:
            other = self._record("orders", undone["other"])
            if other["address"] != undone["address"] and self._fires("undone", order["id"]):
                old = {**other, "address": undone["address"], "confirmed": True}
                self.tables.put("orders", other["id"], old)
        return self._saved(order)

    def _put(self, order: Record, fields: Mapping[str, Any]) -> None:
        """Save an order with what belongs to it."""
        new = {**order, **fields}
        self.tables.put("orders", order["id"], new)
        follow(self.tables, order, new, lambda kind: self._fired(kind, order["id"]))

    def _points_undone(self, order: Record) -> None:
        """Give an account the points of the morning again, if that defect happens now."""
        account = self._record("customers", order["customer"])
        morning = self.tables.base.tables["customers"][account["id"]]["points"]
        if account["points"] != morning and self._fires("points undone", order["id"]):
            self.tables.put("customers", account["id"], {**account, "points": morning})

    def _defect(self, kind: str, order: str) -> Mapping[str, Any] | None:
        return next((d for d in self._defects if d["kind"] == kind and d["order"] == order), None)

    def _fires(self, kind: str, order: str) -> bool:
        """Whether a defect that happens once happens now."""
        return self._fired(kind, order) is not None

    def _fired(self, kind: str, order: str) -> Mapping[str, Any] | None:
        """Return a defect that happens once if it happens now."""
        for number, defect in enumerate(self._defects):
            if (defect["kind"], defect["order"]) == (kind, order):
                if number not in self.state.fired:
                    self.state = self.state._replace(fired=(*self.state.fired, number))
                    return defect
        return None

    def _saved(self, order: Record) -> str:
        return self._say(f"Saved: {order['id']}.", f"已保存：{order['id']}。")

    def _in_status(self, order: str, allowed: tuple[str, ...]) -> Record:
        record = self._record("orders", order)
        # The system lets packed orders be changed; the policy does not.
        status = "pending" if record["status"] == "packed" else record["status"]
        if status not in allowed:
            raise DeskProblem(
                self._say(
                    f"{record['id']} is {record['status']}, not {allowed[0]}",
                    f"{record['id']} 的状态是 {record['status']}，不是 {allowed[0]}",
                )
            )
        return record

    def _line(self, order: Record, line: str) -> Record:
        for known in order["lines"]:
            if line.strip() in (known["line"], f"{order['id']}/{known['line']}"):
                return cast("Record", known)
        numbers = ", ".join(known["line"] for known in order["lines"])
        raise DeskProblem(
            self._say(
                f"{order['id']} has no line {line[:40]!r}; its lines are {numbers}",
                f"{order['id']} 没有行 {line[:40]!r}；该订单的行号：{numbers}",
            )
        )

    def _wrong_state(self, order: Record, line: Record) -> DeskProblem:
        name = f"{order['id']}/{line['line']}"
        return DeskProblem(self._say(f"{name} is {line['state']}", f"{name} 已是 {line['state']}"))


def _with_state(line: Record, state: str) -> dict[str, Any]:
    changed = {**line, "state": state}
    if state == "ordered" and "was" in line:
        changed["variant"] = changed.pop("was")
    return changed


def _replaced(order: Record, changed: Sequence[Record]) -> list[Record]:
    by_number = {line["line"]: line for line in changed}
    return [by_number.get(line["line"], line) for line in order["lines"]]


def _tidy(text: str) -> str:
    return " ".join(text.split())
