"""Tickets about prices and settings: a price list, its withdrawal in part, a new setting."""

from hexathlon.tasks.sql.draws import months_before, shifted
from hexathlon.tasks.sql.programs.phrases import literals
from hexathlon.tasks.sql.shifts.preparing import CLOSED_WITH_OTHERS
from hexathlon.tasks.sql.shifts.tickets import RoutineJob, SQLTicket, TicketDesk, TicketStep

__all__ = ["price_sync", "prices", "setting", "setting_reset", "withdraw_prices"]

_LATEST = (
    "(SELECT l.@list.kind AS kind, l.@list.region AS region, l.@list.first AS first, "
    "l.@list.price AS price FROM @list l WHERE l.@list.line = (SELECT MAX(o.@list.line) FROM @list "
    "o WHERE o.@list.kind = l.@list.kind AND o.@list.region = l.@list.region))"
)
_FIRST_LINES = _LATEST.replace("MAX", "MIN")


_SAME_VERSION = (
    "l.kind = @price.@price.kind AND l.region = @price.@price.region AND l.first = "
    "@price.@price.first"
)
_REPLACING = (
    "WITH l AS {lines} UPDATE @price SET @price.price = (SELECT l.price FROM l WHERE "
    f"{_SAME_VERSION}) WHERE EXISTS (SELECT 1 FROM l{{join}} WHERE {_SAME_VERSION} AND l.price <> "
    "@price.@price.price)"
)
"""Gives versions the price of their line; `join` restricts the lines."""
_NOT_REPLACED = (
    f"SELECT COUNT(*) FROM @price p JOIN {_LATEST} l ON l.kind = p.@price.kind AND l.region = "
    "p.@price.region AND l.first = p.@price.first WHERE l.price <> p.@price.price"
)
_IN_THE_MORNING = (
    " JOIN @nightly n ON n.@price.kind = l.kind AND n.@price.region = l.region AND "
    "n.@price.first = l.first"
)
_INSERTING = (
    "INSERT INTO @price (@price.kind, @price.region, @price.first, @price.last, @price.price) "
    "SELECT l.kind, l.region, l.first, p.@price.last, l.price FROM {lines} l JOIN @price p ON "
    "p.@price.kind = l.kind AND p.@price.region = l.region AND p.@price.first < l.first AND "
    "COALESCE(p.@price.last, '9999-12-31') >= l.first WHERE {unequal} AND NOT EXISTS (SELECT 1 "
    "FROM @price q WHERE q.@price.kind = l.kind AND q.@price.region = l.region AND q.@price.first "
    "= l.first)"
)
_UNEQUAL = "ABS(p.@price.price - l.price) > 0.001"
_CLOSING = (
    "UPDATE @price SET @price.last = (SELECT DATE(n.@price.first, '-1 day') FROM @price n WHERE "
    "n.@price.kind = @price.@price.kind AND n.@price.region = @price.@price.region AND "
    "n.@price.first > @price.@price.first ORDER BY n.@price.first LIMIT 1) WHERE EXISTS (SELECT 1 "
    "FROM @price n WHERE n.@price.kind = @price.@price.kind AND n.@price.region = "
    "@price.@price.region AND n.@price.first > @price.@price.first AND n.@price.first <= "
    "COALESCE(@price.@price.last, '9999-12-31'))"
)
_OTHER_CLOSING = (
    f"UPDATE @price SET @price.last = DATE(l.first, '-1 day') FROM {_LATEST} l WHERE l.kind = "
    "@price.@price.kind AND l.region = @price.@price.region AND @price.@price.first < l.first AND "
    "(@price.@price.last IS NULL OR @price.@price.last >= l.first) AND EXISTS (SELECT 1 FROM "
    "@price n WHERE n.@price.kind = l.kind AND n.@price.region = l.region AND n.@price.first = "
    "l.first)"
)


