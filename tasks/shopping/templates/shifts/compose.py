"""Composition of a day: which customers come in which order, and what goes wrong in between."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.shifts.basket_cases import basket, basket_again
from hexathlon.tasks.shopping.templates.shifts.day import CounterDay, Rejected
from hexathlon.tasks.shopping.templates.shifts.gaps import choose_defects
from hexathlon.tasks.shopping.templates.shifts.order_cases import order_again, order_change
from hexathlon.tasks.shopping.templates.shifts.payment_cases import late_again, late_order
from hexathlon.tasks.shopping.templates.shifts.return_cases import (
    return_again,
    return_parcel,
    swap,
    swap_again,
)
from hexathlon.tasks.shopping.world.retail import DeskProblem

__all__ = ["SHIFTS", "ShiftDraft", "compose_shift"]

CaseMaker = Callable[[CounterDay, str], None]

_FIRST: Mapping[str, CaseMaker] = {
    "order": order_change, "return": return_parcel, "swap": swap, "late": late_order,
    "basket": basket,
}  # fmt: skip
_AGAIN: Mapping[str, CaseMaker] = {
    "order": order_again, "return": return_again, "swap": swap_again, "late": late_again,
    "basket": basket_again,
}  # fmt: skip

SHIFTS: Mapping[str, tuple[str, str]] = {
    "shift_orders": ("order order return late basket", "order order return late basket"),
    "shift_returns": ("return return swap swap order", "return return swap swap order"),
    "shift_baskets": ("basket basket order swap return", "basket basket order return swap"),
    "shift_payments": ("late late order swap swap basket", "late late order swap"),
}
"""Kinds of first cases, and kinds of cases in which such a customer comes back."""


class ShiftDraft(NamedTuple):
    """A composed day."""

    params: dict[str, Any]
    instruction: str
    closes: list[dict[str, Any]]
    plans: list[dict[str, Any]]
    traps: list[str]


def compose_shift(scene: ShoppingScene, template: str) -> ShiftDraft | None:
    """Compose a day, or return None if the draw does not make a valid one."""
    day = CounterDay(scene)
    first, again = (kinds.split() for kinds in SHIFTS[template])
    try:
        for maker, role in _sequence(day, first, again):
            maker(day, role)
        defects = choose_defects(day)
    except (Rejected, DeskProblem):
        return None
    params = {
        "world": "shift",
        "catalogue": {"seed": scene.catalogue.seed, "size": scene.catalogue.size},
        "language": scene.language,
        "policy": day.policy.as_json(),
        "memos": [memo.as_json() for memo in sorted(day.memos, key=lambda m: (m.at, m.id))],
        "cases": day.cases,
        "records": [list(record) for record in day.records],
        "defects": defects,
    }
    traps = sorted({*day.traps, *(defect["kind"] for defect in defects)})
    closes = [dict(entry) for entry in day.counter.state.closes]
    return ShiftDraft(params, _instruction(scene, len(day.cases)), closes, day.plans, traps)


def _sequence(
    day: CounterDay, first: Sequence[str], again: Sequence[str]
) -> list[tuple[CaseMaker, str]]:
    """Draw an order in which everyone who comes back was there at least two cases before."""
    rng = day.rng
    order = [(kind, f"{kind}{i}") for i, kind in enumerate(first)]
    order = [order[i] for i in rng.permutation(len(order)).tolist()]
    line: list[tuple[CaseMaker, str]] = [(_FIRST[kind], role) for kind, role in order]
    used: set[str] = set()
    for kind in again:
        role = next(r for k, r in order if k == kind and r not in used)
        used.add(role)
        place = next(i for i, (_, r) in enumerate(line) if r == role)
        spot = min(place + 2 + int(rng.integers(max(len(line) - place - 1, 1))), len(line))
        line.insert(spot, (_AGAIN[kind], role))
    return line


def _instruction(scene: ShoppingScene, cases: int) -> str:
    return scene.say(
        f"You are alone at the service counter today; {cases} customers come one after the other. "
        "Serve each of them by the written policy (read_policy, several pages) and the memos, and "
        "close each case with finish_case. Today is day 0; earlier days are negative. Amounts in "
        "tools are in cents. Customers say only what they think of; ask_customer asks about one "
        "subject. A customer may still ask for something when you close the case: it then stays "
        "open. The day is right only if at every close all records are as they have to be.",
        f"今天由您一人值守客服柜台，先后有{cases}位顾客。"
        "请按书面政策（read_policy，分多页）和通知办理，"
        "每位办完用 finish_case 结案。今天是第0天，之前的日子为负数。工具中的金额以分为单位。"
        "顾客只会说自己想到的事，可用 ask_customer 询问某一方面。"
        "结案时顾客可能又提出要求，这时案件尚未结束。"
        "每次结案时所有记录都正确，这一天才算办对。",
    )
