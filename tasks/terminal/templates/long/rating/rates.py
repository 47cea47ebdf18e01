"""Draws the figures and choices of an engine, and consignments for it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.task import Split
from hexathlon.tasks.terminal.dice import Dice
from hexathlon.tasks.terminal.templates.long.rating.engine import RateRow

__all__ = ["CHOICES", "COLUMNS", "FIGURES", "HABITS", "HOLIDAYS", "Consignor", "drawn_rates"]

COLUMNS = ("id", "date", "customer", "service", "zone", "postcode", "grams", "length", "width",
           "height", "value", "options", "ref", "status")  # fmt: skip

CHOICES: dict[str, tuple[Any, Any]] = {
    "limit_included": (True, False),
    "lag": (1, 2),
    "side_included": (True, False),
    "fuel_after_discount": (True, False),
    "least_first": (True, False),
    "discounts": ("larger", "added"),
    "full_price": ("heaviest", "first"),
    "counted_services": (["P"], ["P", "X"]),
}
"""Choices of the engine that the records decide, with their values."""

FIGURES: dict[str, int] = {
    "saturday": 40, "signature": 15, "side_fee": 60, "remote_fee": 30, "insurance_least": 50,
    "volume_from": 1, "return_share": 50, "index_from": 1, "insured_free": 50,
}  # fmt: skip
"""Figures that the handbook may give wrongly, and by how much."""

HABITS = ("no_fuel_for", "never_oversize", "insured_twice")
"""Things that the engine does and no paper mentions; each depends on a name alone."""

HOLIDAYS = ("01-01", "05-01", "10-03", "12-24", "12-31")
"""Holidays of the handbook; the engine lacks one of them."""

_LIMITS = [1_000, 2_000, 5_000, 10_000, 20_000]


def _list(dice: Dice, level: int) -> dict[str, Any]:
    prices: dict[str, list[int]] = {}
    start = level
    for zone in "ABC":
        row, price = [], start
        for _ in _LIMITS:
            row.append(price)
            price += dice.whole(12, 44) * 10
        prices[zone] = row
        start += dice.whole(18, 40) * 10
    per_kg = {zone: dice.whole(4, 9) * 10 + 20 * place for place, zone in enumerate("ABC")}
    return {"limits": _LIMITS, "prices": prices, "per_kg": per_kg}


def drawn_rates(dice: Dice, split: Split, customers: list[str]) -> dict[str, Any]:
    """Draw the figures; records run from 2022-01 to 2023-06, and papers reach to 2024-12."""
    held = split not in ("train", "dev")
    renewed = f"{dice.pick((2022, 2023))}-{dice.whole(3, 6):02d}-01"
    lists = {
        "P": [("2022-01-01", _list(dice, 390)), ("2023-02-01", _list(dice, 420)),
              ("2024-01-01", _list(dice, 450))],
        "X": [("2022-01-01", _list(dice, 890)), ("2022-10-01", _list(dice, 930)),
              ("2024-04-01", _list(dice, 990))],
    }  # fmt: skip
    index, value = {}, dice.whole(104, 112)
    for number in range(2021 * 12 + 9, 2025 * 12):
        index[f"{number // 12:04d}-{number % 12 + 1:02d}"] = value
        value = min(150, max(96, value + dice.whole(-6, 8)))
    shares = dice.shuffled([25, 50, 75, 125])
    contracts = {
        customers[0]: [("2022-01-01", shares[0])],
        customers[1]: [("2022-01-01", shares[1]), (renewed, shares[2]), ("2024-03-01", 0)],
        customers[2]: [("2022-05-01", shares[3]), ("2023-10-01", shares[0])],
    }
    step, share, start = dice.pick((2, 3, 4)), dice.pick((8, 12, 15)), dice.pick((98, 100, 102))
    ahead = max(what for when, what in index.items() if when >= "2023-07")
    lower = (ahead - start) // step * share * 2 // 3
    missing = dice.pick(("05-01", "12-31"))
    habits = {"no_fuel_for": customers[4], "never_oversize": "X", "insured_twice": dice.pick("AB")}
    remote = sorted(str(n) for n in dice.some(range(20, 90), 6))
    return {
        **{name: dice.pick(values) for name, values in CHOICES.items()},
        "lists": lists,
        "contracts": contracts,
        "habits": {name: habits[name] for name in sorted(dice.some(HABITS, 2))},
        "bulky_services": dice.pick((["P"], ["P", "X"], ["P", "R"])),
        "divisors": [("2022-01-01", 5000), (f"2022-{dice.whole(4, 11):02d}-01", 4000),
                     ("2024-02-01", 6000)],
        "index": index,
        "index_from": start,
        "index_step": step,
        "fuel_share": share,
        "fuel_most": [("2022-01-01", 300), ("2023-09-01", lower)],
        "side_limit": dice.pick((100, 120)), "side_fee": dice.pick((450, 590)),
        "girth_from": f"2022-{dice.whole(6, 12):02d}-15" if held else "9999-12-31",
        "girth_limit": dice.pick((240, 260)), "girth_fee": dice.pick((390, 790)),
        "remote": remote,
        "not_remote": sorted(code + f"{dice.whole(100, 999)}" for code in remote[:3]),
        "islands": sorted(f"{code}{dice.whole(0, 9)}" for code in remote[4:]) if held else [],
        "remote_fee": dice.pick((280, 340, 420)),
        "remote_free": [customers[1], customers[3]],
        "insured_free": 500, "insurance_least": dice.pick((150, 250)),
        "insurance_share": dice.pick((4, 6)), "insurance_hundred": dice.pick((45, 65)),
        "insurance_by_hundreds_from": dice.pick((f"2022-{dice.whole(7, 12):02d}-01", "2023-11-01")),
        "saturday": dice.pick((650, 780)), "signature": dice.pick((95, 120)),
        "holidays": [day for day in HOLIDAYS if day != missing],
        "signature_free_from": dice.pick(("2022-09-01", "2023-12-01")),
        "volume_from": dice.pick((8, 10, 12)), "volume_share": dice.pick((25, 35, 50)),
        "discount_most": [("2022-01-01", 300), ("2023-08-01", 200)],
        "return_share": dice.pick((800, 750)),
        "least": [("2022-01-01", 450), ("2023-01-01", 490), ("2024-06-01", 560)],
        "further_share": 500,
        "fees_most": dice.pick((600, 700)),
        "vat": [("2022-01-01", 190), (f"2022-{dice.whole(7, 9):02d}-01", 160), ("2023-01-01", 190),
                ("2024-05-01", 200)],
    }  # fmt: skip


class Consignor:
    """Draws months of consignments."""

    def __init__(self, rates: dict[str, Any], customers: list[str], dice: Dice) -> None:
        self.rates, self.customers = rates, customers
        self.rng = generator_for("terminal", "rating", dice.whole(0, 2**31))
        self.next_id = dice.whole(10_000, 90_000)

    def months(self, months: Sequence[str], count: int) -> list[RateRow]:
        """Return the consignments of consecutive months; returns may refer to an earlier month."""
        rows: list[dict[str, str]] = []
        for month in months:
            self._add(month, count, rows)
        return list(rows)

    def _add(self, month: str, count: int, rows: list[dict[str, str]]) -> None:
        """Add the consignments of a month, in the order of their rating."""
        rng: np.random.Generator = self.rng
        draws = rng.random((count, 24))
        days = np.sort(rng.integers(1, 29, count))
        for day, draw in zip(days.tolist(), draws.tolist(), strict=True):
            rows.append(self._row(f"{month}-{day:02d}", draw, rows))

    def _row(self, day: str, draw: list[float], rows: list[dict[str, str]]) -> dict[str, str]:
        rates = self.rates
        self.next_id += 1 + int(draw[0] * 3)
        sides = [8 + int(draw[1] * 60), 5 + int(draw[2] * 40), 3 + int(draw[3] * 30)]
        grams = 150 + int(draw[4] ** 3 * 24_000)
        if draw[5] < 0.12:
            grams = (500, 1_000, 2_000, 5_000, 10_000, 20_000, 10_500, 22_000)[int(draw[6] * 8)]
            sides = [20, 15, 4]
        if draw[7] < 0.08:
            sides[int(draw[8] * 3)] = rates["side_limit"] + int(draw[9] * 5) - 2
        elif draw[7] < 0.14:
            long = 70 + int(draw[8] * 25)
            sides = [long, (rates["girth_limit"] - long) // 2 - 30 + int(draw[9] * 3), 30]
        elif draw[7] < 0.16:
            sides = [rates["side_limit"] + 8, 60, 40]
        service = "P" if draw[10] < 0.62 else "X" if draw[10] < 0.88 else "R"
        code = f"{10 + int(draw[11] * 90)}{100 + int(draw[12] * 900)}"
        if draw[13] < 0.16:
            code = rates["remote"][int(draw[14] * 6)] + f"{100 + int(draw[12] * 900)}"
        elif draw[13] < 0.20:
            code = rates["not_remote"][int(draw[14] * 3)]
        elif draw[13] < 0.25 and rates["islands"]:
            code = rates["islands"][int(draw[14] * 2)] + f"{10 + int(draw[12] * 90)}"
        row = {
            "id": str(self.next_id), "date": day,
            "customer": self.customers[min(4, int(draw[15] * 5))],
            "service": service, "zone": "ABC"[int(draw[16] * 3)], "postcode": code,
            "grams": str(grams), "length": str(sides[0]), "width": str(sides[1]),
            "height": str(sides[2]), "value": str(int(draw[17] ** 4 * 3_000)),
            "options": ("", "", "SAT", "SIG", "SAT+SIG")[int(draw[18] * 5)], "ref": "",
            "status": "void" if draw[19] < 0.05 else "ok",
        }  # fmt: skip
        if draw[17] > 0.93:
            row["value"] = str(500 + int(draw[22] * 4) * 100 + int(draw[23] * 2))
        if "SAT" in row["options"] and draw[23] < 0.4:
            holiday = [each for each in HOLIDAYS if each[:2] == day[5:7]]
            row["date"] = f"{day[:5]}{holiday[int(draw[22] * len(holiday))]}" if holiday else day
        sent = [each for each in rows[-90:] if each["service"] != "R"]
        if service == "R" and sent and draw[20] < 0.85:
            row["ref"] = sent[int(draw[21] * len(sent))]["id"]
        elif service != "R" and sent and draw[20] < 0.14:
            other = sent[-1 - int(draw[21] * min(2, len(sent)))]
            for name in ("customer", "date", "postcode", "zone"):
                row[name] = other[name]
        return row
