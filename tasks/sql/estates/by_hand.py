"""The answer derived a second time: in Python, from the rows, without SQL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from hexathlon.tasks.sql.estates.layout import FIELDS, EstateLayout
from hexathlon.tasks.sql.estates.spec import (
    AS_OF,
    KEPT_SEGMENT,
    SEGMENTS,
    SETTLEMENT,
    UNIT,
    EstateSpec,
)
from hexathlon.tasks.sql.schema import Row, Value

__all__ = ["answer_by_hand"]

StoredFields = dict[str, Any]


@dataclass
class _Entry:
    """A document that counts, decoded."""

    no: str
    cust: int
    day: str
    day2: str | None
    alt: str | None
    bil: str | None
    ent: str
    amount: float
    ccy: str
    bought: bool
    eff: str = ""


class _Books:
    """The rows of a task, with the rules that hold, as Python functions."""

    def __init__(
        self, spec: EstateSpec, layout: EstateLayout, rows: Mapping[str, Sequence[Row]]
    ) -> None:
        self.spec, self.layout = spec, layout
        self.rows: dict[str, list[StoredFields]] = {
            role: [dict(zip(FIELDS[role], row, strict=True)) for row in own]
            for role, own in rows.items()
        }
        self.customers = {row["id"]: row for row in self.rows["cust"]}
        system = layout.systems["A"].upper()
        self.keys = {row["key"]: row["cust"] for row in self.rows["xref"] if row["sys"] == system}
        self.rates = {row[:3]: row[3] for row in spec.rates}
        self.fixed = self._fixed()

    def _fixed(self) -> dict[str, float]:
        released = {row["no"]: row["on"] for row in self.rows["batch"] if row["state"] == "REL"}
        lines = [
            line
            for line in self.rows["corr"]
            if line["batch"] in released and line["why"] != SETTLEMENT
        ]
        lines.sort(key=lambda line: str(released[line["batch"]]))
        return {line["no"]: line["val"] for line in lines}

    def day(self, system: str, value: Value) -> str | None:
        if value is None:
            return None
        text = str(value)
        if system == "L":
            return f"{text[:4]}-{text[4:6]}-{text[6:]}"
        if system == "A" and self.layout.dotted:
            return "-".join(reversed(text.split(".")))
        return text[:10]

    def counts(self, role: str, row: StoredFields, kinds: str = "Ltyp") -> bool:
        codes = self.layout.codes
        if role[0] == "L":
            return row["del"] != "X" and (role == "Lpay" or row["typ"] in codes[kinds])
        if role[0] == "N":
            return row["del"] is None and (role == "Npay" or row["stat"] in codes["Nok"])
        if role == "Apay":
            return str(row["stat"]) not in codes["Adel"]
        return str(row["stat"]) in codes["Aok"]

    def amount(self, role: str, row: StoredFields) -> float:
        value = float(row["val"])
        if role[0] != "A":
            return value
        flow = self.spec.flow
        noted = self.day("A", row["day" if flow == "ctr" else "ent"])
        if str(noted) < self.spec.release:
            value = value * UNIT[flow] if flow == "dlv" else value / UNIT[flow]
        if "vat" in self.spec.twists and "vat" in row:
            value /= 1 + self._tax(row["vat"], str(self.day("A", row["day"]))) / 100
        return value

    def _tax(self, code: str, day: str) -> float:
        return next(
            pct for own, first, end, pct in self.spec.vat
            if own == code and first <= day < (end or "9999")
        )  # fmt: skip

    def euros(self, value: float, ccy: str, day: str) -> float:
        if ccy == "EUR":
            return value
        return value / self.rates[(self.spec.fx_rule, ccy, day[:7])]

    def worth(self, entry: _Entry, day: str) -> float:
        if entry.no in self.fixed:
            return self.fixed[entry.no]
        return self.euros(entry.amount, entry.ccy, day)

    def excluded(self, cust: int, day: str) -> bool:
        if self.customers[cust]["seg"] == KEPT_SEGMENT:
            return False
        return any(
            row["list"] == self.layout.lists[0] and int(row["cust"]) == cust
            and row["first"] <= day <= (row["last"] or "9999")
            for row in self.rows["excl"]
        )  # fmt: skip

    def region(self, cust: int, day: str) -> str:
        if self.spec.region_rule == "now":
            day = self.spec.today
        district = self.customers[cust]["district"]
        code = next(
            row[1] for row in self.spec.districts
            if row[0] == district and row[2] <= day < (row[3] or "9999")
        )  # fmt: skip
        return dict(self.spec.regions)[code]

    def effective(self, reference: str, entered: str) -> str:
        if "late" not in self.spec.twists:
            return reference
        for _, _, first, end, closed in self.spec.periods:
            if first <= reference < end:
                return entered if entered > closed else reference
        return reference

    def survivor(self, cust: int) -> int:
        into: int | None = self.customers[cust]["into"]
        return into if into is not None and "merged" in self.spec.twists else cust

    def setting(self, values: Sequence[tuple[int, str, str | None]], day: str) -> int:
        return next(value for value, first, last in values if first <= day <= (last or "9999"))

    def entries(self) -> list[_Entry]:
        """Return the documents that count, each once."""
        spec, flow = self.spec, self.spec.flow
        numbers = {row["no"] for row in self.rows["N" + flow]}
        kept = []
        for system in "LNA":
            role = system + flow
            for row in self.rows[role]:
                day = self.day(system, row["day"])
                day2 = self.day(system, row["day2"])
                assert day is not None
                if not self.counts(role, row):
                    continue
                if system == "L" and day >= spec.cutover:
                    continue
                if system == "N" and (day < spec.cutover or row["org"] == "MIG"):
                    continue
                if system == "A":
                    own = day if flow == "sale" else day2
                    early = own is not None and own < spec.consolidation
                    if row["ext"] in numbers or (early and spec.metric not in AS_OF):
                        continue
                    cust = self.keys[row["cust"].strip().upper()]
                else:
                    cust = int(row["cust"])
                entered = self.day(system, row["ent"])
                assert entered is not None
                kept.append(_Entry(
                    row["no"], cust, day, day2, self.day(system, row["alt"]),
                    self.day(system, row["bil"]), entered, self.amount(role, row),
                    row.get("ccy", "EUR"), system == "A",
                ))  # fmt: skip
        return kept

    def credits(self) -> list[tuple[str, str, str, float, str]]:
        """Return reference, day, entry date, amount and currency of credit notes."""
        found = []
        for role in ("Lsale", "Ncred", "Acred"):
            for row in self.rows[role]:
                if self.counts(role, row, "Lcred"):
                    day, ent = self.day(role[0], row["day"]), self.day(role[0], row["ent"])
                    value = abs(self.amount(role, row))
                    found.append((row["ref"], str(day), str(ent), value, row.get("ccy", "EUR")))
        return found

    def payments(self) -> list[tuple[str, str, float]]:
        """Return reference, day and amount of payments."""
        return [
            (row["ref"], str(self.day(role[0], row["day"])), self.amount(role, row))
            for role in ("Lpay", "Npay", "Apay")
            for row in self.rows[role]
            if self.counts(role, row)
        ]


def answer_by_hand(
    spec: EstateSpec, layout: EstateLayout, rows: Mapping[str, Sequence[Row]]
) -> list[Row]:
    """Return the rows of the answer, in any order."""
    books = _Books(spec, layout, rows)
    derive = {
        "revenue": _revenue, "clients": _clients, "overdue": _overdue, "churn": _churn,
        "recurring": _recurring, "punctual": _punctual,
    }[spec.metric]  # fmt: skip
    return derive(books)


def _sold(books: _Books) -> list[tuple[int, str, float]]:
    """Return customer, day for the region, and euros of what lies in the period."""
    spec = books.spec
    own = books.entries()
    for entry in own:
        reference = entry.day if spec.basis == "own" else entry.alt
        entry.eff = books.effective(str(reference), entry.ent)
    own = [entry for entry in own if not books.excluded(entry.cust, entry.eff)]
    lines = [(entry.cust, entry.eff, entry.eff, books.worth(entry, entry.eff)) for entry in own]
    by_number = {entry.no: entry for entry in own}
    for number, day, entered, value, ccy in books.credits():
        invoice = by_number.get(number)
        if invoice is not None:
            at = books.effective(day, entered) if spec.credit_rule == "own" else invoice.eff
            lines.append((invoice.cust, invoice.eff, at, -books.euros(value, ccy, at)))
    return [(cust, eff, eur) for cust, eff, at, eur in lines if spec.first <= at < spec.end]


def _revenue(books: _Books) -> list[Row]:
    totals: dict[str, float] = {}
    for cust, day, eur in _sold(books):
        region = books.region(cust, day)
        totals[region] = totals.get(region, 0.0) + eur
    return list(totals.items())


def _clients(books: _Books) -> list[Row]:
    totals: dict[int, float] = {}
    for cust, _, eur in _sold(books):
        survivor = books.survivor(cust)
        totals[survivor] = totals.get(survivor, 0.0) + eur
    best = sorted(totals, key=lambda cust: -totals[cust])[:5]
    return [(cust, books.customers[cust]["name"], totals[cust]) for cust in best]


def _overdue(books: _Books) -> list[Row]:
    spec, at = books.spec, books.spec.day
    less: dict[str, float] = {}
    paid = [*books.payments(), *((each[0], each[1], each[3]) for each in books.credits())]
    for number, day, value in paid:
        if day <= at:
            less[number] = less.get(number, 0.0) + value
    old = (date.fromisoformat(at) - timedelta(days=60)).isoformat()
    totals: dict[str, list[float]] = {}
    for entry in books.entries():
        due = entry.day2 if spec.basis == "own" else entry.bil or entry.day2
        left = books.worth(entry, at) - books.euros(less.get(entry.no, 0.0), entry.ccy, at)
        if entry.day > at or str(due) >= at or left < 0.01 or books.excluded(entry.cust, at):
            continue
        total = totals.setdefault(books.region(entry.cust, at), [0.0, 0.0])
        total[0] += left
        total[1] += left if str(due) < old else 0.0
    return [(region, *total) for region, total in totals.items()]


def _churn(books: _Books) -> list[Row]:
    spec = books.spec
    entries = books.entries()
    begun: dict[int, list[str]] = {}
    for entry in entries:
        begun.setdefault(entry.cust, []).append(entry.day)
    totals: dict[str, list[float]] = {}
    for entry in entries:
        reference = entry.day2 if spec.basis == "own" else entry.alt
        if reference is None or entry.day2 is None:
            continue
        eff = books.effective(reference, entry.ent)
        if not spec.first <= eff < spec.end or books.excluded(entry.cust, eff):
            continue
        if "renewals" in spec.twists:
            days = books.setting(spec.renewal, entry.day2)
            last = (date.fromisoformat(entry.day2) + timedelta(days=days)).isoformat()
            if any(entry.day2 < day <= last for day in begun[entry.cust]):
                continue
        total = totals.setdefault(books.region(entry.cust, eff), [0, 0.0])
        total[0] += 1
        total[1] += books.worth(entry, eff)
    return [(region, *total) for region, total in totals.items()]


def _recurring(books: _Books) -> list[Row]:
    spec, at = books.spec, books.spec.day
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    people: dict[str, set[int]] = {}
    for entry in books.entries():
        begun = entry.day if spec.basis == "own" else str(entry.bil)
        over = entry.day2 is not None and (
            entry.day2 <= at if "ends" in spec.twists and entry.bought else entry.day2 < at
        )
        if begun > at or over or books.excluded(entry.cust, at):
            continue
        cust = books.survivor(entry.cust)
        segment = SEGMENTS[books.customers[cust]["seg"]]
        sums[segment] = sums.get(segment, 0.0) + books.worth(entry, at)
        counts[segment] = counts.get(segment, 0) + 1
        people.setdefault(segment, set()).add(cust)
    return [(each, len(people[each]), counts[each], sums[each]) for each in sums]


def _punctual(books: _Books) -> list[Row]:
    spec = books.spec
    totals: dict[str, list[float]] = {}
    for entry in books.entries():
        if entry.day2 is None:
            continue
        eff = books.effective(entry.day2, entry.ent)
        if not spec.first <= eff < spec.end or books.excluded(entry.cust, eff):
            continue
        promised = date.fromisoformat(str(entry.day if spec.basis == "own" else entry.alt))
        if "tolerance" in spec.twists:
            promised += timedelta(days=books.setting(spec.tolerance, entry.day2))
        quantity = books.fixed.get(entry.no, entry.amount)
        total = totals.setdefault(books.region(entry.cust, eff), [0.0, 0.0])
        total[0] += quantity
        total[1] += quantity if entry.day2 <= promised.isoformat() else 0.0
    return [(region, total, good / total) for region, (total, good) in totals.items()]
