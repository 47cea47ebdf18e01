"""Tickets about single accounts, of which some have to be refused, and about the best offers."""

from collections.abc import Sequence

import numpy as np

from hexathlon.tasks.sql.draws import ValueDraw
from hexathlon.tasks.sql.programs.phrases import literals
from hexathlon.tasks.sql.shifts.accounts import held_accounts, set_accounts
from hexathlon.tasks.sql.shifts.books import logged
from hexathlon.tasks.sql.shifts.preparing import in_force, key_of, respelt
from hexathlon.tasks.sql.shifts.tickets import (
    RoutineJob,
    SQLTicket,
    TicketDesk,
    TicketRefusal,
    TicketStep,
)

__all__ = ["fresh_hold", "fresh_lift", "offers", "offers_reset", "pause"]

_MOST_OFFERS, _CAPACITIES = 16, 5
Offer = tuple[str, int, int, int]
"""Number, two loads, worth."""


def pause(desk: TicketDesk, held: bool) -> SQLTicket | None:
    """Ask for an account to be paused; refused if a hold in force names it.

    Both sides have the same words, and an entry of the register names either account.
    """
    draw, notes = desk.draw, desk.notes
    entries = [(str(a), str(b), str(c)) for a, b, c in desk.rows(
        "SELECT a.@account.no, r.@register.entry, r.@register.no FROM @register r JOIN @account a "
        "ON a.@account.no = UPPER(TRIM(r.@register.no)) WHERE a.@account.status = 'active' AND "
        "r.@register.what = 'hold'"
    )]  # fmt: skip
    unused = [entry for entry in entries if entry[0] not in notes.paused]
    fit = [entry for entry in unused if (entry[0] in notes.held) == held]
    fit = _deceptive(desk, fit) if held else _disturbed(desk, fit)
    if not fit:
        return None
    no, entry, spelling = draw.pick(fit)
    notes.paused.add(no)
    word = desk.ground.theme.account[0]
    text = f"Please set {word} {no} to paused."
    steps = (*set_accounts(desk, "status", "paused", [no]), *logged(desk, [no], "active", "paused"))
    if held:
        others = tuple(each for other, each, _ in entries if other not in notes.held)
        missed = ("new_hold_missed",) if notes.fresh_hold[0] == no else ()
        if spelling != no:
            missed = (*missed, "hold_as_written")
        for slip in missed:
            desk.slips.setdefault(slip, desk.number())
        refusal = TicketRefusal("not_permitted", notes.held[no], others[:2], missed)
        statements = tuple(step.sql for step in steps)
        return SQLTicket("pause", text, refusal=refusal, anyway=statements)
    desk.slips.setdefault("twin_refused", desk.number())
    notes.twin = no
    look = desk.sql(f"SELECT * FROM @account WHERE @account.no = '{no}'")
    return SQLTicket("pause_twin", text, steps, lapsed=entry, look=look)


_Entry = tuple[str, str, str]
"""Account, number of the entry, and the account as the entry spells it."""


def _deceptive(desk: TicketDesk, fit: list[_Entry]) -> list[_Entry]:
    """Return the holds in force that are of today or spelt otherwise, if there are any."""
    held = [entry for entry in fit if entry[1] == desk.notes.held[entry[0]]]
    if "new_hold" in desk.traps:
        return [entry for entry in held if entry[0] == desk.notes.fresh_hold[0]]
    if "soiled_holds" in desk.traps:
        return [entry for entry in held if entry[2] != entry[0]]
    return held


def _disturbed(desk: TicketDesk, fit: list[_Entry]) -> list[_Entry]:
    """Return the accounts on which routines of the database act, if there are any.

    If a hold was lifted today, that is the account.
    """
    if desk.notes.lifted:
        return [entry for entry in fit if entry[0] == desk.notes.lifted]
    if "lock_undo" in desk.traps:
        locked = {row[0] for row in desk.rows(
            "SELECT @account.no FROM @account WHERE @account.locked = 1"
        )}  # fmt: skip
        fit = [entry for entry in fit if entry[0] in locked] or fit
    if "pause_declines" in desk.traps:
        offering = {row[0] for row in desk.rows(
            "SELECT @offer.no FROM @offer WHERE @offer.state = 'open'"
        )}  # fmt: skip
        fit = [entry for entry in fit if entry[0] in offering]
    return fit


