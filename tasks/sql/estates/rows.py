"""Rows of an estate's core tables: one population of the facts that a task's rules are about."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.estates.layout import FIELDS, EstateLayout
from hexathlon.tasks.sql.estates.spec import AS_OF, UNIT, EstateSpec, split_of
from hexathlon.tasks.sql.pools import pool_name
from hexathlon.tasks.sql.schema import Row, Value

__all__ = ["draw_rows", "shadow_of"]

Doc = dict[str, Any]
Stored = dict[str, list[Row]]

_CUSTOMERS = 150
_ACCOUNTS = 60
_DOCS = {"sale": 1_000, "ctr": 700, "dlv": 1_000}
_ACQUIRED = {"sale": 420, "ctr": 380, "dlv": 420}
_EDGE = 0.05
"""Share of documents at days where a rule changes."""


@dataclass
class _Facts:
    """Drawn documents before they are stored."""

    spec: EstateSpec
    layout: EstateLayout
    rng: np.random.Generator
    docs: dict[str, list[Doc]] = field(default_factory=lambda: {"L": [], "N": [], "A": []})
    credits: dict[str, list[Doc]] = field(default_factory=lambda: {"L": [], "N": [], "A": []})
    payments: dict[str, list[Doc]] = field(default_factory=lambda: {"L": [], "N": [], "A": []})
    ids: list[int] = field(default_factory=list)
    accounts: dict[int, str] = field(default_factory=dict)
    """Account of the acquired firm by customer."""

    def below(self, end: int) -> int:
        return int(self.rng.integers(end))

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def sample(self, items: Sequence[Any], number: int) -> list[Any]:
        order = self.rng.permutation(len(items))[:number].tolist()
        return [items[place] for place in order]


def draw_rows(spec: EstateSpec, layout: EstateLayout, population: int) -> Stored:
    """Return the rows of the tables that matter for a task, by role."""
    rng = generator_for("sql-estate-rows", spec.company, spec.metric, population)
    facts = _Facts(spec, layout, rng)
    stored: Stored = {}
    _customers(facts, stored)
    _documents(facts)
    _copies(facts)
    if spec.flow == "ctr" and "renewals" in spec.twists:
        _renewals(facts)
    if spec.flow == "sale":
        _credits(facts)
        _payments(facts)
    _corrections(facts, stored)
    _store(facts, stored)
    return stored


def _ordinal(day: str) -> int:
    return date.fromisoformat(day).toordinal()


def _customers(facts: _Facts, stored: Stored) -> None:
    spec, rng, layout = facts.spec, facts.rng, facts.layout
    districts = sorted({row[0] for row in spec.districts})
    ids, facts.accounts = _people(layout)
    facts.ids = ids
    into: dict[int, int] = {}
    if "merged" in spec.twists:
        pairs = facts.sample(ids, 44)
        into = dict(zip(pairs[:22], pairs[22:], strict=True))
    split = split_of(spec.company)
    names = [pool_name("company", split, int(n)) for n in rng.permutation(400)[:_CUSTOMERS]]
    segments = ("K1", "K2", "S5", "P9")
    stored["cust"] = [
        (
            number, name, districts[int(place)], segments[int(segment)], into.get(number),
        )
        for number, name, place, segment in zip(
            ids, names, rng.integers(len(districts), size=len(ids)),
            rng.integers(4, size=len(ids)), strict=True,
        )
    ]  # fmt: skip
    towns = ("Ashby", "Corvin", "Delmar", "Estrel", "Fenwick", "Grasse")
    called = dict(zip(ids, names, strict=True))
    stored["acct"] = [
        (code, called[number].upper() if facts.chance(0.4) else called[number],
         towns[facts.below(6)])
        for number, code in sorted(facts.accounts.items(), key=lambda item: item[1])
    ]  # fmt: skip
    old = [(layout.systems["L"].upper(), f"{number:010d}", number) for number in ids]
    acquired = [
        (layout.systems["A"].upper(), code, number) for number, code in facts.accounts.items()
    ]
    stored["xref"] = facts.sample([*old, *acquired], len(old) + len(acquired))
    stored["excl"] = _exclusions(facts, ids)


def _people(layout: EstateLayout) -> tuple[list[int], dict[int, str]]:
    """Return a company's customer numbers, and accounts of the acquired firm by customer."""
    rng = generator_for("sql-estate-people", layout.company)
    first = 100_000 + int(rng.integers(400)) * 100
    ids = list(range(first, first + _CUSTOMERS))
    chosen = rng.permutation(_CUSTOMERS)[:_ACCOUNTS].tolist()
    codes = rng.permutation(8_000)[:_ACCOUNTS].tolist()
    return ids, {
        first + place: f"{layout.bought[0]}{code + 1_000}"
        for place, code in zip(chosen, codes, strict=True)
    }


