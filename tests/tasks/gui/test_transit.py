"""The transit app: departures and fares follow from lines, and tickets are bought and returned."""

from hexathlon.tasks.gui.world.apps.transit.timetable import minutes_of, rides
from hexathlon.tasks.gui.world.kit.events import do
from hexathlon.tasks.gui.world.kit.looks import LOOKS, Appearance
from hexathlon.tasks.gui.world.system.phone import Phone
from hexathlon.tasks.gui.world.system.plan import PhonePlan

LINE = {"id": 1, "name": "R1", "stops": [1, 2, 3], "minutes": [0, 10, 25], "first": 400,
        "last": 520, "every": 30, "fare": 200}  # fmt: skip
PLAN = PhonePlan(7, "train", "en", 2, "2026-03-05T09:00:00")


def test_rides_there_and_back_take_equally_long():
    there, back = rides([LINE], 1, 3), rides([LINE], 3, 1)
    assert [ride.start for ride in there] == ["06:40", "07:10", "07:40", "08:10", "08:40"]
    assert {minutes_of(r.end) - minutes_of(r.start) for r in (*there, *back)} == {25}
    assert rides([LINE], 1, 1) == rides([LINE], 1, 9) == []


def test_rides_off_the_peak_cost_a_quarter_less():
    prices = {ride.start: ride.price for ride in rides([LINE], 1, 2)}
    assert prices["06:40"] == 195 and prices["07:10"] == 260


def test_tickets_are_bought_and_returned_and_not_for_the_past():
    phone = Phone(PLAN, Appearance(LOOKS["pebble"]))
    phone.open_app("transit")
    line = next(iter(PLAN.table("transit.lines").values()))
    start, end = line["stops"][:2]
    ride = rides([line], start, end)[-1]
    wish = {"line": line["id"], "start": start, "end": end, "time": ride.start}
    phone.core.dispatch("transit", do("ask_buy", day="2026-03-01", **wish))
    assert "transit.tickets" not in phone.changes()
    bought = do("buy", day="2026-03-06", price=ride.price, **wish)
    phone.core.dispatch("transit", bought)
    (ticket,) = phone.changes()["transit.tickets"]["added"]
    assert ticket["state"] == "valid" and ticket["price"] == ride.price
    phone.core.dispatch("transit", do("cancel", id=ticket["id"]))
    (ticket,) = phone.changes()["transit.tickets"]["added"]
    assert ticket["state"] == "cancelled"
