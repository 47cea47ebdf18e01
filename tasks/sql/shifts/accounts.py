"""Tickets about accounts: a change of class, and its withdrawal in part; accounts under a hold."""

from dataclasses import dataclass, replace

from hexathlon.tasks.sql.draws import months_before, shifted
from hexathlon.tasks.sql.english import with_article
from hexathlon.tasks.sql.programs.phrases import literals
from hexathlon.tasks.sql.shifts.books import logged, unlogged
from hexathlon.tasks.sql.shifts.preparing import HOLD_DAYS
from hexathlon.tasks.sql.shifts.tickets import (
    MovedAccounts,
    RoutineJob,
    SQLTicket,
    TicketDesk,
    TicketStep,
)

__all__ = [
    "crm_sync",
    "has_moves",
    "held_accounts",
    "history_reset",
    "moves",
    "reactivated",
    "set_accounts",
    "withdraw_moves",
]


def held_accounts(desk: TicketDesk, *, as_written: bool = False) -> str:
    """Return a query of the accounts that a hold in force names."""
    key = "r.@register.no" if as_written else "UPPER(TRIM(r.@register.no))"

    def entitled(entry: str) -> str:
        return (
            f"EXISTS (SELECT 1 FROM @officer f WHERE f.@officer.name = {entry}.@register.author "
            "AND f.@officer.region IN ('*', a.@account.region) AND f.@officer.first <= "
            f"{entry}.@register.day AND COALESCE(f.@officer.last, '9999-12-31') >= "
            f"{entry}.@register.day)"
        )

    return desk.sql(
        f"SELECT a.@account.no FROM @register r JOIN @account a ON a.@account.no = {key} "
        f"WHERE r.@register.what = 'hold' AND r.@register.day >= DATE('{desk.ground.today}', "
        f"'-{HOLD_DAYS} days') AND {entitled('r')} AND NOT EXISTS (SELECT 1 FROM @register l WHERE "
        f"l.@register.what = 'lift' AND l.@register.refers = r.@register.entry AND {entitled('l')})"
    )


def set_accounts(
    desk: TicketDesk, column: str, value: str, numbers: list[str], slip: str = ""
) -> list[TicketStep]:
    """Return the steps that set a column of accounts, past the routines of the database."""
    said = desk.sql
    locked = [str(row[0]) for row in desk.rows(
        f"SELECT @account.no FROM @account WHERE @account.locked = 1 AND @account.no IN "
        f"({literals(numbers)})"
    )]  # fmt: skip
    ignored = {slip: ()} if slip else {}
    steps = []
    undo = locked and "lock_undo" in desk.traps
    left = {**ignored, "locked_left": ()}
    if undo:
        steps.append(
            TicketStep(said(f"UPDATE @account SET @account.locked = 0 WHERE @account.no IN "
                      f"({literals(locked)})"), slips=left)
        )  # fmt: skip
    where = f"WHERE @account.no IN ({literals(numbers)})"
    steps.append(
        TicketStep(
            said(f"UPDATE @account SET @account.{column} = '{value}' {where}"), slips=ignored
        )
    )
    if undo:
        steps.append(
            TicketStep(said(f"UPDATE @account SET @account.locked = 1 WHERE @account.no IN "
                      f"({literals(locked)})"), slips={"unlocked_left": (), **ignored})
        )  # fmt: skip
    if "cascade" in desk.traps and column == "cls":
        steps.append(
            TicketStep(
                said("UPDATE @offer SET @offer.state = 'open' WHERE @offer.state = 'recheck'"),
                slips={"cascade_left": ()},
            )
        )
    if "pause_declines" in desk.traps and value == "paused":
        offers = [str(row[0]) for row in desk.rows(
            "SELECT @offer.offer FROM @offer WHERE @offer.state = 'open' AND @offer.no IN "
            f"({literals(numbers)})"
        )]  # fmt: skip
        if offers:
            reopened = said(
                "UPDATE @offer SET @offer.state = 'open' WHERE @offer.offer IN "
                f"({literals(offers)})"
            )
            steps.append(TicketStep(reopened, slips={"declined_left": ()}))
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