def fresh_hold(desk: TicketDesk) -> RoutineJob | None:
    """A colleague enters a hold on an account that had none."""
    ground, draw, notes = desk.ground, desk.draw, desk.notes
    named = {key_of(row[2]) for row in ground.rows["register"] if row[2] is not None}
    moved = set(notes.moves.numbers) if notes.moves is not None else set()
    accepted = {row[0] for row in desk.rows(
        f"SELECT @offer.no FROM @offer WHERE @offer.offer IN ({literals(notes.offers)})"
    )}  # fmt: skip
    fit = [
        str(row[0]) for row in desk.rows("SELECT * FROM @account")
        if row[4] == "active" and row[0] not in named | moved | accepted
    ]  # fmt: skip
    if not fit:
        return None
    no = draw.pick(fit)
    spelling = respelt(no, draw) if "soiled_holds" in desk.traps else no
    entered = _registered(desk, "hold", no, spelling, None)
    if entered is None:
        return None
    notes.fresh_hold = (no, entered[0])
    return RoutineJob((entered[1],))


def fresh_lift(desk: TicketDesk) -> RoutineJob | None:
    """A colleague lifts a hold in force."""
    notes = desk.notes
    active = {str(row[0]) for row in desk.rows(
        "SELECT @account.no FROM @account WHERE @account.status = 'active'"
    )}  # fmt: skip
    held = [
        (no, entry, no) for no, entry in sorted(notes.held.items())
        if no in active and no not in notes.paused and no != notes.fresh_hold[0]
    ]  # fmt: skip
    fit = _disturbed(desk, held)
    if not fit:
        return None
    no, entry, _ = desk.draw.pick(fit)
    entered = _registered(desk, "lift", no, None, entry)
    if entered is None:
        return None
    notes.lifted = no
    return RoutineJob((entered[1],))


def _registered(
    desk: TicketDesk, kind: str, no: str, spelling: str | None, refers: str | None
) -> tuple[str, str] | None:
    """Return number and statement of an entry of today by an officer for an account, and note it.

    None if there is no such officer.
    """
    ground, draw = desk.ground, desk.draw
    code = desk.rows(f"SELECT @account.region FROM @account WHERE @account.no = '{no}'")[0][0]
    able = [row[0] for row in ground.rows["officer"] if row[3] is None and row[1] in ("*", code)]
    if not able:
        return None
    register = ground.rows["register"]
    number = f"H-{max(int(str(row[0])[2:]) for row in register) + draw.between(2, 30)}"
    row = (number, kind, spelling, ground.today, draw.pick(able), refers)
    ground.rows["register"] = [*register, row]
    desk.notes.held = in_force(ground)
    return number, desk.sql(f"INSERT INTO @register VALUES ({literals(row)})")


def offers(desk: TicketDesk) -> SQLTicket | None:
    """Ask for the set of offers with the highest worth under two capacities."""
    draw, theme, said = desk.draw, desk.ground.theme, desk.sql
    plain = (
        "SELECT o.@offer.offer, o.@offer.a, o.@offer.b, o.@offer.worth FROM @offer o JOIN @account "
        "a ON a.@account.no = o.@offer.no WHERE o.@offer.state IN ('open', 'recheck'){} "
        "ORDER BY o.@offer.offer"
    )
    active = " AND a.@account.status = 'active'"
    free = f" AND a.@account.no NOT IN ({held_accounts(desk)})"
    as_written = f" AND a.@account.no NOT IN ({held_accounts(desk, as_written=True)})"

    def candidates(condition: str) -> list[Offer]:
        return [
            (str(n), int(a), int(b), int(w))  # type: ignore[arg-type]
            for n, a, b, w in desk.rows(plain.format(condition))
        ]

    for cls in draw.sample(theme.classes, len(theme.classes)):
        other = f" AND a.@account.cls <> '{cls}'"
        right = candidates(active + other + free)
        best = _unique_best(right, draw) if 9 <= len(right) <= _MOST_OFFERS else None
        if best is not None:
            break
    else:
        return None
    chosen, worth, a_most, b_most = best
    wrong = {
        "greedy_offers": greedy(right, a_most, b_most),
        **{
            name: found[0]
            for name, condition in (
                ("held_offers", active + other),
                ("held_offers_as_written", active + other + as_written),
                ("other_class", active + free),
                ("inactive_offers", other + free),
            )
            if (kept := candidates(condition))
            and (found := best_set(kept, a_most, b_most)) is not None
        },
    }

    def accepting(numbers: Sequence[str]) -> str:
        return said(
            "UPDATE @offer SET @offer.state = 'accepted' WHERE @offer.offer IN "
            f"({literals(numbers)})"
        )

    step = TicketStep(
        accepting(chosen), accepting(chosen[::-1]),
        slips={name: (accepting(numbers),) for name, numbers in wrong.items()},
    )  # fmt: skip
    word, many = theme.offer
    load_a, load_b = theme.loads
    text = (
        f"There are {a_most} {load_a} and {b_most} {load_b} left. Accept the open {many} that "
        f"together bring the highest margin without exceeding either. A {word} can be accepted "
        f"only if its {theme.account[0]} is active, not of {theme.class_word} {cls}, and not under "
        "a hold. Set these to accepted and leave the others unchanged. Report the total margin."
    )
    desk.notes.offers = chosen
    look = said(f"SELECT * FROM @offer WHERE @offer.offer IN ({literals(chosen)})")
    return SQLTicket("offers", text, (step,), answer=(str(worth),), look=look)


