"""Rows of an estate's core tables, as its systems store one population of facts."""

from collections.abc import Sequence
from datetime import date

from hexathlon.tasks.sql.estates.facts import Doc, EstateFacts, draw_facts, ordinal
from hexathlon.tasks.sql.estates.layout import FIELDS, EstateLayout
from hexathlon.tasks.sql.estates.spec import UNIT, EstateSpec
from hexathlon.tasks.sql.schema import Row, Value

__all__ = ["dead_copy_of", "draw_rows"]


def draw_rows(spec: EstateSpec, layout: EstateLayout, population: int) -> dict[str, list[Row]]:
    """Return the rows of the tables that matter for a task, by role."""
    facts = draw_facts(spec, layout, population)
    stored = dict(facts.rows)
    flow = spec.flow
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
    return stored


def _encoded(facts: EstateFacts, role: str, doc: Doc) -> Row:
    return tuple(_stored_value(facts, role, name, doc) for name in FIELDS[role])


def _stored_value(facts: EstateFacts, role: str, name: str, doc: Doc) -> Value:
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


def _stored_amount(facts: EstateFacts, role: str, doc: Doc) -> float:
    value: float = doc["val"]
    if role[0] != "A":
        return value
    spec, flow = facts.spec, facts.spec.flow
    sign = -1 if role == "Acred" else 1
    if (doc["day"] if flow == "ctr" else doc["ent"]) < ordinal(spec.release):
        value = value / UNIT[flow] if flow == "dlv" else value * UNIT[flow]
    return sign * round(value, 2)


def dead_copy_of(rows: Sequence[Row], place: int) -> list[Row]:
    """Return the rows of a dead copy: the older half, some of whose amounts differ."""
    kept = rows[: max(3, len(rows) * (5 - place) // 8)]
    return [
        tuple(
            round(value * 1.1, 2) if isinstance(value, float) and number % 4 == 0 else value
            for value in row
        )
        for number, row in enumerate(kept)
    ]
