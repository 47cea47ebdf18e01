"""The own tables of a shift: accounts, items, prices and registers, with their rows.

They lie beside the tables of a world and refer to one of its entities, the holders. What `Spec`
says about the metric decides some of the rows, for example from which day on quantities have
another unit.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.sql.draws import ValueDraw, months_before, shifted
from hexathlon.tasks.sql.schema import Column, Row, Table
from hexathlon.tasks.sql.shifts.themes import Names, Theme, names_for
from hexathlon.tasks.sql.world.world import World

__all__ = ["ITEMS", "Ground", "Spec", "create", "draw_ground"]

ACCOUNTS, ITEMS, OFFERS = 220, 2_200, 34
_REGIONS = (
    "Harbour", "Uplands", "Old Town", "Riverside", "Westfield", "Lakeside", "Eastgate", "Moorland",
    "Northbank", "Quarry Hill",
)  # fmt: skip
OFFICERS = (
    "A. Lindqvist", "B. Okafor", "C. Marais", "D. Petrov", "E. Sandoval", "F. Whitcombe",
    "G. Tanaka", "H. Brandt",
)  # fmt: skip


@dataclass(frozen=True)
class Spec:
    """What the documents of a day define: which items count, when, and for how much."""

    states: tuple[str, ...]
    """States that count."""
    old_states: tuple[str, ...]
    """States that counted until a decision, and count in the view."""
    day_switch: str
    """Items entered before this date belong to one of their two dates, others to the other."""
    day_first: str
    """`booked` or `done`: the date that decides for items entered before the switch."""
    unit_switch: str
    """Quantities entered before this date have the smaller unit; empty if none do."""
    late: bool
    """Whether items that came after the closing of their month count in the month of entry."""
    superseded: bool
    soiled: bool
    stale_view: bool
    kept_kind: str
    """Kind of items that belong to the day of `day_first` whenever they were entered; or empty."""
    app_unit_days: tuple[str, str]
    """First and last entry date of the app's items with the smaller unit; empty if none have."""
    soiled_holds: bool


@dataclass
class Ground:
    """The drawn tables."""

    world: World
    theme: Theme
    names: Names
    today: str
    spec: Spec
    holder: Table
    """The entity of the world that accounts belong to."""
    trait: Column
    """A column of the holder with few, clean values."""
    trait_of: Mapping[int, object]
    """Value of that column by the holder's key."""
    rows: dict[str, list[Row]] = field(default_factory=dict)
    """Rows by role of the table."""
    regions: tuple[tuple[str, str], ...] = ()
    """Codes and names."""

    def region_name(self, code: str) -> str:
        """Return the name of a region."""
        return dict(self.regions)[code]


def draw_ground(
    world: World, theme: Theme, population: int, size: int, spec: Spec, draw: ValueDraw
) -> Ground:
    """Draw all tables but those of imports, which tickets bring along.

    Raises:
        GenerationExhausted: If the world has no entity with a clean category.
    """
    holder, trait = _holder(world, draw)
    place = [column.name for column in holder.columns].index(trait.name)
    found = {row[0]: row[place] for row in world.rows(population, size)[holder.name]}
    trait_of = {int(key): value for key, value in found.items()}  # type: ignore[arg-type]
    names = names_for(theme, [table.name for table in world.schema.tables], draw.rng)
    ground = Ground(world, theme, names, world.schema.today, spec, holder, trait, trait_of)
    picked = draw.sample(_REGIONS, 7)
    ground.regions = tuple((name.replace(" ", "")[:3].upper(), name) for name in sorted(picked))
    ground.rows["region"] = [
        (code, name, shifted(ground.today, -draw.between(2_000, 5_000)))
        for code, name in ground.regions
    ]
    _accounts(ground, draw)
    _prices(ground, draw)
    _settings(ground, draw)
    _periods(ground, draw)
    _items(ground, draw)
    _offers(ground, draw)
    return ground


