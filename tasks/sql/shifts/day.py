"""Composition of a day: its traps, its documents, and the order of its tickets."""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache

from hexathlon.tasks.errors import GenerationExhausted
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.sql.shifts import accounts, deliveries, figures, orders, prices
from hexathlon.tasks.sql.shifts.by_hand import CHECKS
from hexathlon.tasks.sql.shifts.draws import ShiftDraw, months_before
from hexathlon.tasks.sql.shifts.ground import Spec, create, draw_ground
from hexathlon.tasks.sql.shifts.papers import papers_of
from hexathlon.tasks.sql.shifts.preparing import in_force, prepare, routines
from hexathlon.tasks.sql.shifts.themes import THEMES, Names
from hexathlon.tasks.sql.shifts.tickets import DayNotes, RoutineJob, SQLTicket, TicketDesk
from hexathlon.tasks.sql.supplement import AddedDocument
from hexathlon.tasks.sql.world.images import ByteCache
from hexathlon.tasks.sql.world.world import World, world_for
from hexathlon.tasks.task import Split

__all__ = ["HELD_OUT", "TRAPS", "ShiftDay", "day_of", "image_of_day"]

DATA_TRAPS = ("unit_change", "late_rows", "soiled_keys", "superseded", "stale_view")
ROUTINES = ("step_limit", "rounding", "lock_undo", "cascade", "mirror", "fraction")
JOBS = ("feed_again", "price_sync", "crm_sync", "arrivals")
TRAPS = (*DATA_TRAPS, *ROUTINES, *JOBS)
"""Kinds of traps, none of which a ticket mentions."""
HELD_OUT = frozenset({"late_rows", "step_limit", "mirror", "crm_sync"})
"""Kinds that never occur in the train split."""
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
        made = _drawn(template, home, ShiftDraw(rng))
        if made is not None:
            return made
    raise GenerationExhausted(f"{world}: no day of {template!r} in {_DRAWS} draws")


_images = ByteCache(16 * 1024 * 1024)


def image_of_day(template: str, world: str, seed: int, attempt: int) -> bytes:
    """Return the database of a day in the morning; recent ones are cached."""
    key = (template, world, seed, attempt)
    return _images.get(key, lambda: day_of(*key).image)


def _drawn(template: str, world: World, draw: ShiftDraw) -> ShiftDay | None:
    theme = THEMES[template.removeprefix("shift_")]
    traps = _traps(draw, world.split)
    population = draw.below(1 << 31)
    ground = draw_ground(world, theme, population, SIZE, _spec(draw, world, traps), draw)
    batch = prepare(ground, draw)
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
    papers = papers_of(ground, draw, batch)
    return ShiftDay(
        template, world.id, population, tuple(desk.tickets), papers, traps, dict(desk.slips),
        image, tuple(ground.names.tables[role] for role in ground.rows), desk.results_table,
        ground.names, batch,
    )  # fmt: skip


def _traps(draw: ShiftDraw, split: Split) -> frozenset[str]:
    """Draw five traps: in the data, in routines of the database and in those of colleagues."""

    def some(kinds: tuple[str, ...], number: int) -> list[str]:
        fit = [kind for kind in kinds if split != "train" or kind not in HELD_OUT]
        return draw.sample(fit, number)

    jobs = draw.between(1, 2)
    chosen = {*some(DATA_TRAPS, 3 - jobs), *some(ROUTINES, 2), *some(JOBS, jobs)}
    if {"step_limit", "rounding"} <= chosen:
        chosen.remove("rounding")
        chosen.add("lock_undo")
    return frozenset(chosen)


def _spec(draw: ShiftDraw, world: World, traps: frozenset[str]) -> Spec:
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
    )


