"""Tickets about single accounts, of which some have to be refused, and about the best offers."""

from collections.abc import Sequence

import numpy as np

from hexathlon.tasks.sql.shifts.changes import held_accounts, quoted, set_accounts
from hexathlon.tasks.sql.shifts.tickets import Desk, Refusal, Step, Ticket

__all__ = ["offers", "pause"]

_MOST_OFFERS = 17
Offer = tuple[str, int, int, int]
"""Number, two loads, worth."""


def pause(desk: Desk, held: bool) -> Ticket | None:
    """Ask for an account to be paused; refused if a hold in force names it.

    Both sides have the same words, and an entry of the register names either account.
    """
    draw = desk.draw
    in_force: dict[str, str] = desk.notes["held"]  # type: ignore[assignment]
    used: set[str] = desk.notes.setdefault("paused", set())  # type: ignore[assignment]
    entries = [(str(a), str(b)) for a, b in desk.rows(
        "SELECT r.@register.no, r.@register.entry FROM @register r JOIN @account a ON "
        "a.@account.no = r.@register.no WHERE a.@account.status = 'active' AND "
        "r.@register.what = 'hold'"
    )]  # fmt: skip
    locked = {str(row[0]) for row in desk.rows(
        "SELECT @account.no FROM @account WHERE @account.locked = 1"
    )}  # fmt: skip
    fit = [pair for pair in entries if (pair[0] in in_force) == held and pair[0] not in used]
    if not fit:
        return None
    if "lock_undo" in desk.traps and not held:
        fit = [pair for pair in fit if pair[0] in locked] or fit
    no, entry = draw.pick(fit)
    used.add(no)
    word = desk.ground.theme.account[0]
    text = f"Please set {word} {no} to paused."
    steps = tuple(set_accounts(desk, "status", "paused", [no]))
    if held:
        others = tuple(each for other, each in entries if other not in in_force)
        statements = tuple(step.sql for step in steps)
        refusal = Refusal("not_permitted", in_force[no], others[:2])
        return Ticket("pause", text, refusal=refusal, anyway=statements)
    desk.notes["status_changed"] = True
    desk.slips.setdefault("twin_refused", desk.number())
    return Ticket("pause_twin", text, steps, anyway=(entry,))


def offers(desk: Desk) -> Ticket | None:
    """Ask for the set of offers with the highest worth under two capacities."""
    draw, theme, said = desk.draw, desk.ground.theme, desk.sql
    cls = draw.pick(theme.classes)
    plain = (
        "SELECT o.@offer.offer, o.@offer.a, o.@offer.b, o.@offer.worth FROM @offer o JOIN @account "
        "a ON a.@account.no = o.@offer.no WHERE o.@offer.state IN ('open', 'recheck'){} "
        "ORDER BY o.@offer.offer"
    )
    active, other = " AND a.@account.status = 'active'", f" AND a.@account.cls <> '{cls}'"
    free = f" AND a.@account.no NOT IN ({held_accounts(desk)})"

    def candidates(condition: str) -> list[Offer]:
        return [
            (str(n), int(a), int(b), int(w))  # type: ignore[call-overload]
            for n, a, b, w in desk.rows(plain.format(condition))
        ]

    right = candidates(active + other + free)
    if not 9 <= len(right) <= _MOST_OFFERS:
        return None
    a_most = sum(row[1] for row in right) * draw.between(42, 58) // 100
    b_most = sum(row[2] for row in right) * draw.between(42, 58) // 100
    best = best_set(right, a_most, b_most)
    if best is None or best[1] != bound(right, a_most, b_most):
        return None
    chosen, worth = best
    if greedy(right, a_most, b_most) == chosen:
        return None
    wrong = {
        "greedy_offers": greedy(right, a_most, b_most),
        **{
            name: found[0]
            for name, condition in (
                ("held_offers", active + other), ("other_class", active + free),
                ("inactive_offers", other + free),
            )
            if (kept := candidates(condition)) and len(kept) <= _MOST_OFFERS + 4
            and (found := best_set(kept, a_most, b_most)) is not None
        },
    }  # fmt: skip

    def accepting(numbers: Sequence[str]) -> str:
        return said(
            f"UPDATE @offer SET @offer.state = 'accepted' WHERE @offer.offer IN ({quoted(numbers)})"
        )

    step = Step(
        accepting(chosen), accepting(chosen[::-1]),
        slips={name: (accepting(numbers),) for name, numbers in wrong.items()},
    )  # fmt: skip
    word, many = theme.offer
    load_a, load_b = theme.loads
    text = (
        f"There are {a_most} {load_a} and {b_most} {load_b} left. Accept the open {many} that "
        f"together bring the highest margin within both. A {word} can be accepted if its "
        f"{theme.account[0]} is active, not of {theme.class_word} {cls}, and not under a hold. "
        "Set the accepted ones to accepted and leave the others. Report the total margin."
    )
    return Ticket("offers", text, (step,), answer=(str(worth),))


def best_set(
    offers: Sequence[Offer], a_most: int, b_most: int
) -> tuple[tuple[str, ...], int] | None:
    """Return the offers with the highest worth, by trying all sets; None if two sets are best."""
    count = len(offers)
    sets = np.arange(1 << count)
    total = np.zeros((3, 1 << count), dtype=np.int64)
    for place, (_, a, b, worth) in enumerate(offers):
        total += np.outer((a, b, worth), sets >> place & 1)
    fits = (total[0] <= a_most) & (total[1] <= b_most)
    worths = np.where(fits, total[2], -1)
    top = int(worths.max())
    places = np.flatnonzero(worths == top)
    if len(places) != 1:
        return None
    chosen = int(places[0])
    return tuple(row[0] for place, row in enumerate(offers) if chosen >> place & 1), top


def bound(offers: Sequence[Offer], a_most: int, b_most: int) -> int:
    """Return the highest worth, by dynamic programming over the capacities."""
    table = np.zeros((a_most + 1, b_most + 1), dtype=np.int64)
    for _, a, b, worth in offers:
        if a <= a_most and b <= b_most:
            taken = table[: a_most + 1 - a, : b_most + 1 - b] + worth
            table[a:, b:] = np.maximum(table[a:, b:], taken)
    return int(table[-1, -1])


def greedy(offers: Sequence[Offer], a_most: int, b_most: int) -> tuple[str, ...]:
    """Return what one gets by worth per load."""
    left = [a_most, b_most]
    chosen = []
    for number, a, b, _ in sorted(offers, key=lambda row: -row[3] / (row[1] + row[2])):
        if a <= left[0] and b <= left[1]:
            left = [left[0] - a, left[1] - b]
            chosen.append(number)
    return tuple(sorted(chosen))
