"""Tickets about a delivery of items, and what colleagues' routines do with items."""

from hexathlon.tasks.sql.draws import shifted
from hexathlon.tasks.sql.programs.phrases import literals
from hexathlon.tasks.sql.schema import Row
from hexathlon.tasks.sql.shifts.preparing import respelt
from hexathlon.tasks.sql.shifts.tickets import (
    LOADED_FROM,
    RoutineJob,
    SQLTicket,
    TicketDesk,
    TicketStep,
)

__all__ = ["arrivals", "delivery", "feed_again", "withdraw_delivery", "withdrawn_back"]


def _archive_cleared(desk: TicketDesk, slips: dict[str, tuple[str, ...]]) -> list[TicketStep]:
    """Return the step that takes out what a routine has kept of deleted items."""
    if "tombstones" not in desk.traps:
        return []
    return [
        TicketStep(
            desk.sql("DELETE FROM @item WHERE @item.source = 'archive'"),
            desk.sql("DELETE FROM @item WHERE @item.id > 7000000"),
            slips={"tombstones_left": (), **slips},
        )
    ]


def delivery(desk: TicketDesk) -> SQLTicket | None:
    """Bring the lines of a delivery in, without their faults."""
    batch = desk.notes.batch
    said, ground = desk.sql, desk.ground
    unit, small, factor, _ = ground.theme.unit

    def iso(column: str) -> str:
        return (
            f"CASE WHEN {column} LIKE '__.__.____' THEN SUBSTR({column}, 7, 4) || '-' || "
            f"SUBSTR({column}, 4, 2) || '-' || SUBSTR({column}, 1, 2) ELSE {column} END"
        )

    def insertion(
        *, no: str = "UPPER(TRIM(s.@stage.no))", group: str = " GROUP BY 2, 3, 4, 5, 6",
        dates: str = "MIN(l.b, l.d), MAX(l.b, l.d)", closed: str = " AND a.@account.status <> "
        "'closed'", qty: str = f"CASE s.@stage.unit WHEN '{small}' THEN s.@stage.qty / {factor}.0 "
        "ELSE s.@stage.qty END",
    ) -> str:  # fmt: skip
        booked, done = iso("s.@stage.booked"), iso("s.@stage.done")
        line = "MIN(s.@stage.line)" if group else "s.@stage.line"
        return said(
            "INSERT INTO @item (@item.id, @item.no, @item.kind, @item.booked, @item.done, "
            "@item.entered, @item.qty, @item.state, @item.by, @item.source) SELECT "
            f"{batch} * 1000 + l.line, a.@account.no, l.kind, {dates}, '{ground.today}', l.qty, "
            f"'final', NULL, 'import' FROM (SELECT {line} AS line, {no} AS no, "
            f"LOWER(TRIM(s.@stage.kind)) AS kind, MIN({booked}, {done}) AS b, MAX({booked}, "
            f"{done}) AS d, {qty} AS qty, {booked} AS rb, {done} AS rd FROM @stage s{group}) l "
            f"JOIN @account a ON a.@account.no = l.no{closed}"
        )

    good = insertion()
    other = said(
        "INSERT INTO @item SELECT z.n, z.no, z.kind, z.b, z.d, "
        f"'{ground.today}', z.q, 'final', NULL, 'import' FROM (SELECT {batch}000 + y.line AS n, "
        "y.*, ROW_NUMBER() OVER (PARTITION BY y.no, y.kind, y.b, y.d, y.q ORDER BY y.line) AS r "
        "FROM (SELECT x.line, x.no, x.kind, IIF(x.d < x.b, x.d, x.b) AS b, IIF(x.d < x.b, x.b, "
        "x.d) AS d, x.q FROM (SELECT s.@stage.line AS line, TRIM(UPPER(s.@stage.no)) AS no, "
        f"LOWER(s.@stage.kind) AS kind, {iso('s.@stage.booked')} AS b, {iso('s.@stage.done')} "
        f"AS d, IIF(s.@stage.unit = '{unit}', 1.0, 1.0 / {factor}) * s.@stage.qty AS q FROM @stage "
        "s) x) y) z JOIN @account a ON a.@account.no = z.no WHERE z.r = 1 AND a.@account.status IN "
        "('active', 'paused')"
    )
    steps = [
        TicketStep(
            good, other,
            slips={
                "lines_twice": (insertion(group=""),),
                "closed_loaded": (insertion(closed=""),),
                "numbers_as_written": (insertion(no="s.@stage.no"),),
                "units_as_written": (insertion(qty="s.@stage.qty"),),
                "dates_swapped": (insertion(dates="l.rb, l.rd"),),
            },
        )
    ]  # fmt: skip
    if "mirror" in desk.traps:
        steps.append(
            TicketStep(
                said(
                    "DELETE FROM @item WHERE @item.source = 'auto' AND "
                    f"@item.id > 5000000 AND @item.entered = '{ground.today}'"
                ),
                said(f"DELETE FROM @item WHERE @item.id - 5000000 BETWEEN {batch}001 AND "
                     f"{batch}999"),
                slips={"copies_left": ()},
            )
        )  # fmt: skip
        steps.extend(_archive_cleared(desk, {"copies_left": ()}))
    desk.notes.delivery = desk.number()
    table = desk.sql("@stage")
    text = (
        f"Delivery {batch} is in {table}. Enter it in the {ground.theme.item[1]} according to the "
        "procedure for deliveries. Each of its lines must be there only once."
    )
    look = said(
        "SELECT i.* FROM @item i WHERE EXISTS (SELECT 1 FROM @item d WHERE d.@item.id BETWEEN "
        f"{batch}001 AND {batch}999 AND UPPER(TRIM(i.@item.no)) = d.@item.no AND i.@item.kind = "
        "d.@item.kind AND i.@item.booked = d.@item.booked AND i.@item.entered = d.@item.entered)"
    )
    return SQLTicket("delivery", text, tuple(steps), look=look)