def _exclusions(facts: _Facts, ids: list[int]) -> list[Row]:
    spec, (own, other) = facts.spec, facts.layout.lists
    rows: list[Row] = []
    middle = date.fromordinal((_ordinal(spec.first) + _ordinal(spec.end)) // 2).isoformat()
    chosen = facts.sample(sorted(facts.accounts), 8) + facts.sample(ids, 22)
    for place, number in enumerate(dict.fromkeys(chosen)):
        text = str(number)
        if place % 3 == 2:
            rows.append((other, text, "2017-05-01", None))
        elif "excluded" not in spec.twists:
            rows.append((own, text, "2016-01-01", "2018-12-31"))
        elif place % 3 == 0:
            rows.append((own, text, "2019-02-01", None))
        elif facts.chance(0.5):
            rows.append((own, text, "2019-02-01", middle))
        else:
            rows.append((own, text, middle, None))
    return facts.sample(rows, len(rows))


# -- documents -----------------------------------------------------------------------------------


def _documents(facts: _Facts) -> None:
    spec, flow = facts.spec, facts.spec.flow
    cutover = _ordinal(spec.cutover)
    for doc in _drawn(facts, _DOCS[flow], None):
        facts.docs["L" if doc["day"] < cutover else "N"].append(doc)
    for doc in _drawn(facts, 130, cutover):
        facts.docs["L"].append(doc)
    facts.docs["A"] = _drawn(facts, _ACQUIRED[flow], None, sorted(facts.accounts))
    for system in "LNA":
        _finish(facts, system)
    _overlap(facts, cutover)


def _drawn(
    facts: _Facts, number: int, before: int | None, customers: Sequence[int] = ()
) -> list[Doc]:
    """Draw documents; `before`: only old ones, which ended before that day."""
    spec, rng, flow = facts.spec, facts.rng, facts.spec.flow
    first, end, today = _ordinal(spec.first), _ordinal(spec.end), _ordinal(spec.today)
    low, high = (first - 75, end) if spec.metric == "overdue" else (first - 25, end + 25)
    near = rng.integers(low, high, size=number)
    far = rng.integers(first - 520, today + 1, size=number)
    days = np.where(rng.random(number) < 0.65, near, far)
    if before is not None:
        days = rng.integers(before - 500, before - 60, size=number)
    else:
        edges = [_ordinal(day) for day in _edges(spec)]
        picked = rng.integers(len(edges), size=number)
        days = np.where(rng.random(number) < _EDGE, np.array(edges)[picked], days)
    known = customers or facts.ids
    who = rng.integers(len(known), size=number).tolist()
    rolls = rng.random((number, 4)).tolist()
    spans = rng.integers(0, 1_000_000, size=(number, 6)).tolist()
    docs = []
    for place, own in enumerate(days.tolist()):
        doc = _dated(flow, own, spans[place], rolls[place], before is not None, spec)
        late = "late" in spec.twists and rolls[place][1] < 0.16 and spec.metric not in AS_OF
        start = doc["day"] if flow == "sale" else doc["day2"] or doc["day"]
        early = spans[place][4] % 5
        if flow == "ctr" and doc["day2"] is not None:
            doc["ent"] = min(doc["alt"] + early, today)
        else:
            doc["ent"] = start + early
        if late:
            doc["ent"] = start + 20 + spans[place][4] % 36
        if doc["ent"] > today:
            continue
        doc["cust"] = known[who[place]]
        doc["val"] = _value(flow, spans[place][5])
        doc["ok"] = rolls[place][2] > 0.08
        doc["gone"] = rolls[place][3] < 0.05
        doc["itm"] = f"G{spans[place][3] % 7 + 1}"
        docs.append(doc)
    return docs


def _edges(spec: EstateSpec) -> list[str]:
    moves = [row[2] for row in spec.districts if row[2] > "2016"]
    middle = moves[:1]
    vat = [spec.vat[1][1]]
    last = date.fromordinal(_ordinal(spec.first) - 1).isoformat()
    return [spec.first, last, spec.day, spec.day, spec.end, spec.consolidation, *middle, *vat]


def _dated(
    flow: str, own: int, spans: list[int], rolls: list[float], old: bool, spec: EstateSpec
) -> Doc:
    if flow == "sale":
        due = own + (14, 30, 30, 45, 60)[spans[0] % 5]
        return {
            "day": own, "alt": own - spans[1] % 38, "day2": due,
            "bil": due + 15 + spans[2] % 40 if rolls[0] < 0.25 else None,
        }  # fmt: skip
    if flow == "dlv":
        promised = own - spans[0] % 9 + 4
        moved = 1 + spans[2] % 7 if rolls[0] < 0.4 else 0
        return {"day": promised, "alt": promised + moved, "day2": own, "bil": own - spans[1] % 2}
    if not old and rolls[0] < 0.4:
        begun = _ordinal(spec.day) - spans[0] % 620 + 20
        return {"day": begun, "alt": None, "day2": None, "bil": begun + spans[1] % 60}
    begun = own - 90 - spans[0] % 800
    return {
        "day": begun, "alt": own - 5 - spans[1] % 70, "day2": own,
        "bil": begun + spans[2] % 60,
    }  # fmt: skip


def _value(flow: str, number: int) -> float:
    if flow == "sale":
        return (4_000 + number % 900_000) / 100
    if flow == "ctr":
        return (80 + number % 1_700) / 2
    return float(24 * (1 + number % 20))


def _finish(facts: _Facts, system: str) -> None:
    """Give document numbers, codes, currencies and references."""
    spec, codes = facts.spec, facts.layout.codes
    docs = facts.docs[system]
    docs.sort(key=lambda doc: (doc["ent"], doc["day"]))
    number = 40_000 + facts.below(30_000)
    rolls = facts.rng.random((len(docs), 4)).tolist()
    for doc, roll in zip(docs, rolls, strict=True):
        number += 1 + int(roll[0] * 4)
        doc["no"] = f"{facts.layout.prefixes[system]}{number:08d}"
        doc["org"] = "WEB" if roll[1] < 0.2 else "STD"
        doc["ext"] = f"PO-{int(roll[2] * 90_000) + 10_000}" if roll[1] < 0.35 else None
        doc["ccy"] = spec.currency if roll[3] < 0.7 else "EUR"
        doc["vat"] = ("V1", "V1", "V1", "V2", "V0")[int(roll[2] * 5)]
        good = {"L": "Ltyp", "N": "Nok", "A": "Aok"}[system]
        bad = {"L": "Lbad", "N": "Nbad", "A": "Abad"}[system]
        options = codes[good if doc["ok"] else bad]
        doc["code"] = options[int(roll[0] * len(options))]
        doc["system"] = system


def _overlap(facts: _Facts, cutover: int) -> None:
    """Copy documents between the two systems: by migration, and by entry in both for a while."""
    running = facts.spec.flow == "ctr"
    migrated = [
        {**doc, "org": "MIG"}
        for doc in facts.docs["L"]
        if cutover - 150 <= doc["day"]
        or (running and (doc["day2"] is None or doc["day2"] >= cutover))
        or (facts.spec.metric == "overdue" and doc["day"] >= cutover - 200)
    ]
    both = [
        dict(doc)
        for doc in facts.docs["N"]
        if cutover <= doc["day"] < cutover + 50 and facts.chance(0.7)
    ]
    number = 90_000_000 + facts.below(1_000_000)
    codes = facts.layout.codes
    for doc in migrated:
        number += 1
        doc["no"] = f"{facts.layout.prefixes['N']}{number}"
        doc["code"] = codes["Nok"][0] if doc["ok"] else codes["Nbad"][0]
        doc["gone"] = False
    for doc in both:
        number += 1
        doc["org"] = "PAR"  # not stored; nothing refers to these rows
        doc["no"] = f"{number:08d}"
        doc["code"] = codes["Ltyp"][0] if doc["ok"] else codes["Lbad"][0]
    facts.docs["N"] += migrated
    facts.docs["L"] += both


def _copies(facts: _Facts) -> None:
    """Key documents of the successor in the acquired firm's system, too."""
    spec = facts.spec
    if "copies" not in spec.twists:
        return
    low, high = _ordinal(spec.first) - 40, _ordinal(spec.end) + 20
    able = [
        doc for doc in facts.docs["N"]
        if doc["org"] != "MIG" and doc["cust"] in facts.accounts
        and (spec.flow == "ctr" or low <= doc["day2" if spec.flow == "dlv" else "day"] < high)
    ]  # fmt: skip
    number = 7_000_000 + facts.below(100_000)
    for doc in facts.sample(able, 70):
        number += 1 + facts.below(5)
        copy = {**doc, "ext": doc["no"], "no": f"{facts.layout.prefixes['A']}{number:08d}"}
        copy["code"] = facts.layout.codes["Aok"][0] if doc["ok"] else facts.layout.codes["Abad"][0]
        copy.update(ccy="EUR", vat="V0", system="A", gone=False)
        facts.docs["A"].append(copy)
    facts.docs["A"].sort(key=lambda doc: (doc["ent"], doc["day"]))


def _renewals(facts: _Facts) -> None:
    """Add contracts of customers whose former contract has just ended."""
    spec, today = facts.spec, _ordinal(facts.spec.today)
    low, high = _ordinal(spec.first) - 20, _ordinal(spec.end) + 20
    cutover = _ordinal(spec.cutover)
    number = 80_000_000 + facts.below(1_000_000)
    ended = [
        doc for system in "LN" for doc in facts.docs[system]
        if doc["day2"] is not None and low <= doc["day2"] < high and doc["org"] != "MIG"
    ]  # fmt: skip
    for doc in facts.sample(ended, len(ended) // 3):
        begun = doc["day2"] + 1 + facts.below(80)
        if begun > today:
            continue
        number += 1
        system = "L" if begun < cutover else "N"
        code = facts.layout.codes["Ltyp" if system == "L" else "Nok"][0]
        again = {
            **doc, "day": begun, "day2": None, "alt": None, "bil": begun, "ent": begun, "ok": True,
            "gone": False, "no": f"{facts.layout.prefixes[system]}{number}", "code": code,
            "org": "STD", "system": system,
        }  # fmt: skip
        facts.docs[system].append(again)


def _credits(facts: _Facts) -> None:
    spec = facts.spec
    cutover, today = _ordinal(spec.cutover), _ordinal(spec.today)
    number = 60_000_000 + facts.below(1_000_000)
    oldest = _ordinal(spec.first) - 220
    for system in "LNA":
        for doc in facts.docs[system]:
            counts = "credits" in spec.twists or doc["day"] < oldest
            if doc["org"] in ("MIG", "PAR") or not facts.chance(0.2 if counts else 0.05):
                continue
            day = doc["day"] + 3 + facts.below(70)
            place = "N" if system == "L" and day >= cutover else system
            late = 30 if "late" in spec.twists and facts.chance(0.15) else 0
            ent = day + facts.below(4) + late
            if ent > today:
                continue
            number += 1
            good = {"L": "Lcred", "N": "Nok", "A": "Aok"}[place]
            bad = {"L": "Lbad", "N": "Nbad", "A": "Abad"}[place]
            code = facts.layout.codes[good if counts and facts.chance(0.93) else bad][0]
            share = (0.1, 0.25, 0.5, 1.0)[facts.below(4)]
            facts.credits[place].append({
                "no": f"{facts.layout.prefixes[place]}{number}", "ref": doc["no"], "day": day,
                "ent": ent, "val": round(doc["val"] * share, 2), "ccy": doc["ccy"],
                "vat": doc["vat"], "code": code, "gone": facts.chance(0.05), "cust": doc["cust"],
                "itm": doc["itm"], "of": system,
            })  # fmt: skip


def _payments(facts: _Facts) -> None:
    cutover, today = _ordinal(facts.spec.cutover), _ordinal(facts.spec.today)
    number = 20_000_000 + facts.below(1_000_000)
    for system in "LNA":
        for doc in facts.docs[system]:
            if doc["org"] in ("MIG", "PAR") or not facts.chance(0.72):
                continue
            day = doc["day2"] - 12 + facts.below(45)
            ent = day + facts.below(3)
            if ent > today:
                continue
            number += 1
            place = "N" if system == "L" and day >= cutover else system
            share = 1.0 if facts.chance(0.75) else (0.3, 0.5, 0.8)[facts.below(3)]
            facts.payments[place].append({
                "no": f"{facts.layout.prefixes[place]}{number}", "ref": doc["no"], "day": day,
                "ent": ent, "val": round(doc["val"] * share, 2), "gone": facts.chance(0.06),
                "code": facts.layout.codes["Aok"][0], "of": system,
            })  # fmt: skip


def _corrections(facts: _Facts, stored: Stored) -> None:
    """Draw batches of corrected amounts, in euros; without the twist, none is released."""
    spec = facts.spec
    low, high = _ordinal(spec.first) - 30, _ordinal(spec.end) + 10
    able = [
        doc for system in "LNA" for doc in facts.docs[system]
        if doc["ok"] and doc["org"] != "MIG"
        and (spec.flow == "ctr" or low <= doc["day"] < high)
    ]  # fmt: skip
    today = _ordinal(spec.today)
    number = 400 + facts.below(300)
    batches: list[Row] = []
    lines: list[Row] = []
    reasons = ("price list", "wrong article", "typing error", "settlement", "recount")
    states = ("REL", "REL", "DRF", "REJ") if "restated" in spec.twists else ("DRF", "REJ", "DRF")
    chosen = facts.sample(able, 50)
    for place, state in enumerate(states):
        number += 1 + facts.below(9)
        day = date.fromordinal(today - 40 + 9 * place + facts.below(8)).isoformat()
        area = {"sale": "AR", "ctr": "CT", "dlv": "LG"}[spec.flow]
        batches.append((f"B{number}", state, day, area))
        for doc in facts.sample(chosen, 30):
            factor = (0.0, 0.5, 0.6, 1.4, 2.0)[facts.below(5)]
            value = round(doc["val"] * factor, 2)
            lines.append((f"B{number}", doc["no"], value, reasons[facts.below(5)]))
    stored["batch"] = facts.sample(batches, len(batches))
    stored["corr"] = facts.sample(lines, len(lines))


# -- storing -------------------------------------------------------------------------------------


def _store(facts: _Facts, stored: Stored) -> None:
    flow = facts.spec.flow
    for system in "LNA":
        role = system + flow
        docs = [*facts.docs[system]]
        if system == "L":
            docs += [{**doc, "day2": None, "alt": None, "bil": None} for doc in facts.credits["L"]]
            docs.sort(key=lambda doc: (doc["ent"], doc["no"]))
        stored[role] = [_encoded(facts, role, doc) for doc in docs]
        if flow == "sale":
            stored[system + "pay"] = [
                _encoded(facts, system + "pay", doc) for doc in facts.payments[system]
            ]
            if system != "L":
                stored[system + "cred"] = [
                    _encoded(facts, system + "cred", doc) for doc in facts.credits[system]
                ]


def _encoded(facts: _Facts, role: str, doc: Doc) -> Row:
    return tuple(_stored_value(facts, role, name, doc) for name in FIELDS[role])


def _stored_value(facts: _Facts, role: str, name: str, doc: Doc) -> Value:
    system = role[0]
    if name in ("day", "day2", "alt", "bil", "ent"):
        return _stored_day(system, doc.get(name), facts.layout.dotted)
    if name == "val":
        return _stored_amount(facts, role, doc)
    if name == "cust":
        number: int = doc["cust"]
        if system == "A":
            return _typed(facts.accounts.get(number, ""), doc["no"])
        return f"{number:010d}" if system == "L" else number
    if name == "typ":
        code: str = doc["code"]
        return code
    if name == "stat":
        if system == "A":
            deleted = facts.layout.codes["Adel"][0]
            return int(deleted if doc["gone"] else doc["code"])
        return str(doc["code"])
    if name == "del":
        if system == "L":
            return "X" if doc["gone"] else ""
        day = date.fromordinal(doc["ent"] + 2).isoformat()
        return f"{day} 06:10:00" if doc["gone"] else None
    value: Value = doc.get(name)
    return value


def _typed(account: str, number: str) -> str:
    """Return an account as a clerk typed it: some in small letters or with a blank."""
    return {"3": account.lower(), "8": f"{account} "}.get(number[-1], account)


def _stored_day(system: str, day: int | None, dotted: bool) -> Value:
    if day is None:
        return None
    text = date.fromordinal(day).isoformat()
    if system == "L":
        return int(text.replace("-", ""))
    if system == "N":
        return text
    return f"{text[8:]}.{text[5:7]}.{text[:4]}" if dotted else f"{text} 00:00:00"


def _stored_amount(facts: _Facts, role: str, doc: Doc) -> float:
    value: float = doc["val"]
    if role[0] != "A":
        return value
    spec, flow = facts.spec, facts.spec.flow
    sign = -1 if role == "Acred" else 1
    if (doc["day"] if flow == "ctr" else doc["ent"]) < _ordinal(spec.release):
        value = value / UNIT[flow] if flow == "dlv" else value * UNIT[flow]
    return sign * round(value, 2)


def shadow_of(rows: Sequence[Row], place: int) -> list[Row]:
    """Return the rows of a dead copy: the older half, some of whose amounts differ."""
    kept = rows[: max(3, len(rows) * (5 - place) // 8)]
    return [
        tuple(
            round(value * 1.1, 2) if isinstance(value, float) and number % 4 == 0 else value
            for value in row
        )
        for number, row in enumerate(kept)
    ]
