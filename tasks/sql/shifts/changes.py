"""Tickets that change the database: prices, a delivery, classes, and withdrawals in part."""

from dataclasses import dataclass, replace

from hexathlon.tasks.sql.shifts.draws import months_before, shifted
from hexathlon.tasks.sql.shifts.preparing import HOLD_DAYS
from hexathlon.tasks.sql.shifts.tickets import Desk, Job, Step, Ticket

__all__ = [
    "arrivals", "crm_sync", "delivery", "feed_again", "has_moves", "held_accounts", "moves",
    "price_sync", "prices", "set_accounts", "setting",
    "withdraw_delivery", "withdraw_moves", "withdraw_prices",
]  # fmt: skip


def quoted(values: object) -> str:
    """Return texts as an SQL list."""
    return ", ".join(f"'{value}'" for value in values)  # type: ignore[attr-defined]


# -- prices --------------------------------------------------------------------------------------

_LATEST = (
    "(SELECT l.@list.kind AS kind, l.@list.region AS region, l.@list.first AS first, "
    "l.@list.price AS price FROM @list l WHERE l.@list.line = (SELECT MAX(o.@list.line) FROM @list "
    "o WHERE o.@list.kind = l.@list.kind AND o.@list.region = l.@list.region))"
)
_FIRST_LINES = _LATEST.replace("MAX", "MIN")


def prices(desk: Desk) -> Ticket | None:
    """Bring the price list in: new versions, replaced prices, unchanged ones."""
    said = desk.sql

    def replacing(lines: str) -> str:
        return said(
            f"WITH l AS {lines} UPDATE @price SET @price.price = (SELECT l.price FROM l WHERE "
            "l.kind = @price.@price.kind AND l.region = @price.@price.region AND l.first = "
            "@price.@price.first) WHERE EXISTS (SELECT 1 FROM l WHERE l.kind = @price.@price.kind "
            "AND l.region = @price.@price.region AND l.first = @price.@price.first AND l.price <> "
            "@price.@price.price)"
        )

    replaced = replacing(_LATEST)
    open_ = said(
        f"SELECT COUNT(*) FROM @price p JOIN {_LATEST} l ON l.kind = p.@price.kind AND l.region = "
        "p.@price.region AND l.first = p.@price.first WHERE l.price <> p.@price.price"
    )

    def insertion(lines: str, unequal: str) -> str:
        return said(
            "INSERT INTO @price (@price.kind, @price.region, @price.first, @price.last, "
            f"@price.price) SELECT l.kind, l.region, l.first, p.@price.last, l.price FROM {lines} "
            "l JOIN @price p ON p.@price.kind = l.kind AND p.@price.region = l.region AND "
            "p.@price.first < l.first AND COALESCE(p.@price.last, '9999-12-31') >= l.first "
            f"WHERE {unequal} AND NOT EXISTS (SELECT 1 FROM @price q WHERE q.@price.kind = l.kind "
            "AND q.@price.region = l.region AND q.@price.first = l.first)"
        )

    unequal = "ABS(p.@price.price - l.price) > 0.001"
    closing = said(
        "UPDATE @price SET @price.last = (SELECT DATE(n.@price.first, '-1 day') FROM @price n "
        "WHERE n.@price.kind = @price.@price.kind AND n.@price.region = @price.@price.region AND "
        "n.@price.first > @price.@price.first ORDER BY n.@price.first LIMIT 1) WHERE EXISTS "
        "(SELECT 1 FROM @price n WHERE n.@price.kind = @price.@price.kind AND n.@price.region = "
        "@price.@price.region AND n.@price.first > @price.@price.first AND n.@price.first <= "
        "COALESCE(@price.@price.last, '9999-12-31'))"
    )
    other_closing = said(
        f"UPDATE @price SET @price.last = DATE(l.first, '-1 day') FROM {_LATEST} l WHERE l.kind = "
        "@price.@price.kind AND l.region = @price.@price.region AND @price.@price.first < l.first "
        "AND (@price.@price.last IS NULL OR @price.@price.last >= l.first) AND EXISTS (SELECT 1 "
        "FROM @price n WHERE n.@price.kind = l.kind AND n.@price.region = l.region AND "
        "n.@price.first = l.first)"
    )
    steps = (
        Step(
            insertion(_LATEST, unequal),
            slips={
                "equal_prices_inserted": (insertion(_LATEST, "1 = 1"),),
                "first_line_taken": (insertion(_FIRST_LINES, unequal),),
            },
        ),
        Step(closing, other_closing, slips={"version_left_open": ()}),
        Step(replaced, slips={
                "price_as_it_came_out": (replaced,),
                "not_replaced": (),
                "first_line_taken": (replacing(_FIRST_LINES),) * 8,
            },
             until=open_),
    )  # fmt: skip
    if "rounding" in desk.traps:
        rest = steps[2].slips
        only = said(
            f"WITH l AS {_LATEST} UPDATE @price SET @price.price = (SELECT l.price FROM l WHERE "
            "l.kind = @price.@price.kind AND l.region = @price.@price.region AND l.first = "
            "@price.@price.first) WHERE EXISTS (SELECT 1 FROM l JOIN @nightly n ON n.@price.kind "
            "= l.kind AND n.@price.region = l.region AND n.@price.first = l.first WHERE l.kind = "
            "@price.@price.kind AND l.region = @price.@price.region AND l.first = "
            "@price.@price.first AND l.price <> @price.@price.price)"
        )
        steps = (*steps[:2], replace(steps[2], slips={**rest, "price_as_it_came_out": (only,)}))
    desk.notes["prices"] = desk.number()
    desk.notes["listed"] = {
        (str(kind), str(region), str(first)): float(price)  # type: ignore[arg-type]
        for kind, region, first, price in desk.rows(f"SELECT * FROM {_LATEST}")
    }
    table = desk.sql("@list")
    text = (
        f"The new price list is in {table}. Bring it into the prices, as the procedure for price "
        "lists says."
    )
    return Ticket("prices", text, steps)