def withdraw_delivery(desk: TicketDesk) -> SQLTicket | None:
    """Withdraw a delivery in part: for one region."""
    if not desk.notes.delivery:
        return None
    batch, number = desk.notes.batch, desk.notes.delivery
    code, name = desk.draw.pick(desk.ground.regions)
    own = f"@item.id BETWEEN {batch}001 AND {batch}499"
    regional = (
        f"{own} AND @item.no IN (SELECT @account.no FROM @account WHERE @account.region = '{code}')"
    )
    desk.notes.withdrawn = tuple(desk.rows(f"SELECT * FROM @item WHERE {regional}"))
    if not desk.notes.withdrawn:
        return None
    step = TicketStep(
        desk.sql(f"DELETE FROM @item WHERE {regional}"),
        slips={
            "withdrawal_ignored": (),
            "all_withdrawn": (desk.sql(f"DELETE FROM @item WHERE {own}"),),
        },
    )
    text = (
        f"{desk.ground.theme.region[0].capitalize()} {name} sent its lines by mistake. Ticket "
        f"{number} is withdrawn for the {desk.ground.theme.account[1]} of {name}: put everything "
        "back as it was before it. For all others it still holds."
    )
    steps = (step, *_archive_cleared(desk, {"withdrawal_ignored": ()}))
    look = desk.sql(f"SELECT COUNT(*) FROM @item WHERE {regional}")
    return SQLTicket("withdrawal", text, steps, look=look)


def withdrawn_back(desk: TicketDesk) -> RoutineJob | None:
    """A routine enters lines again that were withdrawn."""
    copied = desk.ground.theme.kinds[1] if "mirror" in desk.traps else ""
    rows = [row for row in desk.notes.withdrawn if row[2] != copied]
    if len(rows) < 2:
        return None
    chosen = desk.draw.sample(rows, 4)
    statements = tuple(_inserted(desk, row) for row in chosen)
    numbers = literals(row[0] for row in chosen)
    slips: dict[str, tuple[str, ...]] = {"withdrawn_back_left": ()}
    mend = TicketStep(desk.sql(f"DELETE FROM @item WHERE @item.id IN ({numbers})"), slips=slips)
    return RoutineJob(statements, (mend, *_archive_cleared(desk, slips)))