def _holder(world: World, draw: ValueDraw) -> tuple[Table, Column]:
    """Draw the entity that holds accounts, customers if there are any, and a category of it."""
    fit = [
        (table, column)
        for table in world.schema.asked()
        if table.scale == "entity" and not table.soft_delete and not table.natural_key
        and len(table.primary_key) == 1 and table.columns[0].name == table.key
        for column in table.columns
        if column.role == "category" and column.dirt is None and len(column.values) >= 2
    ]  # fmt: skip
    if not fit:
        raise GenerationExhausted(f"{world.id} has no entity with a clean category")
    return draw.pick([place for place in fit if _customer(place[0])] or fit)


def _customer(table: Table) -> bool:
    """Whether rows are people or companies that are not the staff."""
    pools = {column.law.pool for column in table.columns if column.role == "name"}
    staff = any(column.noun == "hire date" for column in table.columns)
    return bool(pools & {"person", "company", "farm", "publisher"}) and not staff


def _accounts(ground: Ground, draw: ValueDraw) -> None:
    theme, today = ground.theme, ground.today
    holders = sorted(ground.trait_of)
    numbers = sorted(draw.sample(range(10_000, 99_999), ACCOUNTS))
    accounts: list[Row] = []
    history: list[Row] = []
    for number in numbers:
        no = f"{theme.prefix}-{number}"
        status = "active" if draw.chance(0.82) else draw.pick(("paused", "closed"))
        opened = shifted(today, -draw.between(620, 2_400))
        starts = [opened]
        for months in sorted(draw.sample(range(3, 17), draw.below(3)), reverse=True):
            starts.append(months_before(today, months))
        classes = [draw.pick(theme.classes)]
        for _ in starts[1:]:
            classes.append(draw.pick([each for each in theme.classes if each != classes[-1]]))
        for place, (first, cls) in enumerate(zip(starts, classes, strict=True)):
            last = shifted(starts[place + 1], -1) if place + 1 < len(starts) else None
            history.append((no, cls, first, last))
        code = draw.pick(ground.regions)[0]
        locked = int(draw.chance(0.15))
        accounts.append((no, draw.pick(holders), code, classes[-1], status, opened, locked))
    ground.rows["account"], ground.rows["history"] = accounts, history


def _prices(ground: Ground, draw: ValueDraw) -> None:
    rows: list[Row] = []
    for kind in ground.theme.kinds:
        for code, _ in ground.regions:
            starts = [months_before(ground.today, 30)]
            for months in sorted(draw.sample(range(3, 18), draw.between(1, 2)), reverse=True):
                starts.append(months_before(ground.today, months))
            cents = draw.between(25, 90) * 40
            for place, first in enumerate(starts):
                last = shifted(starts[place + 1], -1) if place + 1 < len(starts) else None
                rows.append((kind, code, first, last, cents / 100))
                cents += draw.pick((-3, -2, 2, 3, 4, 5)) * 40
    ground.rows["price"] = rows
    ground.rows["nightly"] = list(rows)


def _settings(ground: Ground, draw: ValueDraw) -> None:
    rows: list[Row] = []

    def versions(name: str, values: Sequence[float], months: Sequence[int]) -> None:
        starts = [months_before(ground.today, each) for each in months]
        for place, (first, value) in enumerate(zip(starts, values, strict=True)):
            last = shifted(starts[place + 1], -1) if place + 1 < len(starts) else None
            memo = f"D-{draw.between(100, 999)}"
            rows.append((name, value, first, last, memo))

    for cls, low in zip(ground.theme.classes, (0, 5, 15), strict=True):
        first = low + 5 * draw.below(2)
        versions(f"discount_{cls}", (first, first + 5), (40, draw.between(3, 9)))
    charge = draw.between(16, 30) * 0.5
    versions("minimum_charge", (charge, charge + draw.between(2, 8) * 0.5),
             (40, draw.between(3, 10)))  # fmt: skip
    versions("late_fee", (4.5, 6.0), (40, 7))
    versions("grace_days", (14, 10), (40, 5))
    versions("discount_partner_old", (20,), (40,))
    versions("minimum_order", (25.0, 40.0), (40, 4))
    versions("rounding_step", (0.05,), (40,))
    ground.rows["setting"] = rows


