"""The register of metrics: entries by topic, of which one binds, and who may sign them."""

from collections.abc import Mapping
from dataclasses import replace

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.draws import ValueDraw, shifted
from hexathlon.tasks.sql.estates.layout import EstateLayout
from hexathlon.tasks.sql.estates.spec import AS_OF, KEPT_SEGMENT, SETTLEMENT, EstateSpec
from hexathlon.tasks.sql.schema import Row

__all__ = ["BASIS", "METRIC_NAMES", "TOPICS", "register", "ruling", "signatories"]

METRIC_NAMES: Mapping[str, str] = {
    "revenue": "net revenue", "clients": "net revenue", "overdue": "overdue exposure",
    "churn": "contract churn", "recurring": "recurring fees", "punctual": "delivery punctuality",
}  # fmt: skip
BASIS: Mapping[str, tuple[str, str]] = {
    "revenue": ("invoice date", "service date"), "clients": ("invoice date", "service date"),
    "overdue": ("original due date", "extended due date"), "churn": ("end date", "notice date"),
    "recurring": ("contract start", "billing start"),
    "punctual": ("first promised date", "last confirmed date"),
}  # fmt: skip
"""The two dates between which `basis` decides: `own` and `alt`."""
TOPICS: Mapping[str, tuple[str, ...]] = {
    "revenue": ("date", "currency", "region", "exclusions", "late", "credits", "corrections"),
    "clients": ("date", "currency", "exclusions", "late", "credits", "corrections", "mergers"),
    "overdue": ("date", "currency", "region", "exclusions", "corrections"),
    "churn": ("date", "currency", "region", "exclusions", "late", "renewals", "corrections"),
    "recurring": ("date", "currency", "exclusions", "corrections", "mergers"),
    "punctual": ("date", "region", "exclusions", "late", "tolerance", "corrections"),
}  # fmt: skip
_STANDS: Mapping[str, str] = {
    "revenue": "The reference date is the {}.", "clients": "The reference date is the {}.",
    "overdue": "Due means the {}.", "churn": "The reference date is the {}.",
    "recurring": "A contract is running from its {} on.",
    "punctual": "On time is measured against the {}.",
}  # fmt: skip


_RULINGS: Mapping[str, Mapping[str, str]] = {
    "currency": {
        "A": "Foreign currency is converted at the average rate of the month of the {day}.",
        "E": "Foreign currency is converted at the month-end rate of the month of the {day}.",
    },
    "region": {
        "then": "Region: the one to which the customer's district belonged on the {day}.",
        "now": "Region: today's assignment of the customer's district, for past periods as well.",
    },
    "exclusions": {
        "list": "Customers that are on list {excluded} on the {day} do not count (test, internal "
        "and pass-through accounts), except those of segment {kept}.",
        "none": "No customer is left out of this figure.",
    },
    "late": {
        "moved": "If the entry date lies after the closing day of the reference date's period, the "
        "entry date replaces the reference date in every respect.",
        "stays": "What is entered after closing still counts in the period of its reference date.",
    },
    "credits": {
        "own": "A credit note has a reference date of its own, the date of the note, which decides "
        "on period and rate. Customer, region and exclusion follow its invoice.",
        "ref": "A credit note takes the reference date of its invoice, whatever its own date, and "
        "likewise its customer, region and exclusion.",
    },
    "corrections": {
        "released": "A correction replaces the amount of its document, nothing else. Drafts, "
        "rejected batches and lines with the reason '{settlement}' do not count; of the others, "
        "the one released last does.",
        "ledger": "Correction batches concern the ledger only. This figure is taken from "
        "documents.",
    },
    "mergers": {
        "merged": "A customer that was merged into another one is reported as that one.",
        "apart": "Every customer number is reported separately, merged or not.",
    },
    "renewals": {
        "kept": "No churn if a contract of the same customer that counts in its system starts "
        "after the end date, at most {renewal} days later, as set on the end date.",
        "ends": "A contract that ends is churn, whatever the customer signs afterwards.",
    },
    "tolerance": {
        "grace": "A delivery up to {tolerance} days after that date is on time; the setting is "
        "that of the day of delivery.",
        "none": "There is no grace period: a day late is late.",
    },
}
"""Texts of the two choices of each topic except `date`."""


def _date(metric: str, choice: str) -> str:
    """Return the text on the date that counts: `own`, `alt` or `asked`."""
    own, alt = BASIS[metric]
    if choice == "asked":
        return (
            f"Both {own} and {alt} are in use, and neither is the default: whoever asks for the "
            "figure says which one is meant."
        )
    text = _STANDS[metric].format(own if choice == "own" else alt)
    if metric == "overdue" and choice == "alt":
        text += " Without one, the original due date stands."
    return text


