"""Second derivation of a shift: rules in force, from the texts of the pages; results, by SQL."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.handbook import pages_of
from hexathlon.tasks.web.templates.shifts.ledger import DayStep
from hexathlon.tasks.web.templates.shifts.plans import (
    MARGIN,
    PlanTerms,
    WorkOffer,
    plan_cost,
    plans_within,
)
from hexathlon.tasks.web.templates.shifts.rules import DayRules, RulesInForce
from hexathlon.tasks.web.templates.shifts.stages import Writing
from hexathlon.tasks.web.world.network import Edit, WorldPlan, initial_blobs, state_diff
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["reread", "replayed"]

_HOLD = re.compile(r"^(\w+): \S.* (\S+) · (hold|release|冻结|解冻) · (\S+) · (.+)$")
_CLOSURE = re.compile(r"^(C-\d+) · (\w+): (.+) · (\S+) – (\S+) · (.+)$")
_MANDATE = re.compile(r"^(.+) <(.+)> · (\w+) · (\S+) – (\S+) · (.+)$")
_TERM = re.compile(r"no more than (\d+) days|距其日期不超过(\d+)天")
_OFFER = re.compile(r"^(O-\d+) · (.+) · (.+) · €?(\d+)(?:欧元)? · (\d+)\D+ · (.+)$")
_CHARGE = re.compile(r"^([^·]+) · €?(\d+)(?:欧元)?$")
_SAVING = re.compile(
    r"^(.+) \+ (.+) · (?:€(\d+) off|€(\d+) extra|减(\d+)欧元|加(\d+)欧元)$", re.MULTILINE
)
_LIMITS = re.compile(
    r"more than (\d+) works or works of more than (\d+) days together"
    r"|承接的工程不超过(\d+)项，天数合计不超过(\d+)天"
)
_PAIR = r"(?:\. |。)([^.。]+?)(?: and |与)([^.。]+?)(?: go to |由)"
_APART = re.compile(_PAIR + "(?:different firms|不同公司)")
_TOGETHER = re.compile(_PAIR + "(?:the same firm|同一公司)")
_REBATE = re.compile(r"takes €(\d+) off|减收(\d+)欧元")
_PACE = re.compile(r"at most (\d+) records of each site|每个网站最多给(\d+)条记录")
_HEAD = re.compile(r"^R-\d+ (?:Mandates\. |授权。)(.+?) ?[(（](.+?)[)）]")


def reread(scene: WebScene, steps: Sequence[DayStep]) -> bool:
    """Whether the texts of the pages state the rules in force, at every request."""
    checked: list[tuple[DayRules, bool]] = []
    planning = False
    for step in steps:
        planning |= step.plan
        if any(step.rules is each and planning is plan for each, plan in checked):
            continue
        checked.append((step.rules, planning))
        force = step.rules.in_force()
        pages = pages_of(step.rules, scene)
        mandates, held, closures = _read(pages, step.rules.today)
        if planning and not _same_plan(
            pages, force, {each for each, site in mandates if site == "mail"}
        ):
            return False
        head = {(force.head, site) for _, site in force.mandates}
        if (
            mandates - head != force.mandates - head
            or held != force.held
            or closures != {each.number for each in force.closures}
            or _numbers(_PACE, pages["day-rules"]) != [str(force.pace)] * bool(force.pace)
        ):
            return False
    return True


def _same_plan(pages: Mapping[str, str], force: RulesInForce, entitled: set[str]) -> bool:
    """Whether an exhaustive search over the page's offers gives the same unique plan."""
    names = {
        name
        for name, address in force.addresses.items()
        if address in entitled or address == force.head
    }
    lines = [
        match.groups() for line in pages["day-offers"].splitlines() if (match := _OFFER.match(line))
    ]
    offers = [
        WorkOffer(number, work, firm, int(price), int(days), author)
        for number, work, firm, price, days, author in lines
        if author in names
    ]
    charges = [
        (match[1], int(match[2]))
        for line in pages["day-offers"].splitlines()
        if (match := _CHARGE.match(line))
    ]
    savings = [
        (one, other, int(off or zh_off or 0) - int(extra or zh_extra or 0))
        for one, other, off, extra, zh_off, zh_extra in _SAVING.findall(pages["day-offers"])
    ]
    terms = _terms(pages["day-rules"], charges, savings)
    taken = [each for each in offers if each.number in force.plan]
    most = plan_cost(taken, terms) + MARGIN - 1
    return plans_within(tuple(offers), terms, most) == [force.plan]