def _periods(ground: Ground, draw: ValueDraw) -> None:
    rows: list[Row] = []
    for months in range(22, -1, -1):
        first = months_before(ground.today, months)
        closed = None
        if months >= 2:
            closed = shifted(months_before(ground.today, months - 1), draw.between(5, 11))
        rows.append((first[:7], closed))
    ground.rows["period"] = rows


def _items(ground: Ground, draw: ValueDraw) -> None:
    """Draw the items column by column; codes of days are days before today."""
    theme, spec, today, rng = ground.theme, ground.spec, ground.today, draw.rng
    accounts = [str(row[0]) for row in ground.rows["account"]]
    days = [shifted(today, -back) for back in range(0, 600)]
    booked = np.sort(rng.integers(2, 480, ITEMS))[::-1]
    done = np.maximum(booked - rng.integers(0, 26, ITEMS), 0)
    entered = np.maximum(booked - rng.integers(0, 3, ITEMS), 0)
    late = (rng.random(ITEMS) < 0.05) & spec.late & (booked > 150)
    entered = np.where(late, booked - rng.integers(60, 120, ITEMS), entered)
    who = (len(accounts) * rng.random(ITEMS) ** 1.4).astype(int)
    kinds = rng.integers(0, len(theme.kinds), ITEMS)
    halves = rng.integers(1, 22, ITEMS)
    state = rng.random(ITEMS)
    source = rng.integers(0, 3, ITEMS)
    soil = rng.random(ITEMS)
    app_from, app_until = spec.app_unit_days
    first = 100_000 + 10 * draw.below(500)
    rows: list[Row] = []
    for place in range(ITEMS):
        no, entry = accounts[who[place]], days[entered[place]]
        origin = ("desk", "app", "feed")[source[place]]
        if spec.soiled and origin == "feed" and soil[place] < 0.2:
            no = no.lower() if soil[place] < 0.1 else no + "  "
        qty = halves[place] * 0.5
        in_app_unit = origin == "app" and app_from <= entry <= app_until
        if entry < spec.unit_switch or in_app_unit:
            qty *= theme.unit[2]
        share = state[place]
        named = (
            "final" if share < 0.74 else "approved" if share < 0.85
            else "draft" if share < 0.93 else "void"
        )  # fmt: skip
        rows.append(
            (
                first + place, no, theme.kinds[kinds[place]], days[booked[place]],
                days[done[place]], entry, float(qty), named, None, origin,
            )
        )  # fmt: skip
    if spec.superseded:
        _supersede(rows, draw)
    ground.rows["item"] = rows


def _supersede(rows: list[Row], draw: ValueDraw) -> None:
    """Let some items be replaced by corrected copies of themselves."""
    ahead = int(rows[-1][0]) + 1  # type: ignore[arg-type]
    for place in draw.sample([p for p, row in enumerate(rows) if row[7] == "final"], 70):
        row = list(rows[place])
        new = [ahead, *row[1:]]
        new[6] = float(row[6]) * draw.pick((2, 3))  # type: ignore[arg-type]
        row[8] = ahead
        rows[place] = tuple(row)
        rows.append(tuple(new))
        ahead += 1


def _offers(ground: Ground, draw: ValueDraw) -> None:
    accounts = [str(row[0]) for row in ground.rows["account"]]
    letter = ground.theme.offer[0][0].upper()
    rows: list[Row] = []
    for place, no in enumerate(draw.sample(accounts, OFFERS)):
        state = "open" if place < OFFERS * 3 // 4 else draw.pick(("accepted", "declined"))
        a, b = draw.between(3, 14), draw.between(2, 12)
        worth = 17 * a + 13 * b + draw.between(-60, 60)
        number = f"{letter}{draw.between(0, 8)}{place + 11:02d}"
        rows.append((number, no, a, b, max(worth, 20), state))
    ground.rows["offer"] = sorted(rows, key=lambda row: str(row[0]))


