"""The register of metrics: entries by topic, of which one binds, and who may sign them."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.estates.layout import EstateLayout
from hexathlon.tasks.sql.estates.spec import EstateSpec
from hexathlon.tasks.sql.schema import Row
from hexathlon.tasks.sql.shifts.draws import ShiftDraw, shifted

__all__ = ["BASIS", "METRIC_NAMES", "TOPICS", "ruling", "signatories", "register"]


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


def _date(spec: EstateSpec, layout: EstateLayout, choice: str) -> str:
    own, alt = BASIS[spec.metric]
    if choice == "asked":
        return (
            f"Both {own} and {alt} are in use, and neither is the default: whoever asks for the "
            "figure says which one is meant."
        )
    text = _STANDS[spec.metric].format(own if choice == "own" else alt)
    if spec.metric == "overdue" and choice == "alt":
        text += " Without one, the original due date stands."
    return text


def _currency(spec: EstateSpec, layout: EstateLayout, choice: str) -> str:
    which = "average" if choice == "A" else "month-end"
    day = "reporting day" if spec.metric in ("overdue", "recurring") else "reference date"
    return f"Foreign currency is converted at the {which} rate of the month of the {day}."


def _region(spec: EstateSpec, layout: EstateLayout, choice: str) -> str:
    when = "the reporting day" if spec.metric == "overdue" else "the reference date"
    if choice == "then":
        return f"Region: the one to which the customer's district belonged on {when}."
    return "Region: today's assignment of the customer's district, for past periods as well."


def _exclusions(spec: EstateSpec, layout: EstateLayout, choice: str) -> str:
    when = "the reporting day" if spec.metric in ("overdue", "recurring") else "the reference date"
    if choice == "list":
        return (
            f"Customers that are on list {layout.lists[0]} on {when} do not count (test, internal "
            "and pass-through accounts)."
        )
    return "No customer is left out of this figure."


def _late(spec: EstateSpec, layout: EstateLayout, choice: str) -> str:
    if choice == "moved":
        return (
            "If the entry date lies after the closing day of the reference date's period, the "
            "entry date takes the place of the reference date in every respect."
        )
    return "What is entered after closing still counts in the period of its reference date."


def _credits(spec: EstateSpec, layout: EstateLayout, choice: str) -> str:
    if choice == "own":
        return (
            "A credit note has a reference date of its own, the date of the note, which decides on "
            "period and rate. Customer, region and exclusion follow its invoice."
        )
    return (
        "A credit note takes the reference date of its invoice, whatever its own date, and "
        "customer, region and exclusion, too."
    )


def _corrections(spec: EstateSpec, layout: EstateLayout, choice: str) -> str:
    if choice == "released":
        return (
            "An amount in a released correction batch replaces the document's; of several, the "
            "one released last. Drafts and rejected batches change nothing."
        )
    return "Correction batches concern the ledger only. This figure is taken from documents."


def _mergers(spec: EstateSpec, layout: EstateLayout, choice: str) -> str:
    if choice == "merged":
        return "A customer that was merged into another one is reported as that one."
    return "Every customer number is reported by itself, merged or not."


def _renewals(spec: EstateSpec, layout: EstateLayout, choice: str) -> str:
    if choice == "kept":
        return (
            "No churn if a contract of the same customer that counts in its system starts after "
            f"the end date, at most {layout.settings[1]} days later, as set on the end date."
        )
    return "A contract that ends is churn, whatever the customer signs afterwards."


def _tolerance(spec: EstateSpec, layout: EstateLayout, choice: str) -> str:
    if choice == "grace":
        return (
            f"On time is up to {layout.settings[0]} days after the date measured against; the "
            "setting is that of the day of delivery."
        )
    return "There is no grace: a day late is late."


_CLAUSES: Mapping[str, tuple[Callable[[EstateSpec, EstateLayout, str], str], tuple[str, str]]] = {
    "date": (_date, ("own", "alt")), "currency": (_currency, ("A", "E")),
    "region": (_region, ("then", "now")), "exclusions": (_exclusions, ("list", "none")),
    "late": (_late, ("moved", "stays")), "credits": (_credits, ("own", "ref")),
    "corrections": (_corrections, ("released", "ledger")),
    "mergers": (_mergers, ("merged", "apart")), "renewals": (_renewals, ("kept", "ends")),
    "tolerance": (_tolerance, ("grace", "none")),
}  # fmt: skip


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
    write, choices = _CLAUSES[topic]
    held = _choice(spec, topic)
    other = choices[1] if held == choices[0] else choices[0]
    return write(spec, layout, held if right else other)


_PEOPLE = ("A. Ritter", "B. Okoye", "C. Sundberg", "D. Marques", "E. Falk", "F. Tanaka")
_BODIES = ("Group Controlling", "Group Controlling", "Sales Operations", "Data Office",
           "Group Controlling", "Regional Management")  # fmt: skip


def signatories(spec: EstateSpec) -> list[Row]:
    """Return who may sign for whom, and when."""
    draw = ShiftDraw(generator_for("sql-estate-sign", spec.company))
    people = draw.sample(_PEOPLE, 6)
    gone = shifted(spec.first, -draw.between(300, 420))
    rows: list[Row] = []
    for place, (who, body) in enumerate(zip(people, _BODIES, strict=True)):
        last = gone if place == 1 else None
        first = gone if place == 4 else "2016-03-01"
        rows.append((who, body, first, last))
    return rows


def register(spec: EstateSpec, layout: EstateLayout) -> list[Row]:
    """Return the entries of the register: what binds, what did, and what never will."""
    draw = ShiftDraw(generator_for(
        "sql-estate-register", spec.company, spec.metric, *sorted(spec.twists), spec.first
    ))  # fmt: skip
    people = [str(row[0]) for row in signatories(spec)]
    gone = next(str(row[3]) for row in signatories(spec) if row[3])
    entries: list[Row] = []

    def add(metric: str, topic: str, text: str, first: str, by: str, on: str) -> None:
        entries.append((None, metric, topic, text, first, by, on))

    for metric in TOPICS:
        name = METRIC_NAMES[metric]
        if metric != spec.metric and name == METRIC_NAMES[spec.metric]:
            continue
        mine = metric == spec.metric
        for topic in TOPICS[metric]:
            about = spec if mine else _as(spec, metric)
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


def _as(spec: EstateSpec, metric: str) -> EstateSpec:
    return replace(spec, metric=metric, asked=False)
