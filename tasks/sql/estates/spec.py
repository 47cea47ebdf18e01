"""Facts and rules of one estate task: metric, dates, rules in force, and twists.

Everything except rows is drawn here, so that hidden databases share it with the visible one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.draws import ValueDraw, months_before, shifted
from hexathlon.tasks.task import Split

__all__ = [
    "AS_OF", "HELD_OUT", "KEPT_SEGMENT", "METRICS", "SEGMENTS", "SETTLEMENT", "TWISTS", "UNIT",
    "EstateSpec", "draw_spec", "split_of",
]  # fmt: skip

METRICS = ("revenue", "clients", "overdue", "churn", "recurring", "punctual")
_FLOW_OF: Mapping[str, str] = {
    "revenue": "sale", "clients": "sale", "overdue": "sale", "churn": "ctr", "recurring": "ctr",
    "punctual": "dlv",
}  # fmt: skip
TWISTS: Mapping[str, tuple[str, ...]] = {
    "revenue": (
        "cutover", "consolidation", "units", "fx", "vat", "excluded", "late", "region", "copies",
        "restated", "credits", "fiscal",
    ),
    "clients": (
        "cutover", "consolidation", "units", "fx", "vat", "excluded", "late", "copies",
        "restated", "credits", "fiscal", "merged",
    ),
    "overdue": (
        "cutover", "units", "fx", "excluded", "region", "copies", "restated", "credits",
    ),
    "churn": (
        "cutover", "consolidation", "units", "fx", "excluded", "late", "region", "copies",
        "restated", "fiscal", "renewals",
    ),
    "recurring": ("cutover", "units", "fx", "excluded", "copies", "restated", "ends", "merged"),
    "punctual": (
        "cutover", "consolidation", "units", "excluded", "late", "region", "copies", "restated",
        "fiscal", "tolerance",
    ),
}  # fmt: skip
"""Kinds of twists by metric; a task has six to eight of them, in train at least five."""
HELD_OUT = frozenset({"late", "restated", "vat", "ends", "merged", "renewals"})
"""Kinds that never occur in the train split."""
AS_OF = frozenset({"overdue", "recurring"})
"""Metrics at a day, not over a quarter."""
UNIT: Mapping[str, int] = {"sale": 100, "ctr": 12, "dlv": 24}
"""Factor between former and present amounts of the acquired system: minor units, yearly fees, and
cartons for pieces."""
SEGMENTS: Mapping[str, str] = {
    "K1": "Key accounts", "K2": "Regional accounts", "S5": "Small business", "P9": "Public sector",
}  # fmt: skip
KEPT_SEGMENT = "P9"
"""Customers of this segment count even while they are on the list of exclusions."""
SETTLEMENT = "settlement"
"""Reason of corrections that concern payment, and no reported figure."""
CURRENCIES = (("CHF", 0.96), ("GBP", 0.86), ("SEK", 11.2), ("PLN", 4.3), ("NOK", 11.6))


@dataclass(frozen=True)
class EstateSpec:
    """Facts and rules of a task."""

    metric: str
    company: str
    today: str
    twists: frozenset[str]
    year: int
    quarter: int
    first: str
    """First day of the period."""
    end: str
    """First day after the period; the last day before it is the day of metrics at a day."""
    plain: tuple[str, str]
    """First day, and first day after, of the calendar quarter."""
    periods: tuple[tuple[int, int, str, str, str], ...]
    """Year, month number, first day, first day after, and closing day."""
    cutover: str
    cutover_plan: str
    consolidation: str
    signing: str
    release: str
    release_plan: str
    currency: str
    fx_rule: str
    """A (average of the month) or E (end of the month)."""
    rates: tuple[tuple[str, str, str, float], ...]
    """Kind, currency, month, and units of the currency for one euro."""
    vat: tuple[tuple[str, str, str | None, float], ...]
    """Code, first day, first day after, and per cent."""
    basis: str
    """`own` or `alt`: which of two dates of a document counts."""
    asked: bool
    """Whether only the asker decides the basis."""
    region_rule: str
    """`then` or `now`: districts as on the day that counts, or as on the day of the database."""
    regions: tuple[tuple[str, str], ...]
    """Codes and names."""
    districts: tuple[tuple[str, str, str, str | None], ...]
    """District, region, first day, first day no longer."""
    credit_rule: str
    """`own` or `ref`: by the credit note's date, or by its invoice's."""
    tolerance: tuple[tuple[int, str, str | None], ...]
    """Days of grace, first day, and last day of each version of the setting."""
    renewal: tuple[tuple[int, str, str | None], ...]
    """Days within which a contract is renewed, first day, and last day of each version."""

    @property
    def flow(self) -> str:
        """The documents that the metric is about: sale, ctr (contracts) or dlv (deliveries)."""
        return _FLOW_OF[self.metric]

    @property
    def day(self) -> str:
        """The day of metrics at a day: the last one of the period."""
        return shifted(self.end, -1)


def split_of(company: str) -> Split:
    """Return the split of a company, for example `estate-test-3`."""
    split: Split = company.split("-")[1]  # type: ignore[assignment]
    return split


def draw_spec(metric: str, company: str, seed: int, attempt: int) -> EstateSpec:
    """Draw the facts and rules of one attempt."""
    draw = ValueDraw(generator_for("sql-estate", metric, company, seed, attempt))
    today = draw.pick(("2024-11-22", "2025-02-18", "2025-05-20", "2025-08-21"))
    twists = _twists(draw, metric, split_of(company))
    start = months_before(today, draw.between(4, 6))
    month = (int(start[5:7]) - 1) // 3 * 3 + 1
    opening = f"{start[:4]}-{month:02d}-01"
    plain = (opening, _later(opening, 3))
    year, quarter = int(start[:4]), (month + 2) // 3
    periods = _periods(draw, year, "fiscal" in twists and metric not in AS_OF, "late" in twists)
    own = [each for each in periods if each[0] == year and (each[1] + 2) // 3 == quarter]
    first, end = own[0][2], own[-1][3]
    middle = _between(draw, first, end, 0.3, 0.6)
    if metric in AS_OF:
        middle = shifted(end, draw.between(12, 40))
    flow = _FLOW_OF[metric]

    def at(twist: str, low: float, high: float, before: int) -> str:
        if twist in twists:
            return _between(draw, first, end, low, high)
        return shifted(first, -before - draw.below(40))

    cutover = at("cutover", 0.35, 0.65, 430)
    if flow == "ctr" or metric == "overdue":
        back = draw.between(120, 220) if flow == "ctr" else draw.between(40, 70)
        cutover = shifted(first, -back if "cutover" in twists else -1_300)
    consolidation = at("consolidation", 0.25, 0.5, 400)
    release = at("units", 0.4, 0.7, 380)
    if flow == "ctr" and "units" in twists:
        release = shifted(first, -draw.between(150, 260))
    if metric == "overdue" and "units" in twists:
        release = shifted(first, -draw.between(0, 30))
    currency, level = draw.pick(CURRENCIES)
    regions, districts = _regions(draw, middle, "region" in twists)
    return EstateSpec(
        metric=metric, company=company, today=today, twists=twists, year=year, quarter=quarter,
        first=first, end=end, plain=plain, periods=periods,
        cutover=cutover, cutover_plan=shifted(cutover, -draw.between(18, 34)),
        consolidation=consolidation, signing=shifted(consolidation, -draw.between(16, 30)),
        release=release, release_plan=shifted(release, -draw.between(16, 32)),
        currency=currency if "fx" in twists else "EUR",
        fx_rule=draw.pick(("A", "E")), rates=_rates(draw, level, currency, today),
        vat=_vat(draw, middle),
        basis=draw.pick(("own", "alt")), asked=draw.chance(1 / 3),
        region_rule=draw.pick(("then", "now")), regions=regions, districts=districts,
        credit_rule=draw.pick(("own", "ref")),
        tolerance=_setting(draw, (1, 2, 3), first),
        renewal=_setting(draw, (30, 45, 60), first),
    )  # fmt: skip


def _twists(draw: ValueDraw, metric: str, split: Split) -> frozenset[str]:
    kinds = [kind for kind in TWISTS[metric] if split != "train" or kind not in HELD_OUT]
    return frozenset(draw.sample(kinds, min(len(kinds), draw.between(6, 8))))


def _later(day: str, months: int) -> str:
    return months_before(day, -months)


def _between(draw: ValueDraw, first: str, end: str, low: float, high: float) -> str:
    days = (date.fromisoformat(end) - date.fromisoformat(first)).days
    return shifted(first, draw.between(int(days * low), int(days * high)))


def _periods(
    draw: ValueDraw, year: int, fiscal: bool, late: bool
) -> tuple[tuple[int, int, str, str, str], ...]:
    """Return 36 months: calendar months, or months of four or five weeks."""
    weeks = draw.pick(((4, 4, 5), (4, 5, 4), (5, 4, 4)))
    shift = draw.pick((-33, -26, 26, 33))
    delay = draw.between(6, 9) if late else draw.between(24, 28)
    periods = []
    start = date(year - 1, 1, 1).toordinal() + shift
    start -= date.fromordinal(start).weekday()
    for own in range(year - 1, year + 2):
        for month in range(1, 13):
            if fiscal:
                first = date.fromordinal(start).isoformat()
                start += 7 * weeks[(month - 1) % 3]
                end = date.fromordinal(start).isoformat()
            else:
                first = f"{own}-{month:02d}-01"
                end = _later(first, 1)
            periods.append((own, month, first, end, shifted(end, delay + draw.below(3))))
    return tuple(periods)


def _rates(
    draw: ValueDraw, level: float, currency: str, today: str
) -> tuple[tuple[str, str, str, float], ...]:
    rows: list[tuple[str, str, str, float]] = []
    for code, base in CURRENCIES:
        value = level if code == currency else base
        for back in range(30, -1, -1):
            month = months_before(today, back)[:7]
            value *= 1 + draw.between(-25, 25) / 1_000
            rows.append(("A", code, month, round(value, 4)))
            rows.append(("E", code, month, round(value * (1 + draw.pick((-2, -1, 1, 2)) / 90), 4)))
        for year in sorted({row[2][:4] for row in rows}):
            rows.append(("P", code, f"{year}-01", round(base * 1.03, 4)))
    return tuple(rows)


def _vat(draw: ValueDraw, middle: str) -> tuple[tuple[str, str, str | None, float], ...]:
    full, reduced = draw.pick(((19.0, 7.0), (20.0, 10.0), (8.0, 2.5), (25.0, 12.0)))
    return (
        ("V1", "2010-01-01", middle, full), ("V1", middle, None, full + 1.0),
        ("V2", "2010-01-01", None, reduced), ("V0", "2010-01-01", None, 0.0),
    )  # fmt: skip


_REGIONS = (
    ("North", "South", "West", "East", "Centre"),
    ("Coast", "Uplands", "Valleys", "Capital", "Lakes"),
    ("Baltic", "Alpine", "Rhine", "Danube", "Adria"),
    ("Metro", "Harbour", "Inland", "Border", "Isles"),
)  # fmt: skip


def _regions(
    draw: ValueDraw, middle: str, moved: bool
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str, str, str | None], ...]]:
    names = draw.sample(draw.pick(_REGIONS), 4)
    regions = tuple((f"R{place + 1}0", name) for place, name in enumerate(names))
    rows: list[tuple[str, str, str, str | None]] = []
    for place in range(14):
        code = f"D{draw.between(1, 6)}{place:02d}"
        own = regions[place % 4][0]
        if moved and place % 3 == 1:
            other = regions[(place + 1 + draw.below(3)) % 4][0]
            rows += [(code, own, "2015-01-01", middle), (code, other, middle, None)]
        else:
            rows.append((code, own, "2015-01-01", None))
    return regions, tuple(rows)


def _setting(
    draw: ValueDraw, values: tuple[int, ...], first: str
) -> tuple[tuple[int, str, str | None], ...]:
    one, two, three = draw.sample(values, 3)
    change = shifted(first, -draw.between(90, 200))
    after = shifted(first, 200 + draw.below(40))
    return (
        (one, "2016-01-01", shifted(change, -1)), (two, change, shifted(after, -1)),
        (three, after, None),
    )  # fmt: skip
