"""Tables that documents oblige the desk to keep: totals, changes of accounts, reported figures.

The rules of the desk and the procedures name them, tickets do not. Totals and reported figures are
compared whenever a ticket is handed in; changes are entered once.
"""

from collections import Counter
from collections.abc import Collection

from hexathlon.tasks.sql.programs.phrases import literals
from hexathlon.tasks.sql.shifts.preparing import key_of
from hexathlon.tasks.sql.shifts.tickets import KeptTable, TicketDesk, TicketStep

__all__ = ["kept_reports", "kept_totals", "log_agrees", "logged", "totals_agree", "unlogged"]

_COUNTED = (
    "SELECT UPPER(TRIM(i.@item.no)) AS no, COUNT(*) AS n FROM @item i GROUP BY UPPER(TRIM("
    "i.@item.no))"
)


def kept_totals(desk: TicketDesk) -> KeptTable:
    """Return what the number of rows per account has to be."""
    said = desk.sql
    return KeptTable(
        "tally_left",
        said("@tally"),
        said(
            "SELECT a.@account.no, COALESCE(c.n, 0) FROM @account a LEFT JOIN "
            f"({_COUNTED}) c ON c.no = a.@account.no"
        ),
        said("SELECT @tally.no, @tally.rows FROM @tally"),
        (
            TicketStep(
                said(
                    f"WITH c AS MATERIALIZED ({_COUNTED}) UPDATE @tally SET @tally.rows = "
                    "COALESCE((SELECT c.n FROM c WHERE c.no = @tally.@tally.no), 0)"
                ),
                said(
                    "UPDATE @tally SET @tally.rows = c.n FROM (SELECT a.@account.no AS no, "
                    "COUNT(x.k) AS n FROM @account a LEFT JOIN (SELECT TRIM(UPPER(@item.no)) AS k "
                    "FROM @item) x ON x.k = a.@account.no GROUP BY a.@account.no) c "
                    "WHERE c.no = @tally.@tally.no"
                ),
            ),
        ),
    )


def kept_reports(desk: TicketDesk) -> KeptTable:
    """Return what the reported figures of today have to be."""
    said, today = desk.sql, desk.ground.today

    def lines(other: bool) -> str:
        return " UNION ALL ".join(
            f"SELECT '{today}', {asked.number}, v.total FROM "
            f"({(asked.ticket.other_query if other else '') or asked.ticket.query}) v"
            for asked in desk.notes.figures
        )

    clear = said(f"DELETE FROM @reported WHERE @reported.day = '{today}'")
    return KeptTable(
        "reported_left",
        said("@reported"),
        lines(other=False),
        said(
            "SELECT @reported.day, @reported.ticket, @reported.value FROM @reported WHERE "
            f"@reported.day = '{today}'"
        ),
        (
            TicketStep(clear),
            TicketStep(
                said("INSERT INTO @reported ") + lines(other=False),
                said("INSERT INTO @reported (@reported.day, @reported.ticket, @reported.value) ")
                + lines(other=True),
            ),
        ),
    )


def logged(
    desk: TicketDesk, numbers: Collection[str], was: str, became: str, slip: str = ""
) -> tuple[TicketStep, ...]:
    """Return the step that enters a change of accounts, if changes are entered on this day."""
    if "log" not in desk.traps:
        return ()
    values = f"'{was}', '{became}', '{desk.ground.today}'"
    return (
        TicketStep(
            desk.sql(
                f"INSERT INTO @log SELECT @account.no, {values} FROM @account WHERE @account.no "
                f"IN ({literals(sorted(numbers))})"
            ),
            slips={"log_left": (), **({slip: ()} if slip else {})},
        ),
    )


def unlogged(
    desk: TicketDesk, numbers: Collection[str], was: str, became: str
) -> tuple[TicketStep, ...]:
    """Return the step that takes the entry of a withdrawn change out."""
    if "log" not in desk.traps:
        return ()
    return (
        TicketStep(
            desk.sql(
                f"DELETE FROM @log WHERE @log.day = '{desk.ground.today}' AND @log.was = '{was}' "
                f"AND @log.became = '{became}' AND @log.no IN ({literals(sorted(numbers))})"
            ),
            slips={"withdrawal_ignored": (), "log_kept": ()},
        ),
    )


def totals_agree(desk: TicketDesk) -> bool:
    """Whether the totals are the numbers of rows, counted in Python."""
    if "tally" not in desk.traps:
        return True
    counts = Counter(key_of(no) for (no,) in desk.rows("SELECT @item.no FROM @item"))
    return all(counts[str(no)] == n for no, n in desk.rows("SELECT * FROM @tally"))


def log_agrees(desk: TicketDesk) -> bool:
    """Whether the changes of today are what distinguishes the accounts from those of the morning.

    The accounts must have been put right since the last routine.
    """
    if "log" not in desk.traps:
        return True
    morning = {str(row[0]): row for row in desk.ground.rows["account"]}
    wanted = []
    for row in desk.rows("SELECT * FROM @account"):
        before = morning[str(row[0])]
        wanted += [
            (row[0], before[place], row[place], desk.ground.today)
            for place in (3, 4)
            if before[place] != row[place]
        ]
    found = desk.rows(f"SELECT * FROM @log WHERE @log.day = '{desk.ground.today}'")
    return sorted(map(repr, wanted)) == sorted(map(repr, found))