def prices(desk: TicketDesk) -> SQLTicket | None:
    """Bring the price list in: new versions, replaced prices, unchanged ones."""

    def replacing(lines: str, join: str = "") -> str:
        return desk.sql(_REPLACING.format(lines=lines, join=join))

    def inserting(lines: str, unequal: str) -> str:
        return desk.sql(_INSERTING.format(lines=lines, unequal=unequal))

    # Prices come out wrong of an insertion, or of a replacement that is made only once.
    left = replacing(_LATEST, _IN_THE_MORNING if "rounding" in desk.traps else "")
    steps = (
        TicketStep(
            inserting(_LATEST, _UNEQUAL),
            slips={
                "equal_prices_inserted": (inserting(_LATEST, "1 = 1"),),
                "first_line_taken": (inserting(_FIRST_LINES, _UNEQUAL),),
            },
        ),
        *_copies_removed(desk),
        TicketStep(desk.sql(_CLOSING), desk.sql(_OTHER_CLOSING), slips={"version_left_open": ()}),
        TicketStep(
            replacing(_LATEST),
            slips={
                "price_as_it_came_out": (left,),
                "not_replaced": (),
                "first_line_taken": (replacing(_FIRST_LINES),) * 8,
            },
            until=desk.sql(_NOT_REPLACED),
        ),
    )
    desk.notes.prices = desk.number()
    text = (
        f"The new price list is in {desk.sql('@list')}. Enter it in the prices according to "
        "the procedure for price lists."
    )
    look = desk.sql(
        f"SELECT l.kind, l.region, l.first, l.price, p.@price.price, p.@price.last FROM {_LATEST} "
        "l LEFT JOIN @price p ON p.@price.kind = l.kind AND p.@price.region = l.region AND "
        "p.@price.first <= l.first AND COALESCE(p.@price.last, '9999-12-31') >= l.first"
    )
    return SQLTicket("prices", text, steps, look=look)


def _copies_removed(desk: TicketDesk) -> tuple[TicketStep, ...]:
    """Return the step that takes new versions out of the copy of the morning."""
    if "nightly_follow" not in desk.traps:
        return ()
    morning = ", ".join(sorted({f"'{row[2]}'" for row in desk.ground.rows["price"]}))
    return (
        TicketStep(
            desk.sql(f"DELETE FROM @nightly WHERE @price.first NOT IN ({morning})"),
            slips={"nightly_left": ()},
        ),
    )


def withdraw_prices(desk: TicketDesk) -> SQLTicket | None:
    """Withdraw the price list for one kind: its prices are again as they were this morning."""
    if not desk.notes.prices:
        return None
    kinds = sorted({str(row[0]) for row in desk.rows(
        "SELECT n.@price.kind FROM @price n LEFT JOIN @nightly o ON o.@price.kind = n.@price.kind "
        "AND o.@price.region = n.@price.region AND o.@price.first = n.@price.first WHERE "
        "o.@price.kind IS NULL OR o.@price.price <> n.@price.price"
    )})  # fmt: skip
    if not kinds:
        return None
    kind = desk.draw.pick(kinds)
    said = desk.sql
    same = (
        "o.@price.kind = @price.@price.kind AND o.@price.region = @price.@price.region AND "
        "o.@price.first = @price.@price.first"
    )
    removing = said(
        f"DELETE FROM @price WHERE @price.kind = '{kind}' AND NOT EXISTS (SELECT 1 FROM @nightly o "
        f"WHERE {same})"
    )
    reopening = said(
        f"UPDATE @price SET @price.last = (SELECT o.@price.last FROM @nightly o WHERE {same}) "
        f"WHERE @price.kind = '{kind}'"
    )
    restoring = said(
        f"UPDATE @price SET @price.price = (SELECT o.@price.price FROM @nightly o WHERE {same}) "
        f"WHERE @price.kind = '{kind}' AND EXISTS (SELECT 1 FROM @nightly o WHERE {same} AND "
        "o.@price.price <> @price.@price.price)"
    )
    open_ = said(
        f"SELECT COUNT(*) FROM @price WHERE @price.kind = '{kind}' AND EXISTS (SELECT 1 FROM "
        f"@nightly o WHERE {same} AND o.@price.price <> @price.@price.price)"
    )
    steps = (
        TicketStep(removing, slips={"withdrawal_ignored": (), "only_closed": ()}),
        TicketStep(reopening, slips={"withdrawal_ignored": (), "left_closed": ()}),
        TicketStep(restoring, slips={"withdrawal_ignored": (), "old_prices_lost": ()}, until=open_),
    )
    number = desk.notes.prices
    text = (
        f"The new prices do not apply to the kind {kind} after all. Ticket {number} is withdrawn "
        f"for {kind}: put its prices back as they were this morning. For all other kinds it still "
        "holds."
    )
    return SQLTicket("withdrawal", text, steps)