def offers_reset(desk: TicketDesk) -> RoutineJob | None:
    """A routine opens some accepted offers again."""
    if len(desk.notes.offers) < 3:
        return None
    listed = literals(sorted(desk.draw.sample(desk.notes.offers, 2)))

    def setting(state: str) -> str:
        return desk.sql(
            f"UPDATE @offer SET @offer.state = '{state}' WHERE @offer.offer IN ({listed})"
        )

    mend = TicketStep(setting("accepted"), slips={"offers_reset_left": ()})
    return RoutineJob((setting("open"),), (mend,))


def _unique_best(
    right: list[Offer], draw: ValueDraw
) -> tuple[tuple[str, ...], int, int, int] | None:
    """Return the best set, its worth, and capacities under which there is just one, not greedy."""
    for _ in range(_CAPACITIES):
        a_most = sum(row[1] for row in right) * draw.between(42, 58) // 100
        b_most = sum(row[2] for row in right) * draw.between(42, 58) // 100
        best = best_set(right, a_most, b_most)
        if best is None or greedy(right, a_most, b_most) == best[0]:
            continue
        if best[1] == highest_worth(right, a_most, b_most):
            return *best, a_most, b_most
    return None


def best_set(
    offers: Sequence[Offer], a_most: int, b_most: int
) -> tuple[tuple[str, ...], int] | None:
    """Return the offers with the highest worth and that worth; None if two sets are best.

    Dynamic programming over the capacities, with the number of best sets beside their worth.
    """
    best = np.zeros((a_most + 1, b_most + 1), dtype=np.int64)
    ways = np.ones_like(best)
    taken = []
    for _, a, b, worth in offers:
        added = np.full_like(best, -1)
        counts = np.zeros_like(best)
        if a <= a_most and b <= b_most:
            added[a:, b:] = best[: a_most + 1 - a, : b_most + 1 - b] + worth
            counts[a:, b:] = ways[: a_most + 1 - a, : b_most + 1 - b]
        taken.append(added > best)
        ways = np.where(added > best, counts, np.where(added == best, ways + counts, ways))
        best = np.maximum(best, added)
    if ways[-1, -1] != 1:
        return None
    chosen, left = [], [a_most, b_most]
    for place in range(len(offers) - 1, -1, -1):
        number, a, b, _ = offers[place]
        if taken[place][left[0], left[1]]:
            chosen.append(number)
            left = [left[0] - a, left[1] - b]
    return tuple(sorted(chosen)), int(best[-1, -1])


def highest_worth(offers: Sequence[Offer], a_most: int, b_most: int) -> int:
    """Return the highest worth, by trying all sets."""
    totals = np.zeros((3, 1), dtype=np.int64)
    for _, a, b, worth in offers:
        totals = np.concatenate([totals, totals + np.array([[a], [b], [worth]])], axis=1)
    fits = (totals[0] <= a_most) & (totals[1] <= b_most)
    return int(totals[2][fits].max())


def greedy(offers: Sequence[Offer], a_most: int, b_most: int) -> tuple[str, ...]:
    """Return what one gets by worth per load."""
    left = [a_most, b_most]
    chosen = []
    for number, a, b, _ in sorted(offers, key=lambda row: -row[3] / (row[1] + row[2])):
        if a <= left[0] and b <= left[1]:
            left = [left[0] - a, left[1] - b]
            chosen.append(number)
    return tuple(sorted(chosen))
