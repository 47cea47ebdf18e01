"""The documents and other facts of one population of an estate, before they are stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import numpy as np

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.draws import ValueDraw
from hexathlon.tasks.sql.estates.layout import EstateLayout
from hexathlon.tasks.sql.estates.spec import AS_OF, SEGMENTS, SETTLEMENT, EstateSpec, split_of
from hexathlon.tasks.sql.pools import pool_name
from hexathlon.tasks.sql.schema import Row

__all__ = ["Doc", "EstateFacts", "draw_facts", "ordinal"]

Doc = dict[str, Any]
"""Fields of a document by name; days are ordinals."""

_CUSTOMERS = 150
_ACCOUNTS = 60
_DOCS = {"sale": 1_000, "ctr": 700, "dlv": 1_000}
_ACQUIRED = {"sale": 420, "ctr": 380, "dlv": 420}
_EDGE = 0.05
"""Share of documents at days where a rule changes."""
_GOOD: Mapping[str, str] = {"L": "Ltyp", "N": "Nok", "A": "Aok"}
_BAD: Mapping[str, str] = {"L": "Lbad", "N": "Nbad", "A": "Abad"}
"""Keys of the codes of documents that count and of others, by system."""


@dataclass
class EstateFacts:
    """Drawn documents, and rows of tables that are stored as they are drawn."""

    spec: EstateSpec
    layout: EstateLayout
    draw: ValueDraw
    docs: dict[str, list[Doc]] = field(default_factory=lambda: {"L": [], "N": [], "A": []})
    credits: dict[str, list[Doc]] = field(default_factory=lambda: {"L": [], "N": [], "A": []})
    payments: dict[str, list[Doc]] = field(default_factory=lambda: {"L": [], "N": [], "A": []})
    ids: list[int] = field(default_factory=list)
    accounts: dict[int, str] = field(default_factory=dict)
    """Account of the acquired firm by customer."""
    rows: dict[str, list[Row]] = field(default_factory=dict)
    """Rows of customers, accounts, lists and corrections, by role."""


def draw_facts(spec: EstateSpec, layout: EstateLayout, population: int) -> EstateFacts:
    """Draw one population."""
    draw = ValueDraw(generator_for("sql-estate-rows", spec.company, spec.metric, population))
    facts = EstateFacts(spec, layout, draw)
    _customers(facts)
    _documents(facts)
    _copies(facts)
    if spec.flow == "ctr" and "renewals" in spec.twists:
        _renewals(facts)
    if spec.flow == "sale":
        _credits(facts)
        _payments(facts)
    _corrections(facts)
    return facts


def ordinal(day: str) -> int:
    """Return the ordinal of a date."""
    return date.fromisoformat(day).toordinal()


def _customers(facts: EstateFacts) -> None:
    spec, rng, layout = facts.spec, facts.draw.rng, facts.layout
    districts = sorted({row[0] for row in spec.districts})
    ids, facts.accounts = _people(layout)
    facts.ids = ids
    into: dict[int, int] = {}
    if "merged" in spec.twists:
        pairs = facts.draw.sample(ids, 44)
        into = dict(zip(pairs[:22], pairs[22:], strict=True))
    split = split_of(spec.company)
    names = [pool_name("company", split, int(n)) for n in rng.permutation(400)[:_CUSTOMERS]]
    segments = tuple(SEGMENTS)
    facts.rows["cust"] = [
        (
            number, name, districts[int(place)], segments[int(segment)], into.get(number),
        )
        for number, name, place, segment in zip(
            ids, names, rng.integers(len(districts), size=len(ids)),
            rng.integers(len(segments), size=len(ids)), strict=True,
        )
    ]  # fmt: skip
    towns = ("Ashby", "Corvin", "Delmar", "Estrel", "Fenwick", "Grasse")
    called = dict(zip(ids, names, strict=True))
    facts.rows["acct"] = [
        (code, called[number].upper() if facts.draw.chance(0.4) else called[number],
         towns[facts.draw.below(6)])
        for number, code in sorted(facts.accounts.items(), key=lambda item: item[1])
    ]  # fmt: skip
    old = [(layout.systems["L"].upper(), f"{number:010d}", number) for number in ids]
    acquired = [
        (layout.systems["A"].upper(), code, number) for number, code in facts.accounts.items()
    ]
    facts.rows["xref"] = facts.draw.sample([*old, *acquired], len(old) + len(acquired))
    facts.rows["excl"] = _exclusions(facts, ids)


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


def _exclusions(facts: EstateFacts, ids: list[int]) -> list[Row]:
    spec, (own, other) = facts.spec, facts.layout.lists
    rows: list[Row] = []
    middle = date.fromordinal((ordinal(spec.first) + ordinal(spec.end)) // 2).isoformat()
    chosen = facts.draw.sample(sorted(facts.accounts), 8) + facts.draw.sample(ids, 22)
    for place, number in enumerate(dict.fromkeys(chosen)):
        text = str(number)
        if place % 3 == 2:
            rows.append((other, text, "2017-05-01", None))
        elif "excluded" not in spec.twists:
            rows.append((own, text, "2016-01-01", "2018-12-31"))
        elif place % 3 == 0:
            rows.append((own, text, "2019-02-01", None))
        elif facts.draw.chance(0.5):
            rows.append((own, text, "2019-02-01", middle))
        else:
            rows.append((own, text, middle, None))
    return facts.draw.sample(rows, len(rows))


# -- documents -----------------------------------------------------------------------------------


def _documents(facts: EstateFacts) -> None:
    spec, flow = facts.spec, facts.spec.flow
    cutover = ordinal(spec.cutover)
    for doc in _drawn(facts, _DOCS[flow], None):
        facts.docs["L" if doc["day"] < cutover else "N"].append(doc)
    for doc in _drawn(facts, 130, cutover):
        facts.docs["L"].append(doc)
    facts.docs["A"] = _drawn(facts, _ACQUIRED[flow], None, sorted(facts.accounts))
    for system in "LNA":
        _finish(facts, system)
    _overlap(facts, cutover)


def _drawn(
    facts: EstateFacts, number: int, before: int | None, customers: Sequence[int] = ()
) -> list[Doc]:
    """Draw documents; with `before`, only old ones, which ended before that day."""
    spec, rng, flow = facts.spec, facts.draw.rng, facts.spec.flow
    first, end, today = ordinal(spec.first), ordinal(spec.end), ordinal(spec.today)
    low, high = (first - 75, end) if spec.metric == "overdue" else (first - 25, end + 25)
    near = rng.integers(low, high, size=number)
    far = rng.integers(first - 520, today + 1, size=number)
    days = np.where(rng.random(number) < 0.65, near, far)
    if before is not None:
        days = rng.integers(before - 500, before - 60, size=number)
    else:
        edges = [ordinal(day) for day in _edges(spec)]
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
    """Return days at which a rule of the task changes; some occur twice, to be drawn more often."""
    moves = [row[2] for row in spec.districts if row[2] > "2016"]
    last = date.fromordinal(ordinal(spec.first) - 1).isoformat()
    return [spec.first, last, spec.day, spec.day, spec.end, spec.consolidation, *moves[:1],
            spec.vat[1][1]]  # fmt: skip


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
        begun = ordinal(spec.day) - spans[0] % 620 + 20
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


def _finish(facts: EstateFacts, system: str) -> None:
    """Give document numbers, codes, currencies and references."""
    spec, codes = facts.spec, facts.layout.codes
    docs = facts.docs[system]
    docs.sort(key=lambda doc: (doc["ent"], doc["day"]))
    number = 40_000 + facts.draw.below(30_000)
    rolls = facts.draw.rng.random((len(docs), 4)).tolist()
    for doc, roll in zip(docs, rolls, strict=True):
        number += 1 + int(roll[0] * 4)
        doc["no"] = f"{facts.layout.prefixes[system]}{number:08d}"
        doc["org"] = "WEB" if roll[1] < 0.2 else "STD"
        doc["ext"] = f"PO-{int(roll[2] * 90_000) + 10_000}" if roll[1] < 0.35 else None
        doc["ccy"] = spec.currency if roll[3] < 0.7 else "EUR"
        doc["vat"] = ("V1", "V1", "V1", "V2", "V0")[int(roll[2] * 5)]
        options = codes[(_GOOD if doc["ok"] else _BAD)[system]]
        doc["code"] = options[int(roll[0] * len(options))]


def _overlap(facts: EstateFacts, cutover: int) -> None:
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
        if cutover <= doc["day"] < cutover + 50 and facts.draw.chance(0.7)
    ]
    number = 90_000_000 + facts.draw.below(1_000_000)
    codes = facts.layout.codes
    for doc in migrated:
        number += 1
        doc["no"] = f"{facts.layout.prefixes['N']}{number}"
        doc["code"] = codes["Nok" if doc["ok"] else "Nbad"][0]
        doc["gone"] = False
    for doc in both:
        number += 1
        doc["org"] = "PAR"  # not stored; nothing refers to these rows
        doc["no"] = f"{number:08d}"
        doc["code"] = codes["Ltyp" if doc["ok"] else "Lbad"][0]
    facts.docs["N"] += migrated
    facts.docs["L"] += both


def _copies(facts: EstateFacts) -> None:
    """Key documents of the successor in the acquired firm's system, too."""
    spec = facts.spec
    if "copies" not in spec.twists:
        return
    low, high = ordinal(spec.first) - 40, ordinal(spec.end) + 20
    able = [
        doc for doc in facts.docs["N"]
        if doc["org"] != "MIG" and doc["cust"] in facts.accounts
        and (spec.flow == "ctr" or low <= doc["day2" if spec.flow == "dlv" else "day"] < high)
    ]  # fmt: skip
    number = 7_000_000 + facts.draw.below(100_000)
    for doc in facts.draw.sample(able, 70):
        number += 1 + facts.draw.below(5)
        copy = {**doc, "ext": doc["no"], "no": f"{facts.layout.prefixes['A']}{number:08d}"}
        copy["code"] = facts.layout.codes["Aok" if doc["ok"] else "Abad"][0]
        copy.update(ccy="EUR", vat="V0", gone=False)
        facts.docs["A"].append(copy)
    facts.docs["A"].sort(key=lambda doc: (doc["ent"], doc["day"]))


