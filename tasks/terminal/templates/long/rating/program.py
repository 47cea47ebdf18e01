"""The reference program, written apart from the recorded engine.

It counts in decimals and has an object for each consignment.
"""

import inspect
import json
from collections.abc import Mapping
from typing import Any

from hexathlon.tasks.terminal.draft import faulty
from hexathlon.tasks.terminal.templates.long.rating import engine

__all__ = ["REMOVALS", "by_engine", "program"]

_PROGRAM = '''#!/usr/bin/env python3
"""Rate consignments: CSV on standard input, the same with net and gross on standard output."""
import csv, json, math, sys
from decimal import Decimal as D, ROUND_HALF_DOWN, ROUND_HALF_UP

T = json.loads(r"""@RATES""")
CENT = D("0.01")


def cents(amount, how=ROUND_HALF_UP):
    return amount.quantize(CENT, rounding=how)


def at(table, day):
    chosen = None
    for since, value in sorted(table, key=lambda pair: pair[0]):
        if since <= day:
            chosen = value
    return chosen


def euro(number):
    return D(number) / 100


def share(number):
    return D(number) / 1000


class Consignment:
    def __init__(self, row):
        self.row = row
        self.day, self.service = row["date"], row["service"]
        self.void = row["status"] == "void"
        self.dims = sorted((int(row[k]) for k in ("length", "width", "height")))
        self.key = (row["customer"], row["date"], row["postcode"])

    def weight(self):
        kilos = D(self.row["grams"]) / 1000
        if self.service in T["bulky_services"]:
            volume = math.prod(self.dims)
            kilos = max(kilos, D(volume) / D(at(T["divisors"], self.day)))
        half = D("0.5") if kilos <= 10 else D(1)
        return math.ceil(kilos / half) * half

    def listed(self):
        table = at(T["lists"]["P" if self.service == "R" else self.service], self.day)
        zone, kilos = self.row["zone"], self.weight()
        limits = [D(limit) / 1000 for limit in table["limits"]]
        for limit, price in zip(limits, table["prices"][zone]):
            if kilos < limit or (T["limit_included"] and kilos == limit):
                return euro(price)
        extra = kilos - limits[-1]
        started = math.ceil(extra) if T["limit_included"] else math.floor(extra) + 1
        return euro(table["prices"][zone][-1]) + started * euro(table["per_kg"][zone])

    def fuel(self):
        if self.service == "X" and self.row["customer"] == T["habits"].get("no_fuel_for"):
            return D(0)
        year, month = int(self.day[:4]), int(self.day[5:7])
        for _ in range(T["lag"]):
            year, month = (year, month - 1) if month > 1 else (year - 1, 12)
        points = T["index"]["%04d-%02d" % (year, month)] - T["index_from"]
        steps = points // T["index_step"] if points > 0 else 0
        return share(min(steps * T["fuel_share"], at(T["fuel_most"], self.day)))

    def oversize(self):
        short, middle, long = self.dims
        fee = 0
        if self.service == T["habits"].get("never_oversize"):
            return D(0)
        if long > T["side_limit"] or (T["side_included"] and long == T["side_limit"]):
            fee = T["side_fee"]
        if self.day >= T["girth_from"] and long + 2 * middle + 2 * short > T["girth_limit"]:
            fee = max(fee, T["girth_fee"])
        return euro(fee)

    def remote(self):
        code = self.row["postcode"]
        if code[:3] in T["islands"]:
            return euro(2 * T["remote_fee"])
        if code[:2] not in T["remote"] or code in T["not_remote"]:
            return D(0)
        return D(0) if self.row["customer"] in T["remote_free"] else euro(T["remote_fee"])

    def insurance(self):
        above = D(self.row["value"]) - T["insured_free"]
        if above <= 0:
            return D(0)
        if self.day >= T["insurance_by_hundreds_from"]:
            return math.ceil(above / 100) * euro(T["insurance_hundred"])
        fives = math.ceil(above * share(T["insurance_share"]) / D("0.05"))
        return max(euro(T["insurance_least"]), fives * D("0.05"))

    def times_insured(self):
        return 2 if self.row["zone"] == T["habits"].get("insured_twice") else 1

    def options(self):
        chosen, fee = self.row["options"].split("+"), D(0)
        if "SAT" in chosen:
            fee += euro(T["saturday"]) * (2 if self.day[5:] in T["holidays"] else 1)
        if "SIG" in chosen:
            free = self.service == "X" and self.day >= T["signature_free_from"]
            fee += 0 if free else euro(T["signature"])
        return fee


def main():
    reader = csv.DictReader(sys.stdin)
    items = [Consignment(row) for row in reader]
    known = {item.row["id"]: item for item in items}
    groups, counts = {}, {}
    for item in items:
        if not item.void and item.service != "R":
            groups.setdefault(item.key, []).append(item)
    for group in groups.values():
        if T["full_price"] == "heaviest":
            group.sort(key=lambda item: -int(item.row["grams"]))
    out = csv.writer(sys.stdout, lineterminator="\\n")
    out.writerow(["id", "net", "gross"])
    for item in items:
        net, gross = price(item, known, groups, counts)
        out.writerow([item.row["id"], "%.2f" % net, "%.2f" % gross])


def price(item, known, groups, counts):
    if item.void:
        return D(0), D(0)
    tax = share(at(T["vat"], item.day))
    if item.service == "R":
        sent = known.get(item.row["ref"])
        if sent and not sent.void:
            base = cents(sent.listed() * share(T["return_share"]))
            net = base + cents(base * item.fuel())
            return net, net + cents(net * tax)
    many = False
    if item.service in T["counted_services"]:
        month = (item.row["customer"], item.day[:7])
        counts[month] = counts.get(month, 0) + 1
        many = counts[month] >= T["volume_from"]
    base, least = item.listed(), euro(at(T["least"], item.day))
    further = item.service != "R" and groups[item.key][0] is not item
    if T["least_first"]:
        base = max(base, least)
    if further:
        base = cents(base * share(T["further_share"]))
    if not T["least_first"]:
        base = max(base, least)
    own = at([["0", 0]] + T["contracts"].get(item.row["customer"], []), item.day)
    more = T["volume_share"] if many else 0
    percent = max(own, more) if T["discounts"] == "larger" else own + more
    off = cents(base * share(percent), ROUND_HALF_DOWN)
    off = min(off, euro(at(T["discount_most"], item.day)))
    fuel = cents((base - off if T["fuel_after_discount"] else base) * item.fuel())
    fees = min(item.oversize() + item.remote(), cents(base * share(T["fees_most"])))
    net = base - off + fuel + fees + item.insurance() * item.times_insured() + item.options()
    if item.row["zone"] == "C":
        tax = D(0)
    return net, net + cents(net * tax)


main()
'''