def _inserted(desk: TicketDesk, row: Row) -> str:
    return desk.sql(f"INSERT INTO @item VALUES ({literals(row)})")


def feed_again(desk: TicketDesk) -> RoutineJob | None:
    """A routine enters lines of a delivery again, along with others that are nearly equal.

    The latter are not repetitions: they stay and count.
    """
    if not desk.notes.delivery:
        return None
    batch, draw = desk.notes.batch, desk.draw
    rows = desk.rows(f"SELECT * FROM @item WHERE @item.id BETWEEN {batch}001 AND {batch}499")
    if len(rows) < 14:
        return None
    newest = _newest(desk)
    known = {(row[1], row[2], row[3], row[4], row[6]) for row in rows}
    statements, repeated, near = [], [], []
    for place, row in enumerate(draw.sample(rows, 9)):
        number, no, qty = newest + 1 + place, str(row[1]), float(row[6])  # type: ignore[arg-type]
        if place < 7:
            if place % 2 == 0:
                number = int(row[0]) + 500  # type: ignore[arg-type]
            repeated.append(number)
        else:
            qty += next(
                more for more in (1.0, 1.5, 2.0, 2.5) if (*row[1:5], qty + more) not in known
            )
            near.append(number)
        if place in (0, 3, 4, 7):
            no = respelt(no, draw)
        statements.append(_inserted(desk, (number, no, *row[2:6], qty, *row[7:9], "feed")))

    def deleting(numbers: list[int]) -> str:
        return desk.sql(f"DELETE FROM @item WHERE @item.id IN ({literals(numbers)})")

    same = " AND ".join(
        f"d.@item.{column} = @item.@item.{column}"
        for column in ("kind", "booked", "done", "qty", "entered")
    )
    mend = TicketStep(
        deleting(repeated),
        desk.sql(
            "DELETE FROM @item WHERE @item.source = 'feed' AND EXISTS (SELECT 1 FROM @item d WHERE "
            f"d.@item.id BETWEEN {batch}001 AND {batch}499 AND d.@item.no = "
            f"UPPER(TRIM(@item.@item.no)) AND {same})"
        ),
        slips={"feed_again_left": (), "near_repeats_deleted": (deleting([*repeated, *near]),)},
    )
    cleared = _archive_cleared(desk, {"feed_again_left": ()})
    return RoutineJob(tuple(statements), (mend, *cleared))


def _newest(desk: TicketDesk) -> int:
    """Return the highest number of an item that colleagues have entered."""
    query = f"SELECT MAX(@item.id) FROM @item WHERE @item.id < {LOADED_FROM}"
    return int(str(desk.rows(query)[0][0]))


def arrivals(desk: TicketDesk) -> RoutineJob | None:
    """A colleague enters items, most of them with dates long past.

    Some spell their account differently, and one is replaced by another.
    """
    ground, draw = desk.ground, desk.draw
    accounts = [str(row[0]) for row in ground.rows["account"] if row[4] == "active"]
    first = _newest(desk) + 1
    statements = []
    for place in range(9):
        booked = draw.between(1, 6) if place < 3 else draw.between(30, 320)
        no = draw.pick(accounts)
        values = (
            first + place, respelt(no, draw) if place in (4, 6) else no,
            draw.pick(ground.theme.kinds), shifted(ground.today, -booked),
            shifted(ground.today, -max(booked - draw.below(20), 0)),
            ground.today, draw.between(2, 20) * 0.5, "final",
            first + place + 1 if place == 5 else None, "desk",
        )  # fmt: skip
        statements.append(_inserted(desk, values))
    return RoutineJob(tuple(statements))