_NEEDED = {
    "step_limit": "prices",
    "rounding": "prices",
    "price_sync": "prices",
    "mirror": "delivery",
    "feed_again": "delivery",
    "lock_undo": "moves",
    "cascade": "moves",
    "crm_sync": "moves",
    "fraction": "setting",
    "arrivals": "results",
}
"""The ticket that a trap lies in wait for."""
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
_ROUTINES: Mapping[str, Callable[[TicketDesk], RoutineJob | None]] = {
    "feed_again": deliveries.feed_again,
    "arrivals": deliveries.arrivals,
    "price_sync": prices.price_sync,
    "crm_sync": accounts.crm_sync,
}
"""What colleagues' routines do, by trap."""
_FEWEST, _MOST = 9, 11
"""Bounds of the number that is drawn; two tickets are always added, so a day has ten or eleven."""


def _planned(desk: TicketDesk) -> list[tuple[str, _Maker]]:
    """Draw the kinds of tickets and their order: each comes after those that it rests on."""
    draw = desk.draw
    needed = {_NEEDED[trap] for trap in desk.traps if trap in _NEEDED} & set(_CHANGES)
    others = [name for name in _CHANGES if name not in needed]
    wanted = [name for name in _CHANGES if name in needed]
    wanted += draw.sample(others, max(3 - len(wanted), draw.below(2)))
    middle: list[tuple[str, _Maker]] = [(name, _CHANGES[name]) for name in wanted]
    middle.append(("refused", lambda desk: orders.pause(desk, held=True)))
    middle.append(("twin", lambda desk: orders.pause(desk, held=False)))
    middle = draw.sample(middle, len(middle))
    number = draw.between(_FEWEST, _MOST) - 3  # without figure, results and again

    def place_after(name: str) -> int:
        places = [place for place, (kind, _) in enumerate(middle) if kind == name]
        return draw.between(places[0] + 1 if places else 0, len(middle))

    sources = draw.sample([name for name in wanted if name in _WITHDRAWALS], 2)
    added: list[tuple[str, str, _Maker]] = [
        (f"withdraw_{name}", name, _WITHDRAWALS[name]) for name in sources
    ]
    added.insert(1, ("offers", "moves", orders.offers))
    for kind, source, maker in added[: max(number - len(middle), 2)]:
        middle.insert(place_after(source), (kind, maker))
    return [("figure", figures.figure), ("results", figures.results), *middle,
            ("again", figures.again)]  # fmt: skip


def _worked(desk: TicketDesk) -> bool:
    """Work through a day on the desk; False if a ticket or a trap finds no place."""
    plan = _planned(desk)
    if any(name == "moves" for name, _ in plan) and not accounts.has_moves(desk):
        return False
    places = [_job_place(desk, plan, job) for job in JOBS if job in desk.traps]
    for place, (_, maker) in enumerate(plan):
        desk.begin()
        ticket = maker(desk)
        if ticket is None:
            return False
        desk.work(ticket)
        agrees = CHECKS.get(ticket.kind)
        if agrees is not None and not agrees(desk):
            return False
        if ticket.kind == "results":
            desk.results = desk.later_results
        for at, routine in places:
            if at == place:
                job = routine(desk)
                if job is None:
                    return False
                desk.run_job(job)
    return _traps_bite(desk)


def _job_place(
    desk: TicketDesk, plan: list[tuple[str, _Maker]], job: str
) -> tuple[int, Callable[[TicketDesk], RoutineJob | None]]:
    """Return after which ticket a routine runs: one that comes no sooner than what it disturbs."""
    source = _NEEDED[job]
    first = next(place for place, (name, _) in enumerate(plan) if name == source)
    return desk.draw.between(first, len(plan) - 2), _ROUTINES[job]


def _traps_bite(desk: TicketDesk) -> bool:
    """Whether every trap makes a difference."""
    needed = {
        "step_limit": "price_as_it_came_out",
        "rounding": "price_as_it_came_out",
        "lock_undo": "locked_left",
        "cascade": "cascade_left",
        "mirror": "copies_left",
        "fraction": "fraction_left",
        "feed_again": "feed_again_left",
        "price_sync": "price_sync_left",
        "crm_sync": "crm_sync_left",
        "arrivals": "not_kept",
    }
    return all(slip in desk.slips for trap, slip in needed.items() if trap in desk.traps)