def _renewals(facts: EstateFacts) -> None:
    """Add contracts of customers whose former contract has just ended."""
    spec, today = facts.spec, ordinal(facts.spec.today)
    low, high = ordinal(spec.first) - 20, ordinal(spec.end) + 20
    cutover = ordinal(spec.cutover)
    number = 80_000_000 + facts.draw.below(1_000_000)
    ended = [
        doc for system in "LN" for doc in facts.docs[system]
        if doc["day2"] is not None and low <= doc["day2"] < high and doc["org"] != "MIG"
    ]  # fmt: skip
    for doc in facts.draw.sample(ended, len(ended) // 3):
        begun = doc["day2"] + 1 + facts.draw.below(80)
        if begun > today:
            continue
        number += 1
        system = "L" if begun < cutover else "N"
        code = facts.layout.codes["Ltyp" if system == "L" else "Nok"][0]
        again = {
            **doc, "day": begun, "day2": None, "alt": None, "bil": begun, "ent": begun, "ok": True,
            "gone": False, "no": f"{facts.layout.prefixes[system]}{number}", "code": code,
            "org": "STD",
        }  # fmt: skip
        facts.docs[system].append(again)


def _credits(facts: EstateFacts) -> None:
    spec, codes = facts.spec, facts.layout.codes
    cutover, today = ordinal(spec.cutover), ordinal(spec.today)
    number = 60_000_000 + facts.draw.below(1_000_000)
    oldest = ordinal(spec.first) - 220
    for system in "LNA":
        for doc in facts.docs[system]:
            counts = "credits" in spec.twists or doc["day"] < oldest
            if doc["org"] in ("MIG", "PAR") or not facts.draw.chance(0.2 if counts else 0.05):
                continue
            day = doc["day"] + 3 + facts.draw.below(70)
            place = "N" if system == "L" and day >= cutover else system
            late = 30 if "late" in spec.twists and facts.draw.chance(0.15) else 0
            ent = day + facts.draw.below(4) + late
            if ent > today:
                continue
            number += 1
            good = "Lcred" if place == "L" else _GOOD[place]
            code = codes[good if counts and facts.draw.chance(0.93) else _BAD[place]][0]
            share = (0.1, 0.25, 0.5, 1.0)[facts.draw.below(4)]
            facts.credits[place].append({
                "no": f"{facts.layout.prefixes[place]}{number}", "ref": doc["no"], "day": day,
                "ent": ent, "val": round(doc["val"] * share, 2), "ccy": doc["ccy"],
                "vat": doc["vat"], "code": code, "gone": facts.draw.chance(0.05),
                "cust": doc["cust"], "itm": doc["itm"],
            })  # fmt: skip


def _payments(facts: EstateFacts) -> None:
    cutover, today = ordinal(facts.spec.cutover), ordinal(facts.spec.today)
    number = 20_000_000 + facts.draw.below(1_000_000)
    for system in "LNA":
        for doc in facts.docs[system]:
            if doc["org"] in ("MIG", "PAR") or not facts.draw.chance(0.72):
                continue
            day = doc["day2"] - 12 + facts.draw.below(45)
            ent = day + facts.draw.below(3)
            if ent > today:
                continue
            number += 1
            place = "N" if system == "L" and day >= cutover else system
            share = 1.0 if facts.draw.chance(0.75) else (0.3, 0.5, 0.8)[facts.draw.below(3)]
            facts.payments[place].append({
                "no": f"{facts.layout.prefixes[place]}{number}", "ref": doc["no"], "day": day,
                "ent": ent, "val": round(doc["val"] * share, 2), "gone": facts.draw.chance(0.06),
                "code": facts.layout.codes["Aok"][0],
            })  # fmt: skip


def _corrections(facts: EstateFacts) -> None:
    """Draw batches of corrected amounts, in euros; without the twist, none is released."""
    spec = facts.spec
    low, high = ordinal(spec.first) - 30, ordinal(spec.end) + 10
    able = [
        doc for system in "LNA" for doc in facts.docs[system]
        if doc["ok"] and doc["org"] != "MIG"
        and (spec.flow == "ctr" or low <= doc["day"] < high)
    ]  # fmt: skip
    today = ordinal(spec.today)
    number = 400 + facts.draw.below(300)
    batches: list[Row] = []
    lines: list[Row] = []
    reasons = ("price list", "wrong article", "typing error", SETTLEMENT, "recount")
    states = ("REL", "REL", "DRF", "REJ") if "restated" in spec.twists else ("DRF", "REJ", "DRF")
    chosen = facts.draw.sample(able, 50)
    for place, state in enumerate(states):
        number += 1 + facts.draw.below(9)
        day = date.fromordinal(today - 40 + 9 * place + facts.draw.below(8)).isoformat()
        area = {"sale": "AR", "ctr": "CT", "dlv": "LG"}[spec.flow]
        batches.append((f"B{number}", state, day, area))
        for doc in facts.draw.sample(chosen, 30):
            factor = (0.0, 0.5, 0.6, 1.4, 2.0)[facts.draw.below(5)]
            value = round(doc["val"] * factor, 2)
            lines.append((f"B{number}", doc["no"], value, reasons[facts.draw.below(5)]))
    facts.rows["batch"] = facts.draw.sample(batches, len(batches))
    facts.rows["corr"] = facts.draw.sample(lines, len(lines))