def withdraw_prices(desk: Desk) -> Ticket | None:
    """Withdraw the price list for one kind: its prices are again as they were this morning."""
    if "prices" not in desk.notes:
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
        Step(removing, slips={"withdrawal_ignored": (), "only_closed": ()}),
        Step(reopening, slips={"withdrawal_ignored": (), "left_closed": ()}),
        Step(restoring, slips={"withdrawal_ignored": (), "old_prices_lost": ()}, until=open_),
    )
    desk.notes["kept_kind"] = kind
    number = desk.notes["prices"]
    text = (
        f"The new prices do not hold for the kind {kind} after all. What ticket {number} asked for "
        f"is withdrawn for {kind}: leave its prices as they were this morning. For all other kinds "
        "it stays."
    )
    return Ticket("withdrawal", text, steps)


def price_sync(desk: Desk) -> Job | None:
    """A routine writes prices of this morning back over replaced ones."""
    if "prices" not in desk.notes:
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
            Step(
                desk.sql(f"UPDATE @price SET @price.price = {new} WHERE {where}"),
                slips={"price_sync_left": ()},
                until=desk.sql(
                    f"SELECT COUNT(*) FROM @price WHERE {where} AND @price.price <> {new}"
                ),
            )
        )
    return Job("price_sync", tuple(statements), tuple(mend))


# -- settings ------------------------------------------------------------------------------------