def _choice(spec: EstateSpec, topic: str) -> str:
    """Return what holds."""
    active = spec.twists
    return {
        "date": "asked" if spec.asked else spec.basis, "currency": spec.fx_rule,
        "region": spec.region_rule, "exclusions": "list",
        "late": "moved" if "late" in active else "stays", "credits": spec.credit_rule,
        "corrections": "released", "mergers": "merged" if "merged" in active else "apart",
        "renewals": "kept" if "renewals" in active else "ends",
        "tolerance": "grace" if "tolerance" in active else "none",
    }[topic]  # fmt: skip


def ruling(spec: EstateSpec, layout: EstateLayout, topic: str, *, right: bool) -> str:
    """Return the text of a topic as it holds, or as a rival has it."""
    held = _choice(spec, topic)
    choices = _RULINGS[topic] if topic in _RULINGS else ("own", "alt")
    choice = held if right else next(each for each in choices if each != held)
    if topic == "date":
        return _date(spec.metric, choice)
    return _RULINGS[topic][choice].format(
        day="reporting day" if spec.metric in AS_OF else "reference date",
        excluded=layout.lists[0], kept=KEPT_SEGMENT, settlement=SETTLEMENT,
        tolerance=layout.settings[0], renewal=layout.settings[1],
    )  # fmt: skip


_PEOPLE = ("A. Ritter", "B. Okoye", "C. Sundberg", "D. Marques", "E. Falk", "F. Tanaka")
_BODIES = ("Group Controlling", "Group Controlling", "Sales Operations", "Data Office",
           "Group Controlling", "Regional Management")  # fmt: skip


def signatories(spec: EstateSpec) -> list[Row]:
    """Return who may sign for whom, and when."""
    draw = ValueDraw(generator_for("sql-estate-sign", spec.company))
    people = draw.sample(_PEOPLE, 6)
    gone = shifted(spec.first, -draw.between(300, 420))
    rows: list[Row] = []
    for place, (who, body) in enumerate(zip(people, _BODIES, strict=True)):
        last = gone if place == 1 else None
        first = gone if place == 4 else "2016-03-01"
        rows.append((who, body, first, last))
    return rows


def register(spec: EstateSpec, layout: EstateLayout) -> list[Row]:
    """Return the entries of the register: binding ones, superseded ones and ones without effect."""
    draw = ValueDraw(generator_for(
        "sql-estate-register", spec.company, spec.metric, *sorted(spec.twists), spec.first
    ))  # fmt: skip
    mandates = signatories(spec)
    people = [str(row[0]) for row in mandates]
    gone = next(str(row[3]) for row in mandates if row[3])
    entries: list[Row] = []

    def add(metric: str, topic: str, text: str, first: str, by: str, on: str) -> None:
        entries.append((None, metric, topic, text, first, by, on))

    for metric in TOPICS:
        name = METRIC_NAMES[metric]
        if metric != spec.metric and name == METRIC_NAMES[spec.metric]:
            continue
        mine = metric == spec.metric
        for topic in TOPICS[metric]:
            about = spec if mine else replace(spec, metric=metric, asked=False)
            flip = not mine and draw.chance(0.4)
            text = ruling(about, layout, topic, right=not flip)
            rival = ruling(about, layout, topic, right=flip)
            since = shifted(spec.first, -draw.between(40, 280))
            add(name, topic, text, since, people[draw.pick((0, 4)) if since > gone else 0],
                max(shifted(since, -draw.between(5, 20)), shifted(gone, 1)) if since > gone
                else shifted(since, -draw.between(5, 20)))  # fmt: skip
            if draw.chance(0.55):
                old = shifted(gone, -draw.between(200, 900))
                add(name, topic, rival, old, people[draw.pick((0, 1))], shifted(old, -12))
            kind = draw.below(4) if mine else draw.below(6)
            later = shifted(since, draw.between(15, 60))
            if kind == 0:
                add(name, topic, rival, later, people[draw.pick((2, 3, 5))], shifted(later, -9))
            elif kind == 1:
                later = max(later, shifted(gone, 40))
                add(name, topic, rival, later, people[1], shifted(later, -draw.between(4, 20)))
            elif kind == 2:
                ahead = shifted(spec.today, draw.between(20, 90))
                add(name, topic, rival, ahead, people[0], shifted(spec.today, -draw.between(3, 30)))
    number = draw.between(110, 300)
    listed: list[Row] = []
    for entry in sorted(entries, key=lambda row: (str(row[6]), str(row[1]), str(row[2]))):
        number += draw.between(1, 4)
        listed.append((f"M-{number}", *entry[1:]))
    return draw.sample(listed, len(listed))
