"""Operations of the transit app."""

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.operations.finding import tab
from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.world.apps.transit.timetable import TransitRide
from hexathlon.tasks.gui.world.kit.dates import time_text
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.source import Script

__all__ = ["buy_ticket", "cancel_ticket", "look_up_rides"]


def _rides(pilot: PhonePilot, start: PhoneRow, end: PhoneRow, day: str, after: str) -> Script:
    yield from pilot.open("transit")
    yield from pilot.choose(pilot.words("transit", "from"), start["name"])
    yield from pilot.choose(pilot.words("transit", "to"), end["name"])
    yield from pilot.pick_day(pilot.words("transit", "day"), day)
    yield from pilot.pick_time(pilot.words("transit", "after"), after)


def look_up_rides(start: PhoneRow, end: PhoneRow, day: str, after: str) -> PhoneOperation:
    """List the rides between two stations, from a time on that is a multiple of five minutes."""
    return PhoneOperation(lambda pilot: _rides(pilot, start, end, day, after))


def buy_ticket(start: PhoneRow, end: PhoneRow, day: str, ride: TransitRide) -> PhoneOperation:
    """Buy a ticket for a ride."""
    after = f"{ride.start[:3]}{int(ride.start[3:]) // 5 * 5:02d}"

    def run(pilot: PhonePilot) -> Script:
        yield from _rides(pilot, start, end, day, after)
        names = [
            " – ".join(time_text(time, twelve, pilot.language) for time in (ride.start, ride.end))
            for twelve in (False, True)
        ]
        yield from pilot.tap_entry(names)
        yield from pilot.tap_entry(pilot.words("transit", "buy"), "button")
        yield from pilot.tap("button", pilot.words("transit", "buy"))

    def effect(phone: ExpectedPhone) -> None:
        code = f"N{2000 + 17 * len(phone.rows('transit.tickets'))}"
        phone.add("transit.tickets", code=code, line=ride.line, start=start["id"], end=end["id"],
                  day=day, time=ride.start, price=ride.price, state="valid")  # fmt: skip

    return PhoneOperation(run, effect)


def cancel_ticket(ticket: PhoneRow) -> PhoneOperation:
    """Cancel a ticket."""

    def run(pilot: PhonePilot) -> Script:
        yield from tab("transit", "tickets")(pilot)
        yield from pilot.press("transit", "search")
        yield from pilot.fill(pilot.words("transit", "search"), ticket["code"])
        row = next(each for each in pilot.elements()
                   if each.role == "item" and ticket["code"] in each.name)  # fmt: skip
        yield from pilot.act("click", index=row.index)
        yield from pilot.press("transit", "cancel_ticket")
        yield from pilot.tap("button", pilot.words("transit", "cancel_ticket"))

    return PhoneOperation(
        run, lambda phone: phone.change("transit.tickets", ticket["id"], state="cancelled")
    )
