"""The timetable: lines between stations, their departures and their fares.

Departures follow from a line's first departure and its interval; nothing is stored a second time.
"""

from collections.abc import Iterable
from typing import NamedTuple

from hexathlon.tasks.gui.world.phone.app import ContentDraws
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["TransitRide", "clock", "minutes_of", "rides", "seed_transit"]

_STATIONS = (
    "Aldgate|老闸", "Birkenau|桦林", "Castle Hill|城堡山", "Dunes|沙丘", "Eastfield|东田",
    "Ferry Quay|渡口", "Glassworks|玻璃厂", "Harbour|港口", "Ironbridge|铁桥", "Junction|枢纽",
    "Kings Mill|王磨坊", "Lakeside|湖畔", "Market Hall|市场厅", "Northgate|北门",
    "Observatory|天文台",
    "Parkside|公园边", "Quarry|采石场", "Riverside|河畔", "Southgate|南门", "Technopark|科技园",
    "University|大学", "Viaduct|高架桥", "Waterworks|水厂", "Zoo|动物园",
)  # fmt: skip
_NAMES = ("R1", "R2", "S3", "S4", "X5", "X6")
_TRAVELLED = 6


class TransitRide(NamedTuple):
    """One ride between two stations of a line."""

    line: int
    start: str
    """Departure, `HH:MM`."""

    end: str
    """Arrival, `HH:MM`."""

    price: int
    """Fare in cents."""


def minutes_of(time: str) -> int:
    """Return the minutes since midnight of `HH:MM`."""
    return int(time[:2]) * 60 + int(time[3:])


def clock(minutes: int) -> str:
    """Return `HH:MM` from the minutes since midnight."""
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def rides(lines: Iterable[PhoneRow], start: int, end: int) -> list[TransitRide]:
    """Return all direct rides from one station to another, by departure.

    Off the peak (before 07:00, from 10:00 to 15:00, and from 19:00), a ride costs a quarter less.
    """
    found = []
    for line in lines:
        stops = list(line["stops"])
        if start == end or start not in stops or end not in stops:
            continue
        one, two = stops.index(start), stops.index(end)
        there = two > one
        spans = line["minutes"]
        offset = spans[one] if there else spans[-1] - spans[one]
        taken = abs(spans[two] - spans[one])
        first = line["first"] + (0 if there else line["every"] // 2)
        for begun in range(first, line["last"] + 1, line["every"]):
            left = begun + offset
            if left + taken < 24 * 60:
                price = _fare(line["fare"], abs(two - one), left)
                found.append(TransitRide(line["id"], clock(left), clock(left + taken), price))
    return sorted(found, key=lambda ride: (ride.start, ride.end, ride.line))


def _fare(base: int, stops: int, left: int) -> int:
    full = base + 60 * stops
    peak = 420 <= left < 600 or 900 <= left < 1140
    return full if peak else full * 3 // 4 // 5 * 5


def seed_transit(draws: ContentDraws) -> None:
    """Draw stations, lines that share some of them, and tickets."""
    side = 1 if draws.language == "zh" else 0
    names = draws.sample(draws.own(_STATIONS), 6)
    stations = [draws.add("stations", name=name.split("|")[side]) for name in names]
    for name in _NAMES[: 3 + draws.scale // 2]:
        stops = draws.sample(stations, draws.between(4, 5))
        spans = [0]
        for _ in stops[1:]:
            spans.append(spans[-1] + draws.between(4, 17))
        draws.add("lines", name=name, stops=stops, minutes=spans, first=draws.between(320, 370),
                  last=draws.between(1290, 1330), every=draws.pick((20, 25, 30, 40)),
                  fare=draws.between(16, 44) * 10)  # fmt: skip
    lines = draws.rows("lines")
    for number in range(_TRAVELLED + draws.scale):
        line = draws.pick(lines)
        one, two = draws.sample(line["stops"], 2)
        ride = draws.pick([each for each in rides([line], one, two)])
        day = draws.day(draws.between(-20, -1) if number < _TRAVELLED else draws.between(2, 12))
        draws.add("tickets", code=f"{draws.pick('GHKLT')}{draws.between(1000, 9999)}",
                  line=line["id"], start=one, end=two, day=day, time=ride.start, price=ride.price,
                  state="valid" if number >= _TRAVELLED else "used")  # fmt: skip
