"""A moment of a day: operations that follow the rules in force and what has happened so far."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.operations.money import transfer
from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.operations.planning import add_event, add_task, change_event, change_task
from hexathlon.tasks.gui.operations.writing import send_message
from hexathlon.tasks.gui.templates.shifts.rules import HouseRules, RuleChange
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["DayWork", "Moment"]

DayWork = Generator[PhoneOperation, None, Sequence[object] | None]
"""The operations of a request, in order; each takes effect before the next one is drawn. Returns
the answer, if one was asked for."""


@dataclass(frozen=True)
class Moment:
    """The rules and the phone when a request is carried out."""

    rules: HouseRules
    phone: ExpectedPhone
    slip: str = ""
    """The mistake to make, one of those that the request names."""

    # Money and messages ------------------------------------------------------------------------

    def spent(self) -> int:
        """Return the cents that have left the current account by transfer today."""
        if "spent" in self.rules.forgotten:
            return 0
        return sum(
            -int(row["amount"]) for row in self.phone.rows("bank.entries")
            if row["account"] == self.rules.current["id"] and row["kind"] == "transfer"
            and row["day"] == self.rules.today and row["amount"] < 0
        )  # fmt: skip

    def transfer(self, payee: PhoneRow, cents: int, reference: str) -> PhoneOperation:
        """Send money from the account that the rules name."""
        over = self.spent() + cents > self.rules.limit
        return transfer(payee, cents, reference, self.rules.savings if over else self.rules.current)

    def written_to(self, contact: PhoneRow) -> bool:
        """Whether the contact has been sent a message today."""
        if "written" in self.rules.forgotten:
            return False
        thread = self.phone.find("messages.threads", number=contact["phone"])
        return thread is not None and any(
            row["thread"] == thread["id"] and row["mine"]
            and row.get("time", self.rules.today).startswith(self.rules.today)
            for row in self.phone.rows("messages.messages")
        )  # fmt: skip

    def message(self, contact: PhoneRow, text: str) -> PhoneOperation:
        """Send a message, signed if the rules require it."""
        signed = contact["group"] == "work" and not self.written_to(contact)
        return send_message(contact, f"{text} {self.rules.sign}" if signed else text)

    # Events and tasks --------------------------------------------------------------------------

    def event(self, guests: Sequence[PhoneRow] = (), **facts: str) -> PhoneOperation:
        """Create an event in the calendar and with the reminder that the rules name."""
        work = any(row["group"] == "work" for row in guests)
        if guests:
            facts["guests"] = ", ".join(row["name"] for row in guests)
        alarm = self.rules.guests_alarm if guests else self.rules.alone_alarm
        return add_event(**facts, calendar="work" if work else "personal", alarm=alarm)

    def due(self, title: str, wanted: str) -> str:
        """Return the due date of a task that should be done by a day.

        Raises:
            KeyError: If it would be due before today.
        """
        taken = {row["due"] for row in self.phone.rows("tasks.tasks")
                 if row["list"] == self.rules.tasks["id"] and not row["done"]
                 and row["title"] != title}  # fmt: skip
        at = _working_day(date.fromisoformat(wanted))
        while at.isoformat() in taken and "taken" not in self.rules.forgotten:
            at = _working_day(at - timedelta(days=1))
        if at.isoformat() < self.rules.today:
            raise KeyError(f"no free day before {wanted}")
        return at.isoformat()

    def _priority(self, due: str) -> str:
        ahead = (date.fromisoformat(due) - date.fromisoformat(self.rules.today)).days
        return "high" if ahead <= self.rules.days else ""

    def task(self, title: str, wanted: str, note: str) -> PhoneOperation:
        """Create a task in the list, with the due date and the priority that the rules ask for."""
        due = self.due(title, wanted)
        priority = self._priority(due)
        more = {"priority": priority} if priority else {}
        return add_task(title=title, list=self.rules.tasks["name"], due=due, **more, note=note)

    def moved_task(self, title: str, wanted: str) -> PhoneOperation | None:
        """Change a task's due date; None if that changes nothing."""
        row = self.phone.the("tasks.tasks", title=title)
        due = self.due(title, wanted)
        facts: dict[str, Any] = {"due": due, "priority": self._priority(due)}
        changed = {name: value for name, value in facts.items() if row[name] != value}
        return change_task(title, **changed) if changed else None

    def amended(self, change: RuleChange) -> DayWork:
        """Bring what was created today in line with a change."""
        yield from ()
        if not change.retroactive or "made" in self.rules.forgotten:
            return None
        first = self.phone.plan
        if change.rule == "days":
            known = first.table("tasks.tasks")
            for row in self.phone.rows("tasks.tasks"):
                if row["id"] not in known and row["priority"] != self._priority(row["due"]):
                    yield change_task(row["title"], priority=self._priority(row["due"]))
            return None
        known = first.table("calendar.events")
        for row in self.phone.rows("calendar.events"):
            if row["id"] not in known and bool(row["guests"]) == (change.rule == "guests_alarm"):
                yield change_event(row["title"], alarm=change.value)
        return None


def _working_day(at: date) -> date:
    """Return a day, or the Friday before if it is at a weekend."""
    return at - timedelta(days=max(0, at.weekday() - 4))