def _move(desk: TicketDesk) -> _Move | None:
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
    held = desk.notes.held
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


def has_moves(desk: TicketDesk) -> bool:
    """Whether the accounts of the morning allow for a move."""
    return _move(desk) is not None


def moves(desk: TicketDesk) -> SQLTicket | None:
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
    missed = plain + active + f"AND a.@account.no NOT IN ({held_accounts(desk, as_written=True)})"
    as_written = sorted(str(row[0]) for row in desk.rows(missed))
    inactive = sorted(str(row[0]) for row in desk.rows(plain + held))

    def opening(source: str) -> str:
        return said(
            f"INSERT INTO @history SELECT n.@account.no, '{classes[1]}', '{since}', NULL FROM "
            f"({source}) n"
        )

    def closing(listed: list[str]) -> str:
        return said(
            f"UPDATE @history SET @history.last = '{shifted(since, -1)}' WHERE @history.last IS "
            f"NULL AND @history.first < '{since}' AND @history.no IN ({literals(listed)})"
        )

    steps = [
        TicketStep(
            opening(wanted),
            slips={
                "holds_ignored": (opening(said(plain + active)),),
                "holds_as_written": (opening(said(missed)),),
                "inactive_moved": (opening(said(plain + held)),),
                "no_history": (),
            },
        ),
        *_backdated(desk, since, numbers),
        TicketStep(
            closing(numbers),
            said(
                f"UPDATE @history SET @history.last = DATE('{since}', '-1 day') WHERE "
                "@history.last IS NULL AND EXISTS (SELECT 1 FROM @history n WHERE n.@history.no = "
                f"@history.@history.no AND n.@history.first = '{since}') AND @history.first <> "
                f"'{since}'"
            ),
            slips={
                "holds_ignored": (closing(all_held),), "inactive_moved": (closing(inactive),),
                "holds_as_written": (closing(as_written),), "no_history": (),
            },
        ),
        *set_accounts(desk, "cls", classes[1], numbers),
        *logged(desk, numbers, *classes),
    ]  # fmt: skip
    desk.notes.moves = MovedAccounts(desk.number(), classes, since, tuple(numbers))
    text = (
        f"From {since} on, all active {theme.account[1]} of {theme.class_word} {classes[0]} whose "
        f"holder is {with_article(holder.noun)} with {trait.noun} '{value}' belong to "
        f"{theme.class_word} {classes[1]}. Please make the change in the {theme.account[1]} and in "
        "their history."
    )
    look = said(
        "SELECT a.@account.no, a.@account.cls, h.@history.cls, h.@history.first, h.@history.last "
        "FROM @account a JOIN @history h ON h.@history.no = a.@account.no WHERE a.@account.no IN "
        f"({literals(numbers)})"
    )
    return SQLTicket("moves", text, tuple(steps), look=look)


def _backdated(desk: TicketDesk, since: str, numbers: list[str]) -> list[TicketStep]:
    """Return the step that gives new versions the day that a routine has replaced."""
    if "no_backdating" not in desk.traps:
        return []
    return [
        TicketStep(
            desk.sql(
                f"UPDATE @history SET @history.first = '{since}' WHERE @history.first = "
                f"'{desk.ground.today}' AND @history.no IN ({literals(numbers)})"
            ),
            slips={"backdated_left": (), "no_history": ()},
        )
    ]


