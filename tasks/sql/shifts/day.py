"""Composition of a day: its traps, its documents, and the order of its tickets."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.draws import ValueDraw, months_before, shifted
from hexathlon.tasks.sql.shifts import accounts, deliveries, figures, orders, prices
from hexathlon.tasks.sql.shifts.books import kept_totals
from hexathlon.tasks.sql.shifts.by_hand import CHECKS
from hexathlon.tasks.sql.shifts.ground import Spec, create, draw_ground
from hexathlon.tasks.sql.shifts.papers import papers_of
from hexathlon.tasks.sql.shifts.preparing import in_force, prepare, routines
from hexathlon.tasks.sql.shifts.themes import THEMES, Names, Theme
from hexathlon.tasks.sql.shifts.tickets import DayNotes, RoutineJob, SQLTicket, TicketDesk
from hexathlon.tasks.sql.shifts.traps import DAMAGES, MISTAKES, NEEDED, draw_traps
from hexathlon.tasks.sql.supplement import AddedDocument
from hexathlon.tasks.sql.world.images import ByteCache
from hexathlon.tasks.sql.world.world import World, world_for

__all__ = ["ShiftDay", "day_of", "image_of_day"]

SIZE = 900
"""Event rows of the world's own tables."""
_DRAWS = 10
_Maker = Callable[[TicketDesk], SQLTicket | None]


@dataclass(frozen=True)
class ShiftDay:
    """A day before it becomes a `Task`."""

    template: str
    world: str
    population: int
    tickets: tuple[SQLTicket, ...]
    papers: tuple[AddedDocument, ...]
    traps: frozenset[str]
    slips: Mapping[str, int]
    """Mistakes that make a difference, with the number of the first ticket where they do."""
    image: bytes
    """The database in the morning."""
    tables: tuple[str, ...]
    """The own tables of the shift."""
    results: str
    """Name of the table of results."""
    names: Names
    batch: int
    """Number of the delivery."""


@lru_cache(maxsize=24)
def day_of(template: str, world: str, seed: int, attempt: int) -> ShiftDay:
    """Return the day of one world.

    Raises:
        GenerationExhausted: If no draw is suitable.
    """
    rng = generator_for("sql-shift", template, seed, attempt)
    home = world_for(world)
    for _ in range(_DRAWS):
        made = _drawn(template, home, ValueDraw(rng))
        if made is not None:
            return made
    raise GenerationExhausted(f"{world}: no day of {template!r} in {_DRAWS} draws")


_images = ByteCache(16 * 1024 * 1024)


def image_of_day(template: str, world: str, seed: int, attempt: int) -> bytes:
    """Return the database of a day in the morning; recent ones are cached."""
    key = (template, world, seed, attempt)
    return _images.get(key, lambda: day_of(*key).image)


def _drawn(template: str, world: World, draw: ValueDraw) -> ShiftDay | None:
    theme = THEMES[template.removeprefix("shift_")]
    traps = draw_traps(draw, world.split)
    population = draw.below(1 << 31)
    ground = draw_ground(world, theme, population, SIZE, _spec(draw, world, theme, traps), draw)
    batch = prepare(ground, draw, traps)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(world.sqlite_bytes(population, SIZE))
        connection.execute("BEGIN")
        create(connection, ground)
        for statement in routines(ground, traps):
            connection.execute(statement)
        connection.execute("COMMIT")
        image = connection.serialize()
        desk = TicketDesk(ground, draw, connection, traps)
        desk.notes = DayNotes(batch, in_force(ground))
        by_sql = {str(row[0]) for row in connection.execute(accounts.held_accounts(desk))}
        if by_sql != set(desk.notes.held):
            return None
        if not _worked(desk):
            return None
    papers = papers_of(ground, draw)
    return ShiftDay(
        template, world.id, population, tuple(desk.tickets), papers, traps, dict(desk.slips),
        image, tuple(ground.names.tables[role] for role in ground.rows),
        desk.kept_tables["results"].table, ground.names, batch,
    )  # fmt: skip


def _spec(draw: ValueDraw, world: World, theme: Theme, traps: frozenset[str]) -> Spec:
    today = world.schema.today
    decided = draw.chance(0.4) or "stale_view" in traps
    return Spec(
        states=("final", "approved") if decided else ("final",),
        old_states=("final",),
        day_switch=months_before(today, draw.between(5, 8)),
        day_first=draw.pick(("booked", "done")),
        unit_switch=months_before(today, draw.between(6, 9)) if "unit_change" in traps else "",
        late="late_rows" in traps,
        superseded="superseded" in traps,
        soiled="soiled_keys" in traps,
        stale_view="stale_view" in traps,
        kept_kind=draw.pick(theme.kinds) if "kept_kind" in traps else "",
        app_unit_days=(
            (shifted(today, -draw.between(125, 150)), shifted(today, -draw.between(70, 90)))
            if "app_unit" in traps
            else ("", "")
        ),
        soiled_holds="soiled_holds" in traps,
    )


