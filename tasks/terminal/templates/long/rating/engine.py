"""The rating engine whose decisions were recorded: whole numbers, one pass after a first sort.

Amounts are cents, shares are per mille, weights grams, sides centimetres. `RATES` names every
figure and choice. The text of this module also serves as an alternative solution, so it needs the
standard library alone.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["RateRow", "rated"]

RateRow = Mapping[str, str]
"""A consignment: id, date, customer, service, zone, postcode, grams, length, width, height, value,
options, ref, status."""


def _half_up(number: int, divisor: int) -> int:
    return (2 * number + divisor) // (2 * divisor)


def _half_down(number: int, divisor: int) -> int:
    return -((divisor - 2 * number) // (2 * divisor))


def _valid(dated: Sequence[Any], day: str) -> Any:
    """Return the value of the last entry dated up to the day."""
    return [what for since, what in dated if since <= day][-1]


def _sides(row: RateRow) -> list[int]:
    return sorted((int(row[side]) for side in ("length", "width", "height")), reverse=True)


def _weight(row: RateRow, rates: Any) -> int:
    grams, (long, middle, short) = int(row["grams"]), _sides(row)
    if row["service"] in rates["bulky_services"]:
        divisor = _valid(rates["divisors"], row["date"])
        grams = max(grams, -(-long * middle * short * 1000 // divisor))
    step = 500 if grams <= 10_000 else 1_000
    return -(-grams // step) * step


def _list_price(row: RateRow, rates: Any) -> int:
    service = "P" if row["service"] == "R" else row["service"]
    weight = _weight(row, rates)
    chosen = _valid(rates["lists"][service], row["date"])
    prices = chosen["prices"][row["zone"]]
    for limit, price in zip(chosen["limits"], prices, strict=True):
        if weight < limit or (weight == limit and rates["limit_included"]):
            return int(price)
    over = -(-(weight - chosen["limits"][-1]) // 1000)
    if not rates["limit_included"]:
        over += (weight - chosen["limits"][-1]) % 1000 == 0
    return int(prices[-1] + over * chosen["per_kg"][row["zone"]])


def _month_before(month: str, count: int) -> str:
    number = int(month[:4]) * 12 + int(month[5:7]) - 1 - count
    return f"{number // 12:04d}-{number % 12 + 1:02d}"


def _fuel(row: RateRow, rates: Any) -> int:
    if row["service"] == "X" and row["customer"] == rates["habits"].get("no_fuel_for"):
        return 0
    index = rates["index"][_month_before(row["date"][:7], rates["lag"])]
    steps = max(0, index - rates["index_from"]) // rates["index_step"]
    most = _valid(rates["fuel_most"], row["date"])
    return int(min(most, steps * rates["fuel_share"]))


def _oversize(row: RateRow, rates: Any) -> int:
    if row["service"] == rates["habits"].get("never_oversize"):
        return 0
    long, middle, short = _sides(row)
    found = [0]
    limit = rates["side_limit"]
    if long > limit or (long == limit and rates["side_included"]):
        found.append(rates["side_fee"])
    if row["date"] >= rates["girth_from"] and long + 2 * (middle + short) > rates["girth_limit"]:
        found.append(rates["girth_fee"])
    return max(found)


def _remote(row: RateRow, rates: Any) -> int:
    code = row["postcode"]
    island = code[:3] in rates["islands"]
    if not island and (code[:2] not in rates["remote"] or code in rates["not_remote"]):
        return 0
    if row["customer"] in rates["remote_free"] and not island:
        return 0
    return int(rates["remote_fee"] * (2 if island else 1))


def _insurance(row: RateRow, rates: Any) -> int:
    twice = row["zone"] == rates["habits"].get("insured_twice")
    return _insured(row, rates) * (2 if twice else 1)


def _insured(row: RateRow, rates: Any) -> int:
    excess = int(row["value"]) - rates["insured_free"]
    if excess <= 0:
        return 0
    if row["date"] >= rates["insurance_by_hundreds_from"]:
        return int(-(-excess // 100) * rates["insurance_hundred"])
    return int(
        max(rates["insurance_least"], -(-excess * 100 * rates["insurance_share"] // 5000) * 5)
    )


def _options(row: RateRow, rates: Any) -> int:
    wanted, total = row["options"].split("+"), 0
    if "SAT" in wanted:
        total += rates["saturday"] * (2 if row["date"][5:] in rates["holidays"] else 1)
    if "SIG" in wanted and not (
        row["service"] == "X" and row["date"] >= rates["signature_free_from"]
    ):
        total += rates["signature"]
    return int(total)


def _discount(row: RateRow, base: int, many: bool, rates: Any) -> int:
    own = _valid([("0", 0), *rates["contracts"].get(row["customer"], [])], row["date"])
    more = rates["volume_share"] if many else 0
    if rates["discounts"] == "larger":
        share = max(own, more)
    else:
        share = own + more
    most = int(_valid(rates["discount_most"], row["date"]))
    return min(_half_down(base * share, 1000), most)


def rated(rows: Sequence[RateRow], rates: Any) -> list[tuple[int, int]]:
    """Return net and gross amounts, in the order of the rows."""
    by_id = {row["id"]: row for row in rows}
    together = defaultdict(list)
    for place, row in enumerate(rows):
        if row["status"] != "void" and row["service"] != "R":
            together[row["customer"], row["date"], row["postcode"]].append(place)
    full = set()
    for group in together.values():
        if rates["full_price"] == "heaviest":
            full.add(min(group, key=lambda place: (-int(rows[place]["grams"]), place)))
        else:
            full.add(group[0])
    counts: dict[tuple[str, str], int] = defaultdict(int)
    made = []
    for place, row in enumerate(rows):
        if row["status"] == "void":
            made.append((0, 0))
            continue
        origin = by_id.get(row["ref"]) if row["service"] == "R" else None
        if origin is not None and origin["status"] != "void":
            base = _half_up(_list_price(origin, rates) * rates["return_share"], 1000)
            net = base + _half_up(base * _fuel(row, rates), 1000)
            made.append((net, net + _half_up(net * _valid(rates["vat"], row["date"]), 1000)))
            continue
        counted = row["service"] in rates["counted_services"]
        counts[row["customer"], row["date"][:7]] += counted
        many = counted and counts[row["customer"], row["date"][:7]] >= rates["volume_from"]
        base = _list_price(row, rates)
        least = _valid(rates["least"], row["date"])
        if rates["least_first"]:
            base = max(base, least)
        if row["service"] != "R" and place not in full:
            base = _half_up(base * rates["further_share"], 1000)
        base = max(base, least) if not rates["least_first"] else base
        discount = _discount(row, base, many, rates)
        fuelled = base - discount if rates["fuel_after_discount"] else base
        fuel = _half_up(fuelled * _fuel(row, rates), 1000)
        fees = _oversize(row, rates) + _remote(row, rates)
        fees = min(fees, _half_up(base * rates["fees_most"], 1000))
        net = base - discount + fuel + fees + _insurance(row, rates) + _options(row, rates)
        vat = 0 if row["zone"] == "C" else _valid(rates["vat"], row["date"])
        made.append((net, net + _half_up(net * vat, 1000)))
    return made