def setting(desk: Desk) -> Ticket | None:
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
        Step(
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
        Step(
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
            Step(
                said(f"UPDATE @setting SET @setting.value = {value} WHERE {own} = '{since}'"),
                slips={"setting_overwritten": (), "fraction_left": ()},
            )
        )
    spoken = "the minimum charge" if charge else f"the discount of {theme.class_word} {cls}"
    amount = f"{value:.2f}" if charge else f"{value:.0f} percent"
    text = (
        f"Decision {memo} of this morning: from {since} on, {spoken} is {amount}. Please enter it."
    )
    return Ticket("setting", text, tuple(steps))


# -- a delivery ----------------------------------------------------------------------------------


def delivery(desk: Desk) -> Ticket | None:
    """Bring the lines of a delivery in, without their faults."""
    batch = int(desk.notes["batch"])  # type: ignore[call-overload]
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
        Step(
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
            Step(
                said(
                    "DELETE FROM @item WHERE @item.source = 'auto' AND "
                    f"@item.id > 5000000 AND @item.entered = '{ground.today}'"
                ),
                said(f"DELETE FROM @item WHERE @item.id - 5000000 BETWEEN {batch}001 AND "
                     f"{batch}999"),
                slips={"copies_left": ()},
            )
        )  # fmt: skip
    desk.notes["delivery"] = desk.number()
    table = desk.sql("@stage")
    text = (
        f"Delivery {batch} is in {table}. Bring it into the {ground.theme.item[1]}, as the "
        "procedure for deliveries says; it must be in there once."
    )
    return Ticket("delivery", text, tuple(steps))


def withdraw_delivery(desk: Desk) -> Ticket | None:
    """Withdraw a delivery in part: for one region."""
    if "delivery" not in desk.notes:
        return None
    batch, number = desk.notes["batch"], desk.notes["delivery"]
    code, name = desk.draw.pick(desk.ground.regions)
    own = f"@item.id BETWEEN {batch}001 AND {batch}999"
    step = Step(
        desk.sql(
            f"DELETE FROM @item WHERE {own} AND @item.no IN (SELECT @account.no FROM @account "
            f"WHERE @account.region = '{code}')"
        ),
        slips={
            "withdrawal_ignored": (),
            "all_withdrawn": (desk.sql(f"DELETE FROM @item WHERE {own}"),),
        },
    )
    text = (
        f"{desk.ground.theme.region[0].capitalize()} {name} has sent its lines in error. What "
        f"ticket {number} asked for is withdrawn for the {desk.ground.theme.account[1]} of {name}: "
        "leave them as they were before it. For all others it stays."
    )
    desk.notes["delivery_without"] = code
    return Ticket("withdrawal", text, (step,))


def feed_again(desk: Desk) -> Job | None:
    """A routine enters lines of a delivery again, under other numbers."""
    if "delivery" not in desk.notes:
        return None
    batch = desk.notes["batch"]
    rows = desk.rows(f"SELECT * FROM @item WHERE @item.id BETWEEN {batch}001 AND {batch}999")
    if len(rows) < 10:
        return None
    statements, numbers = [], []
    for row in desk.draw.sample(rows, 7):
        number = int(row[0]) + 500  # type: ignore[call-overload]
        numbers.append(number)
        values = ", ".join("NULL" if v is None else repr(v) for v in (number, *row[1:9], "feed"))
        statements.append(desk.sql(f"INSERT INTO @item VALUES ({values})"))
    listed = ", ".join(map(str, numbers))
    mend = Step(
        desk.sql(f"DELETE FROM @item WHERE @item.id IN ({listed})"),
        desk.sql(
            f"DELETE FROM @item WHERE @item.id BETWEEN {batch}501 AND {batch}999 AND @item.source "
            "= 'feed'"
        ),
        slips={"feed_again_left": ()},
    )
    return Job("feed_again", tuple(statements), (mend,))


def arrivals(desk: Desk) -> Job | None:
    """A colleague enters items of today, which count."""
    ground, draw = desk.ground, desk.draw
    accounts = [str(row[0]) for row in ground.rows["account"] if row[4] == "active"]
    newest = int(desk.rows("SELECT MAX(@item.id) FROM @item WHERE @item.id < 300000")[0][0])  # type: ignore[call-overload]
    statements = []
    for place in range(9):
        booked = draw.between(1, 6)
        values = (
            newest + 1 + place, draw.pick(accounts), draw.pick(ground.theme.kinds),
            shifted(ground.today, -booked), shifted(ground.today, -draw.below(booked)),
            ground.today, draw.between(2, 20) * 0.5, "final",
        )  # fmt: skip
        listed = ", ".join(map(repr, values))
        statements.append(desk.sql(f"INSERT INTO @item VALUES ({listed}, NULL, 'desk')"))
    return Job("arrivals", tuple(statements))


# -- classes -------------------------------------------------------------------------------------


def held_accounts(desk: Desk) -> str:
    """Return a query of the accounts that a hold in force names."""

    def entitled(entry: str) -> str:
        return (
            f"EXISTS (SELECT 1 FROM @officer f WHERE f.@officer.name = {entry}.@register.author "
            "AND f.@officer.region IN ('*', a.@account.region) AND f.@officer.first <= "
            f"{entry}.@register.day AND COALESCE(f.@officer.last, '9999-12-31') >= "
            f"{entry}.@register.day)"
        )

    return desk.sql(
        "SELECT r.@register.no FROM @register r JOIN @account a ON a.@account.no = r.@register.no "
        f"WHERE r.@register.what = 'hold' AND r.@register.day >= DATE('{desk.ground.today}', "
        f"'-{HOLD_DAYS} days') AND {entitled('r')} AND NOT EXISTS (SELECT 1 FROM @register l WHERE "
        f"l.@register.what = 'lift' AND l.@register.refers = r.@register.entry AND {entitled('l')})"
    )


def set_accounts(
    desk: Desk, column: str, value: str, numbers: list[str], slip: str = ""
) -> list[Step]:
    """Return the steps that set a column of accounts, past the routines of the database."""
    said = desk.sql
    locked = [str(row[0]) for row in desk.rows(
        f"SELECT @account.no FROM @account WHERE @account.locked = 1 AND @account.no IN "
        f"({quoted(numbers)})"
    )]  # fmt: skip
    ignored = {slip: ()} if slip else {}
    steps = []
    undo = locked and "lock_undo" in desk.traps
    left = {**ignored, "locked_left": ()}
    if undo:
        steps.append(
            Step(said(f"UPDATE @account SET @account.locked = 0 WHERE @account.no IN "
                      f"({quoted(locked)})"), slips=left)
        )  # fmt: skip
    where = f"WHERE @account.no IN ({quoted(numbers)})"
    steps.append(
        Step(said(f"UPDATE @account SET @account.{column} = '{value}' {where}"), slips=ignored)
    )
    if undo:
        steps.append(
            Step(said(f"UPDATE @account SET @account.locked = 1 WHERE @account.no IN "
                      f"({quoted(locked)})"), slips={"unlocked_left": (), **ignored})
        )  # fmt: skip
    if "cascade" in desk.traps and column == "cls":
        steps.append(
            Step(
                said("UPDATE @offer SET @offer.state = 'open' WHERE @offer.state = 'recheck'"),
                slips={"cascade_left": ()},
            )
        )
    return steps


@dataclass(frozen=True)
class _Move:
    """Accounts that change their class, and those that are nearly among them."""

    value: str
    classes: tuple[str, str]
    since: str
    plain: str
    """Query of the accounts, whatever their status and holds."""
    active: str
    """Condition on the status."""
    free: str
    """Condition on holds."""
    numbers: tuple[str, ...]


def _move(desk: Desk) -> _Move | None:
    """Return a move that meets holds, and the routines of the day if there are any."""
    ground, draw = desk.ground, desk.draw
    holder, trait = ground.holder, ground.trait
    values = sorted({str(each) for each in ground.trait_of.values() if each is not None})
    pairs = [(a, b) for a in ground.theme.classes for b in ground.theme.classes if a != b]
    since = months_before(ground.today, draw.between(1, 2))
    free = f"AND a.@account.no NOT IN ({held_accounts(desk)})"
    active = "AND a.@account.status = 'active' "
    rows = desk.rows(
        f"SELECT a.@account.no, a.@account.cls, a.@account.locked, h.{trait.name}, EXISTS (SELECT "
        "1 FROM @offer o WHERE o.@offer.no = a.@account.no AND o.@offer.state = 'open') FROM "
        f"@account a JOIN {holder.name} h ON h.{holder.key} = a.@account.holder WHERE "
        "a.@account.status = 'active'"
    )
    held: dict[str, str] = desk.notes["held"]  # type: ignore[assignment]
    choices = [(value, pair) for value in values for pair in pairs]
    for value, classes in draw.sample(choices, len(choices)):
        near = [row for row in rows if row[3] == value and row[1] == classes[0]]
        kept = [row for row in near if row[0] not in held]
        if (
            not 8 <= len(kept) <= 60
            or len(kept) == len(near)
            or ("cascade" in desk.traps and not any(row[4] for row in kept))
            or ("lock_undo" in desk.traps and not any(row[2] for row in kept))
        ):
            continue
        plain = (
            f"SELECT a.@account.no FROM @account a JOIN {holder.name} h ON h.{holder.key} = "
            f"a.@account.holder WHERE h.{trait.name} = '{value}' AND a.@account.cls = "
            f"'{classes[0]}' "
        )
        numbers = tuple(sorted(str(row[0]) for row in desk.rows(plain + active + free)))
        if numbers == tuple(sorted(str(row[0]) for row in kept)):
            return _Move(value, classes, since, plain, active, free, numbers)
    return None


def has_moves(desk: Desk) -> bool:
    """Whether the accounts of the morning allow for a move."""
    return _move(desk) is not None


def moves(desk: Desk) -> Ticket | None:
    """Move the accounts of some holders into another class from a day on."""
    move = _move(desk)
    if move is None:
        return None
    said, ground = desk.sql, desk.ground
    theme, holder, trait = ground.theme, ground.holder, ground.trait
    value, classes, since, numbers = move.value, move.classes, move.since, list(move.numbers)
    plain, active, held = move.plain, move.active, move.free
    wanted = said(plain + active + held)
    all_held = sorted(str(row[0]) for row in desk.rows(plain + active))
    inactive = sorted(str(row[0]) for row in desk.rows(plain + held))

    def opening(source: str) -> str:
        return said(
            f"INSERT INTO @history SELECT n.@account.no, '{classes[1]}', '{since}', NULL FROM "
            f"({source}) n"
        )

    def closing(listed: list[str]) -> str:
        return said(
            f"UPDATE @history SET @history.last = '{shifted(since, -1)}' WHERE @history.last IS "
            f"NULL AND @history.first < '{since}' AND @history.no IN ({quoted(listed)})"
        )

    steps = [
        Step(
            opening(wanted),
            slips={
                "holds_ignored": (opening(said(plain + active)),),
                "inactive_moved": (opening(said(plain + held)),),
                "no_history": (),
            },
        ),
        Step(
            closing(numbers),
            said(
                f"UPDATE @history SET @history.last = DATE('{since}', '-1 day') WHERE "
                "@history.last IS NULL AND EXISTS (SELECT 1 FROM @history n WHERE n.@history.no = "
                f"@history.@history.no AND n.@history.first = '{since}') AND @history.first <> "
                f"'{since}'"
            ),
            slips={
                "holds_ignored": (closing(all_held),), "inactive_moved": (closing(inactive),),
                "no_history": (),
            },
        ),
        *set_accounts(desk, "cls", classes[1], numbers),
    ]  # fmt: skip
    desk.notes["moves"] = (desk.number(), classes, since, numbers)
    text = (
        f"From {since} on, all active {theme.account[1]} of {theme.class_word} {classes[0]} whose "
        f"holder is {_article(holder.noun)} with {trait.noun} {value} are of {theme.class_word} "
        f"{classes[1]}. Please see to it, in the {theme.account[1]} and in their history."
    )
    return Ticket("moves", text, tuple(steps))


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def withdraw_moves(desk: Desk) -> Ticket | None:
    """Withdraw the move of classes for one region."""
    if "moves" not in desk.notes:
        return None
    number, classes, since, numbers = desk.notes["moves"]  # type: ignore[misc]
    by_region = {}
    for no, code in desk.rows(
        f"SELECT @account.no, @account.region FROM @account WHERE @account.no IN "
        f"({quoted(numbers)})"
    ):
        by_region.setdefault(str(code), []).append(str(no))
    fit = [code for code, own in sorted(by_region.items()) if 2 <= len(own) < len(numbers)]
    if not fit:
        return None
    code = desk.draw.pick(fit)
    own = sorted(by_region[code])
    said, theme = desk.sql, desk.ground.theme
    slip = "withdrawal_ignored"
    steps = [
        Step(
            said(
                f"DELETE FROM @history WHERE @history.first = '{since}' AND @history.no IN "
                f"({quoted(own)})"
            ),
            slips={slip: (), "versions_left": ()},
        ),
        Step(
            said(
                "UPDATE @history SET @history.last = NULL WHERE @history.last = "
                f"'{shifted(since, -1)}' AND @history.no IN ({quoted(own)})"
            ),
            slips={slip: ()},
        ),
        *set_accounts(desk, "cls", classes[0], own, slip),
    ]
    desk.notes["moved"] = [no for no in numbers if no not in own]
    text = (
        f"{theme.region[0].capitalize()} {desk.ground.region_name(code)} keeps its "
        f"{theme.account[1]} as they are. What ticket {number} asked for is withdrawn for the "
        f"{theme.account[1]} of {desk.ground.region_name(code)}: leave them as they were before "
        "it. For all others it stays."
    )
    return Ticket("withdrawal", text, tuple(steps))


def crm_sync(desk: Desk) -> Job | None:
    """A routine writes the former class back over some moved accounts."""
    if "moves" not in desk.notes:
        return None
    _, classes, _, numbers = desk.notes["moves"]  # type: ignore[misc]
    moved = desk.notes.get("moved", numbers)
    chosen = desk.draw.sample(
        [str(row[0]) for row in desk.rows(
            "SELECT @account.no FROM @account WHERE @account.locked = 0 AND @account.cls = "
            f"'{classes[1]}' AND @account.no IN ({quoted(moved)})"
        )], 4,
    )  # fmt: skip
    if len(chosen) < 3:
        return None
    statement = desk.sql(
        f"UPDATE @account SET @account.cls = '{classes[0]}' WHERE @account.no IN ({quoted(chosen)})"
    )
    mend = tuple(
        replace(step, slips={**step.slips, "crm_sync_left": ()})
        for step in set_accounts(desk, "cls", classes[1], sorted(chosen))
    )
    return Job("crm_sync", (statement,), mend)