_CHANGES: Mapping[str, _Maker] = {
    "prices": prices.prices,
    "delivery": deliveries.delivery,
    "moves": accounts.moves,
    "setting": prices.setting,
}
_WITHDRAWALS: Mapping[str, _Maker] = {
    "prices": prices.withdraw_prices,
    "moves": accounts.withdraw_moves,
    "delivery": deliveries.withdraw_delivery,
}
_JOBS: Mapping[str, Callable[[TicketDesk], RoutineJob | None]] = {
    "feed_again": deliveries.feed_again,
    "withdrawn_back": deliveries.withdrawn_back,
    "arrivals": deliveries.arrivals,
    "price_sync": prices.price_sync,
    "setting_reset": prices.setting_reset,
    "crm_sync": accounts.crm_sync,
    "history_reset": accounts.history_reset,
    "reactivated": accounts.reactivated,
    "offers_reset": orders.offers_reset,
    "results_trimmed": figures.results_trimmed,
    "new_hold": orders.fresh_hold,
    "new_lift": orders.fresh_lift,
}
"""What colleagues' routines do, by trap."""
_QUIET = ("refused", "twin", "offers", "quick")
"""Tickets that give no reason to look at what earlier ones have asked for."""
_AWAITED = {"new_hold": "refused", "new_lift": "twin"}
"""The ticket before which a colleague makes an entry, by trap."""
_ORDERS = 400
_Plan = list[tuple[str, _Maker]]
_Places = dict[int, list[str]]
"""Routines by the place of the ticket after which they run."""


def _planned(desk: TicketDesk) -> tuple[_Plan, _Places] | None:
    """Draw the kinds of tickets, their order, and when routines run.

    Each ticket comes after those that it depends on. At least four routines run before tickets
    unrelated to what they disturb.
    """
    draw = desk.draw
    needed = {NEEDED[trap] for trap in desk.traps if trap in NEEDED}
    needed |= {name.removeprefix("withdraw_") for name in needed}
    changes = sorted(_CHANGES, key=lambda name: name not in needed)
    source = (
        "delivery" if "withdraw_delivery" in needed
        else draw.pick([name for name in changes if name in _WITHDRAWALS])
    )  # fmt: skip
    middle: _Plan = [
        *((name, _CHANGES[name]) for name in changes),
        ("refused", lambda desk: orders.pause(desk, held=True)),
        ("twin", lambda desk: orders.pause(desk, held=False)),
        ("offers", orders.offers),
        ("quick", figures.quick),
        (f"withdraw_{source}", _WITHDRAWALS[source]),
        ("quick", figures.quick),
    ]
    if draw.chance(0.5):
        middle.append(("quick", figures.quick))
    for _ in range(_ORDERS):
        order = draw.sample(middle, len(middle))
        plan = [("figure", figures.figure), ("results", figures.results), *order,
                ("again", figures.again)]  # fmt: skip
        kinds = [kind for kind, _ in plan]
        if kinds.index(f"withdraw_{source}") < kinds.index(source):
            continue
        if kinds.index("offers") < kinds.index("moves"):
            continue
        places = _job_places(desk, kinds)
        if places is not None:
            return plan, places
    return None


def _job_places(desk: TicketDesk, kinds: list[str]) -> _Places | None:
    """Draw after which tickets routines run; None if too few find a quiet ticket."""
    draw = desk.draw
    places: _Places = {}
    spare = sum(job in desk.traps for job in DAMAGES) - 4
    for job in draw.sample([job for job in _JOBS if job in desk.traps], len(_JOBS)):
        if job in _AWAITED:
            free = list(range(1, kinds.index(_AWAITED[job])))
        else:
            first = kinds.index(NEEDED[job])
            later = range(first, len(kinds) - 1)
            free = [place for place in later if kinds[place + 1] in _QUIET]
            free = [place for place in free if len(places.get(place, ())) < 2]
            if not free and spare > 0:
                spare -= 1
                free = list(later)
        if not free:
            return None
        fewest = min(len(places.get(place, ())) for place in free)
        place = draw.pick([each for each in free if len(places.get(each, ())) == fewest])
        places.setdefault(place, []).append(job)
    return places


def _worked(desk: TicketDesk) -> bool:
    """Work through a day on the desk; False if a ticket or a trap finds no place."""
    planned = _planned(desk)
    if planned is None:
        return False
    plan, places = planned
    if not accounts.has_moves(desk):
        return False
    if "tally" in desk.traps:
        desk.kept_tables["tally"] = kept_totals(desk)
    for place, (_, maker) in enumerate(plan):
        desk.begin()
        ticket = maker(desk)
        if ticket is None:
            return False
        desk.work(ticket)
        agrees = CHECKS.get(ticket.kind)
        if agrees is not None and not agrees(desk):
            return False
        for name in places.get(place, ()):
            job = _JOBS[name](desk)
            if job is None:
                return False
            desk.run_job(name, job)
    return all(slip in desk.slips for trap, slip in MISTAKES.items() if trap in desk.traps)