_TYPES: Mapping[str, str] = {
    "region": "code TEXT PRIMARY KEY, name TEXT NOT NULL, opened TEXT",
    "account": (
        "no TEXT PRIMARY KEY, holder INTEGER NOT NULL, region TEXT NOT NULL, cls TEXT NOT NULL, "
        "status TEXT NOT NULL, opened TEXT NOT NULL, locked INTEGER NOT NULL DEFAULT 0"
    ),
    "history": "no TEXT NOT NULL, cls TEXT NOT NULL, first TEXT NOT NULL, last TEXT +no,first",
    "item": (
        "id INTEGER PRIMARY KEY, no TEXT NOT NULL, kind TEXT NOT NULL, booked TEXT NOT NULL, "
        "done TEXT NOT NULL, entered TEXT NOT NULL, qty REAL NOT NULL, state TEXT NOT NULL, "
        "by INTEGER, source TEXT NOT NULL"
    ),
    "price": (
        "kind TEXT NOT NULL, region TEXT NOT NULL, first TEXT NOT NULL, last TEXT, "
        "price REAL NOT NULL +kind,region,first"
    ),
    "nightly": (
        "kind TEXT NOT NULL, region TEXT NOT NULL, first TEXT NOT NULL, last TEXT, "
        "price REAL NOT NULL +kind,region,first"
    ),
    "setting": (
        "name TEXT NOT NULL, value REAL NOT NULL, first TEXT NOT NULL, last TEXT, memo TEXT "
        "+name,first"
    ),
    "period": "month TEXT PRIMARY KEY, closed TEXT",
    "register": (
        "entry TEXT PRIMARY KEY, what TEXT NOT NULL, no TEXT, day TEXT NOT NULL, "
        "author TEXT NOT NULL, refers TEXT"
    ),
    "officer": "name TEXT NOT NULL, region TEXT NOT NULL, first TEXT NOT NULL, last TEXT",
    "offer": (
        "offer TEXT PRIMARY KEY, no TEXT NOT NULL, a INTEGER NOT NULL, b INTEGER NOT NULL, "
        "worth INTEGER NOT NULL, state TEXT NOT NULL"
    ),
    "stage": (
        "line INTEGER PRIMARY KEY, no TEXT, kind TEXT, booked TEXT, done TEXT, qty REAL, unit TEXT"
    ),
    "list": (
        "line INTEGER PRIMARY KEY, kind TEXT NOT NULL, region TEXT NOT NULL, first TEXT NOT NULL, "
        "price REAL NOT NULL"
    ),
    "tally": "no TEXT PRIMARY KEY, rows INTEGER NOT NULL",
    "log": "no TEXT NOT NULL, was TEXT NOT NULL, became TEXT NOT NULL, day TEXT NOT NULL",
    "reported": "day TEXT NOT NULL, ticket INTEGER NOT NULL, value REAL NOT NULL +day,ticket",
}


def create(connection: sqlite3.Connection, ground: Ground) -> None:
    """Create and fill the tables that have rows."""
    names = ground.names
    for role, kept in ground.rows.items():
        body, _, key = _TYPES[role].partition(" +")
        lines = []
        for part in body.split(", "):
            name, _, rest = part.partition(" ")
            lines.append(f"{names.columns[role][name]} {rest}")
        if key:
            columns = [names.columns[role][name] for name in key.split(",")]
            lines.append(f"PRIMARY KEY ({', '.join(columns)})")
        connection.execute(f"CREATE TABLE {names.tables[role]} ({', '.join(lines)})")
        marks = ", ".join("?" * len(names.columns[role]))
        connection.executemany(f"INSERT INTO {names.tables[role]} VALUES ({marks})", kept)