REMOVALS: dict[str, tuple[str, str]] = {
    "void_counted": ("if not item.void and item.service", "if item.service"),
    "returns_at_todays_list": (
        "sent.listed()",
        "Consignment(dict(sent.row, date=item.day)).listed()",
    ),
    "returns_without_fuel": ("base + cents(base * item.fuel())", "base"),
    "returns_untaxed": (
        "return net, net + cents(net * tax)\n    many",
        'return net, net + cents(net * tax * (item.row["zone"] != "C"))\n    many',
    ),
    "return_of_void": ("if sent and not sent.void", "if sent"),
    "zone_c_taxed": ('if item.row["zone"] == "C":', "if False:"),
    "discount_half_up": (", ROUND_HALF_DOWN)", ")"),
    "fees_uncapped": ('cents(base * share(T["fees_most"]))', "D(9999)"),
    "fees_add_up": ("fee = max(fee, T[\"girth_fee\"])", "fee += T[\"girth_fee\"]"),
    "islands_waived": (
        'return euro(2 * T["remote_fee"])',
        'return euro(2 * T["remote_fee"] * (self.row["customer"] not in T["remote_free"]))',
    ),
    "remote_by_prefix_alone": (' or code in T["not_remote"]', ""),
    "insurance_without_least": ('max(euro(T["insurance_least"]), fives', "(fives"),
    "holidays_single": ("(2 if self.day[5:] in T[\"holidays\"] else 1)", "1"),
    "no_further": ("if further:", "if False:"),
}  # fmt: skip
"""Rules left out, by name: text of the program, and what stands there instead."""


def program(rates: Mapping[str, Any], removal: str = "") -> str:
    """Return the reference program with some rates, and possibly one rule left out."""
    text = faulty(_PROGRAM, REMOVALS, [removal] if removal else [])
    return text.replace("@RATES", json.dumps(rates))


def by_engine(rates: Mapping[str, Any]) -> str:
    """Return an alternative: the recorded engine itself, as a program."""
    return (
        f"{inspect.getsource(engine)}\n\n"
        "import csv, json, sys\n\n"
        f'RATES = json.loads(r"""{json.dumps(rates)}""")\n'
        "rows = list(csv.DictReader(sys.stdin))\n"
        'print("id,net,gross")\n'
        "for row, pair in zip(rows, rated(rows, RATES)):\n"
        '    print(row["id"], *("%d.%02d" % divmod(each, 100) for each in pair), sep=",")\n'
    )
