"""The desk of one conversation: what can be looked up, what the customer says, final bookings.

Tools check that a booking is possible, not that it follows the policy. Parameters come from the
task; all that changes is in `save()`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from hexathlon.tasks.shopping.world.record_desk import RecordDesk
from hexathlon.tasks.shopping.world.retail import DeskProblem
from hexathlon.tasks.shopping.world.tables import Record
from hexathlon.tasks.shopping.world.talk.talk_views import account_page, order_page, variants_page

__all__ = ["TalkDesk", "TalkState"]


class TalkState(NamedTuple):
    """Everything that changes in a conversation, except records."""

    said: int = 1
    """Number of matters that the customer has brought up."""

    spoken: bool = False
    """Whether the customer has said what they say when the case is about to be closed."""

    steps: tuple[str, ...] = ()
    """Lines for which the customer has been guided, once for each time."""

    declines: tuple[tuple[str, str, str], ...] = ()
    """Record, reason and rule of each refusal."""

    closes: tuple[Mapping[str, Any], ...] = ()
    look: str = "stall"


class TalkDesk(RecordDesk[TalkState]):
    """One conversation.

    Args:
        params: `records` ([table, key, record]), `matters`, `last`, `answers`, `policy` (texts),
            `notes`, `logs` by line, `today`, `hour`, `language`.
        look: Name of the look of all pages.
    """

    def __init__(self, params: Mapping[str, Any], look: str = "stall") -> None:
        super().__init__(params)
        self._params = params
        self.state = TalkState(look=look)

    @property
    def closed(self) -> bool:
        """Whether the case has been closed."""
        return bool(self.state.closes)

    def heading(self) -> str:
        """Return the day, the hour, and what the customer says first."""
        matters: Sequence[str] = self._params["matters"]
        hour = self._params["hour"]
        return self._say(
            f"[day {self._params['today']}, {hour}:00] {matters[0]}",
            f"[第{self._params['today']}天，{hour}点] {matters[0]}",
        )

    # Reading and talking -------------------------------------------------------------------------

    def do_read_policy(self) -> str:
        """Read the policy."""
        return "\n".join(self._params["policy"])

    def do_show_account(self) -> str:
        """Show the customer's account."""
        return account_page(self._account(), self.tables, self.state.look, self._language)

    def do_show_order(self, order: str) -> str:
        """Show an order."""
        return order_page(self._order(order), self.state.look, self._language)

    def do_show_parcel(self, order: str) -> str:
        """Show the scans of an order's parcel."""
        scans = self._order(order)["scans"]
        lines = [self._say(f"day {day}: {text}", f"第{day}天：{text}") for day, text in scans]
        return "\n".join(lines) or self._say("It has not been sent.", "尚未发出。")

    def do_show_notes(self) -> str:
        """Show notes of colleagues on the account."""
        return "\n".join(self._params["notes"]) or self._say("There are no notes.", "没有备注。")

    def do_show_variants(self, order: str, line: str) -> str:
        """Show the variants of a line's goods with price and stock of today."""
        found = self._line(self._order(order), line)
        return variants_page(found, self.tables, self.state.look, self._language)

    def do_show_log(self, order: str, line: str) -> str:
        """Show what a device has reported."""
        key = self._key(order, line)
        log = self._params["logs"].get(key)
        if log is None:
            raise DeskProblem(self._say("it is no connected device", "不是联网设备"))
        lines = list(log["before"])
        return "\n".join([*lines, *(log["after"] if self._reset(key) else ())])

    def _reset(self, key: str) -> bool:
        """Whether the customer has really reset a device; some only say so the first time."""
        needed = 1 if self._params["logs"][key]["honest"] else 2
        return self.state.steps.count(key) >= needed

    def do_ask_customer(self, topic: str, order: str = "") -> str:
        """Ask the customer about one topic."""
        answers = self._params["answers"]
        found = answers.get(f"{topic}/{order.strip().upper()}") or answers.get(topic)
        return str(found or self._say("I have nothing to say about that.", "这个没什么可说的。"))

    def do_anything_else(self) -> str:
        """Ask whether there is anything else."""
        matters: Sequence[str] = self._params["matters"]
        if self.state.said >= len(matters):
            return self._say("No, that is all.", "没有了，就这些。")
        self.state = self.state._replace(said=self.state.said + 1)
        return matters[self.state.said - 1]

    def do_guide_customer(self, order: str, line: str) -> str:
        """Explain to the customer how to reset a device and let them do it."""
        key = self._key(order, line)
        if key not in self._params["logs"]:
            raise DeskProblem(self._say("it is no connected device", "不是联网设备"))
        self.state = self.state._replace(steps=(*self.state.steps, key))
        if self._reset(key):
            record = self._order(order)
            resets = sorted({*record["resets"], key})
            self.tables.put("orders", record["id"], {**record, "resets": resets})
        return self._say("All right, I have reset it.", "好的，我已经重置了。")

    # Bookings ------------------------------------------------------------------------------------

    def do_refund_lines(
        self, order: str, lines: list[str], gift_cents: int, card_cents: int,
        damaged: list[str] | None = None,
    ) -> str:  # fmt: skip
        """Cancel or take back lines of an order."""
        record = self._order(order)
        numbers = sorted({self._line(record, line)["line"] for line in lines})
        broken = sorted({self._line(record, line)["line"] for line in damaged or ()})
        if not numbers or not set(broken) <= set(numbers):
            raise DeskProblem(self._say("name the lines", "请写明行号"))
        if record["status"] == "shipped":
            raise DeskProblem(self._say("the order is on its way", "订单在途中"))
        for number in numbers:
            self._untouched(record, number)
        gone = "cancelled" if record["status"] == "pending" else "returned"
        changed = [
            {**line, "state": f"{gone} damaged" if line["line"] in broken else gone}
            if line["line"] in numbers
            else line
            for line in record["lines"]
        ]
        return self._booked(record, gift_cents, card_cents, lines=changed)

    def do_exchange_line(self, order: str, line: str, variant: str, extra_cents: int) -> str:
        """Exchange a delivered line."""
        record = self._order(order)
        found = self._line(record, line)
        self._untouched(record, found["line"])
        if record["status"] != "delivered":
            raise DeskProblem(self._say("it has not been delivered", "尚未签收"))
        other = self.tables.get("variants", variant.strip().upper())
        if other is None or other["goods"] != found["goods"] or not other["stock"]:
            raise DeskProblem(
                self._say(f"{variant[:40]!r} cannot be had", f"{variant[:40]!r} 换不了")
            )
        changed = [
            {**each, "state": "exchanged", "new": other["id"], "extra": int(extra_cents)}
            if each["line"] == found["line"]
            else each
            for each in record["lines"]
        ]
        self.tables.put("orders", record["id"], {**record, "lines": changed})
        return self._say("Booked.", "已办理。")

    def do_match_price(self, order: str, line: str, gift_cents: int, card_cents: int) -> str:
        """Refund a difference in price of a line that is kept."""
        record = self._order(order)
        found = self._line(record, line)
        self._untouched(record, found["line"])
        changed = [
            {**each, "state": "matched"} if each["line"] == found["line"] else each
            for each in record["lines"]
        ]
        return self._booked(record, gift_cents, card_cents, lines=changed)

    def do_pay_goodwill(self, order: str, cents: int) -> str:
        """Pay goodwill for an order."""
        record = self._order(order)
        if record["goodwill"]:
            raise DeskProblem(self._say("goodwill has been paid", "已经付过补偿"))
        self.tables.put("orders", record["id"], {**record, "goodwill": int(cents)})
        return self._say("Booked.", "已办理。")

    def do_take_points(self, points: int) -> str:
        """Take points back."""
        account = self._account()
        if points > account["points"]:
            raise DeskProblem(
                self._say(f"there are only {account['points']}", f"只有{account['points']}分")
            )
        left = account["points"] - int(points)
        self.tables.put("accounts", account["id"], {**account, "points": left})
        return self._say("Booked.", "已办理。")

    def do_change_address(self, order: str, street: str, city: str, postcode: str) -> str:
        """Send an order elsewhere; the warehouse follows the postcode."""
        record = self._order(order)
        if record["status"] != "pending":
            raise DeskProblem(self._say("the order has been sent", "订单已发出"))
        place = {"street": street.strip(), "city": city.strip(), "postcode": postcode.strip()}
        self.tables.put("orders", record["id"], {**record, "address": place})
        return self._say("Booked.", "已办理。")

    def do_decline(self, reason: str, record: str, rule: str) -> str:
        """Decline a matter."""
        key = record.strip().upper()
        kept = tuple(entry for entry in self.state.declines if entry[0] != key)
        added = () if reason == "none" else ((key, reason, rule.strip().upper()),)
        self.state = self.state._replace(declines=(*kept, *added))
        return self._say("Noted.", "已记录。")

    def do_finish_case(self, net_cents: int) -> str:
        """Close the case, unless the customer has something more to say."""
        last = self._params["last"]
        if last and not self.state.spoken:
            self.state = self.state._replace(spoken=True)
            return str(last)
        entry = {
            "changes": self.tables.difference(),
            "declines": {key: [reason, rule] for key, reason, rule in self.state.declines},
            "net_cents": int(net_cents),
        }
        self.state = self.state._replace(closes=(entry,))
        return self._say("The case is closed.", "已结案。")

    # Parts ---------------------------------------------------------------------------------------

    def _booked(self, record: Record, gift: int, card: int, **fields: Any) -> str:
        refunds = [record["refunds"][0] + int(gift), record["refunds"][1] + int(card)]
        self.tables.put("orders", record["id"], {**record, **fields, "refunds": refunds})
        return self._say("Booked.", "已办理。")

    def _untouched(self, order: Record, number: str) -> None:
        state = self._line(order, number)["state"]
        if state != "ordered":
            raise DeskProblem(
                self._say(
                    f"line {number} is {state} already; bookings are final",
                    f"行{number}已办理过（{state}），不能再改",
                )
            )

    def _account(self) -> Record:
        return self.tables.get("accounts", self._params["account"]) or {}

    def _order(self, order: str) -> Record:
        found = self.tables.get("orders", order.strip().upper())
        if found is None:
            raise DeskProblem(
                self._say(f"there is no order {order[:40]!r}", f"没有订单 {order[:40]!r}")
            )
        return found

    def _line(self, order: Record, line: str) -> Record:
        number = str(line).strip().rpartition("/")[2]
        for each in order["lines"]:
            if each["line"] == number:
                return cast("Record", each)
        raise DeskProblem(
            self._say(f"{order['id']} has no line {line[:20]!r}", f"没有行 {line[:20]!r}")
        )

    def _key(self, order: str, line: str) -> str:
        record = self._order(order)
        return f"{record['id']}/{self._line(record, line)['line']}"