def _numbers(pattern: re.Pattern[str], rules: str) -> list[str]:
    """Return what a pattern with one group for each language and value finds; nothing if it fails."""
    match = pattern.search(rules)
    return [] if match is None else [each for each in match.groups() if each]


def _terms(
    rules: str, charges: Sequence[tuple[str, int]], savings: Sequence[tuple[str, str, int]]
) -> PlanTerms:
    found = [_numbers(pattern, rules) for pattern in (_LIMITS, _APART, _TOGETHER, _REBATE)]
    (works, days), apart, together, rebate = found
    return PlanTerms(
        int(days),
        int(works),
        tuple(charges),
        tuple(apart),
        tuple(together),
        int(*rebate),
        tuple(savings),
    )


def _read(
    pages: Mapping[str, str], today: date
) -> tuple[set[tuple[str, str]], set[tuple[str, str]], set[str]]:
    """Return the mandates in force, the records that are held and the closures that count."""
    rules = pages["day-rules"]
    term = next(int(next(filter(None, match.groups()))) for match in _TERM.finditer(rules))
    head = next(match[1] for line in rules.splitlines() if (match := _HEAD.search(line)))
    lines = [
        match.groups()
        for line in pages["day-mandates"].splitlines()
        if (match := _MANDATE.match(line))
    ]

    def sound(name: str, site: str, seen: tuple[str, ...] = ()) -> bool:
        return (
            name == head
            or name not in seen
            and any(
                (who, where) == (name, site)
                and first <= today.isoformat() <= last
                and sound(granter, site, (*seen, name))
                for who, _, where, first, last, granter in lines
            )
        )

    register = pages["day-register"].splitlines()
    latest: dict[tuple[str, str], tuple[str, bool]] = {}
    for match in filter(None, map(_HOLD.match, register)):
        site, label, kind, day, author = match.groups()
        if sound(author, site) and day > latest.get((site, label), ("", False))[0]:
            age = (today - date.fromisoformat(day)).days
            latest[site, label] = day, kind in ("hold", "冻结") and age <= term
    closed = {
        match[1]
        for match in filter(None, map(_CLOSURE.match, register))
        if match[4] <= today.isoformat() <= match[5] and sound(match[6], match[2])
    }
    mandates = {(email, site) for name, email, site, _, _, _ in lines if sound(name, site)}
    return mandates, {place for place, (_, held) in latest.items() if held}, closed


def replayed(
    scene: WebScene,
    plan: WorldPlan,
    turns: Sequence[tuple[Sequence[Edit], Sequence[Writing]]],
    expected: Mapping[str, Any],
) -> bool:
    """Whether carrying out all writes by SQL gives the expected changes and no others.

    Args:
        scene: Source of the shift's draws.
        plan: Its sites in the morning, with their defects.
        turns: By request, the changes of records by others before it, and the agent's saves.
        expected: The agent's changes.
    """
    edits: list[tuple[bool, Edit]] = []
    for others, writings in turns:
        edits += [(False, edit) for edit in others]
        edits += [
            (True, edit) for job, target, values in writings for edit in job.edits(target, values)
        ]
    blobs = dict(initial_blobs(plan))
    found: dict[str, Any] = {}
    for site in {edit[0] for _, edit in edits}:
        whole, without = SiteStore(blobs[site]), SiteStore(blobs[site])
        for own, (place, sql, values) in edits:
            if place == site:
                whole.execute(sql, values)
                if not own:
                    without.execute(sql, values)
        difference = state_diff(without.save(), whole)
        whole.close()
        without.close()
        if difference:
            found[site] = difference
    return _values_expected(expected) == _values_found(found)


def _values_expected(expected: Mapping[str, Any]) -> dict[tuple[str, ...], str]:
    """Return the changed values by site, table, key and column."""
    return {
        (site, table, str(key), name): str(value)
        for site, tables in expected.items()
        for table, kinds in tables.items()
        for key, columns in kinds["changed"]
        for name, value in columns.items()
    }


def _values_found(found: Mapping[str, Any]) -> dict[tuple[str, ...], str]:
    """Return changed values, and added and removed rows, in the same form."""
    values: dict[tuple[str, ...], str] = {}
    for site, tables in found.items():
        for table, kinds in tables.items():
            for before, after in kinds["changed"]:
                key = str(next(iter(after.values())))
                for name in after:
                    if after[name] != before[name]:
                        values[site, table, key, name] = str(after[name])
            for kind in ("added", "removed"):
                for row in kinds[kind]:
                    values[site, table, str(next(iter(row.values()))), kind] = ""
    return values