def price_sync(desk: TicketDesk) -> RoutineJob | None:
    """A routine writes prices of this morning back over replaced ones."""
    if not desk.notes.prices:
        return None
    places = desk.rows(
        "SELECT p.@price.kind, p.@price.region, p.@price.first, o.@price.price, p.@price.price "
        "FROM @price p JOIN @nightly o ON o.@price.kind = p.@price.kind AND o.@price.region = "
        "p.@price.region AND o.@price.last IS NULL WHERE p.@price.last IS NULL AND "
        "o.@price.price <> p.@price.price"
    )
    if len(places) < 3:
        return None
    chosen = desk.draw.sample(places, 3)
    statements, mend = [], []
    for kind, region, first, old, new in chosen:
        where = (
            f"@price.kind = '{kind}' AND @price.region = '{region}' AND @price.first = '{first}'"
        )
        statements.append(desk.sql(f"UPDATE @price SET @price.price = {old} WHERE {where}"))
        mend.append(
            TicketStep(
                desk.sql(f"UPDATE @price SET @price.price = {new} WHERE {where}"),
                slips={"price_sync_left": ()},
                until=desk.sql(
                    f"SELECT COUNT(*) FROM @price WHERE {where} AND @price.price <> {new}"
                ),
            )
        )
    return RoutineJob(tuple(statements), tuple(mend))


def setting(desk: TicketDesk) -> SQLTicket | None:
    """Give a setting a new value from a day on; the former one stays on record."""
    ground, draw, said = desk.ground, desk.draw, desk.sql
    theme = ground.theme
    since = months_before(ground.today, draw.between(0, 2))
    cls = draw.pick(theme.classes)
    charge = draw.chance(0.3) and "fraction" not in desk.traps
    name = "minimum_charge" if charge else f"discount_{cls}"
    before = float(
        desk.rows(  # type: ignore[arg-type]
            f"SELECT @setting.value FROM @setting WHERE @setting.name = '{name}' AND "
            "@setting.last IS NULL"
        )[0][0]
    )
    value = before + (draw.between(3, 9) * 0.5 if charge else draw.pick((5, 10)))
    memo = f"D-{draw.between(100, 999)}"
    own = f"@setting.name = '{name}' AND @setting.first"
    steps = [
        TicketStep(
            said(
                f"UPDATE @setting SET @setting.last = '{shifted(since, -1)}' WHERE "
                f"@setting.name = '{name}' AND @setting.last IS NULL"
            ),
            slips={
                "setting_overwritten": (
                    said(
                        f"UPDATE @setting SET @setting.value = {value}, @setting.memo = '{memo}' "
                        f"WHERE @setting.name = '{name}' AND @setting.last IS NULL"
                    ),
                ),
                "setting_left_open": (),
            },
        ),
        TicketStep(
            said(f"INSERT INTO @setting VALUES ('{name}', {value}, '{since}', NULL, '{memo}')"),
            said(
                "INSERT INTO @setting (@setting.memo, @setting.first, @setting.value, "
                f"@setting.name) SELECT '{memo}', '{since}', {value}, '{name}'"
            ),
            slips={"setting_overwritten": ()},
        ),
    ]
    if "fraction" in desk.traps:
        steps.append(
            TicketStep(
                said(f"UPDATE @setting SET @setting.value = {value} WHERE {own} = '{since}'"),
                slips={"setting_overwritten": (), "fraction_left": ()},
            )
        )
    if "sibling_closed" in desk.traps:
        closed = desk.rows(
            "SELECT @setting.name, @setting.first FROM @setting WHERE @setting.last IS NULL AND "
            f"@setting.name IN ({literals(CLOSED_WITH_OTHERS)})"
        )
        listed = " OR ".join(
            f"(@setting.name = '{other}' AND @setting.first = '{first}')" for other, first in closed
        )
        steps.append(
            TicketStep(
                said(f"UPDATE @setting SET @setting.last = NULL WHERE {listed}"),
                slips={"sibling_left": ()},
            )
        )
    desk.notes.setting = (name, since, before, value)
    spoken = "the minimum charge" if charge else f"the discount of {theme.class_word} {cls}"
    amount = f"{value:.2f}" if charge else f"{value:.0f} percent"
    text = (
        f"Decision {memo} of this morning: from {since} on, {spoken} is {amount}. Please enter it."
    )
    look = said(f"SELECT * FROM @setting WHERE @setting.name = '{name}'")
    return SQLTicket("setting", text, tuple(steps), look=look)


def setting_reset(desk: TicketDesk) -> RoutineJob | None:
    """A routine gives the new version of a setting the former value."""
    name, since, before, value = desk.notes.setting
    if not name:
        return None

    def valued_at(amount: float) -> str:
        return desk.sql(
            f"UPDATE @setting SET @setting.value = {amount} WHERE @setting.name = '{name}' AND "
            f"@setting.first = '{since}'"
        )

    mend = TicketStep(valued_at(value), slips={"setting_reset_left": ()})
    return RoutineJob((valued_at(before),), (mend,))