def withdraw_moves(desk: TicketDesk) -> SQLTicket | None:
    """Withdraw the move of classes for one region."""
    moved = desk.notes.moves
    if moved is None:
        return None
    number, classes, since = moved.number, moved.classes, moved.since
    numbers = list(moved.numbers)
    by_region: dict[str, list[str]] = {}
    for no, code in desk.rows(
        f"SELECT @account.no, @account.region FROM @account WHERE @account.no IN "
        f"({literals(numbers)})"
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
        TicketStep(
            said(
                f"DELETE FROM @history WHERE @history.first = '{since}' AND @history.no IN "
                f"({literals(own)})"
            ),
            slips={slip: (), "versions_left": ()},
        ),
        TicketStep(
            said(
                "UPDATE @history SET @history.last = NULL WHERE @history.last = "
                f"'{shifted(since, -1)}' AND @history.no IN ({literals(own)})"
            ),
            slips={slip: ()},
        ),
        *set_accounts(desk, "cls", classes[0], own, slip),
        *unlogged(desk, own, *classes),
    ]
    kept = tuple(no for no in numbers if no not in own)
    desk.notes.moves = replace(moved, numbers=kept)
    text = (
        f"{theme.region[0].capitalize()} {desk.ground.region_name(code)} does not take part after "
        f"all. Ticket {number} is withdrawn for its {theme.account[1]}: put them back as they were "
        "before it. For all others it still holds."
    )
    return SQLTicket("withdrawal", text, tuple(steps))


def crm_sync(desk: TicketDesk) -> RoutineJob | None:
    """A routine writes the former class back over some moved accounts."""
    moved = desk.notes.moves
    if moved is None:
        return None
    classes = moved.classes
    chosen = desk.draw.sample(
        [str(row[0]) for row in desk.rows(
            "SELECT @account.no FROM @account WHERE @account.locked = 0 AND @account.cls = "
            f"'{classes[1]}' AND @account.no IN ({literals(moved.numbers)})"
        )], 4,
    )  # fmt: skip
    if len(chosen) < 3:
        return None
    statement = desk.sql(
        f"UPDATE @account SET @account.cls = '{classes[0]}' WHERE @account.no IN "
        f"({literals(chosen)})"
    )
    mend = tuple(
        replace(step, slips={**step.slips, "crm_sync_left": ()})
        for step in set_accounts(desk, "cls", classes[1], sorted(chosen))
    )
    return RoutineJob((statement,), mend)


def history_reset(desk: TicketDesk) -> RoutineJob | None:
    """A routine lets the new class of some accounts begin a fortnight later."""
    moved = desk.notes.moves
    if moved is None or len(moved.numbers) < 4:
        return None
    chosen = literals(sorted(desk.draw.sample(moved.numbers, 3)))
    later = shifted(moved.since, 14)

    def shifting(since: str, until: str) -> tuple[str, str]:
        return (
            desk.sql(
                f"UPDATE @history SET @history.last = '{shifted(until, -1)}' WHERE @history.last = "
                f"'{shifted(since, -1)}' AND @history.no IN ({chosen})"
            ),
            desk.sql(
                f"UPDATE @history SET @history.first = '{until}' WHERE @history.first = "
                f"'{since}' AND @history.no IN ({chosen})"
            ),
        )

    mend = tuple(
        TicketStep(each, slips={"history_reset_left": ()}) for each in shifting(later, moved.since)
    )
    return RoutineJob(shifting(moved.since, later), mend)


def reactivated(desk: TicketDesk) -> RoutineJob | None:
    """A routine sets a paused account to active again."""
    no = desk.notes.twin
    if not no:
        return None
    own = f"WHERE @account.no = '{no}'"
    locked = desk.rows(f"SELECT @account.locked FROM @account {own}")[0][0]
    statements = [f"UPDATE @account SET @account.status = 'active' {own}"]
    if locked:
        statements.insert(0, f"UPDATE @account SET @account.locked = 0 {own}")
        statements.append(f"UPDATE @account SET @account.locked = 1 {own}")
    mend = tuple(
        replace(step, slips={**step.slips, "reactivated_left": ()})
        for step in set_accounts(desk, "status", "paused", [no])
    )
    return RoutineJob(tuple(map(desk.sql, statements)), mend)
