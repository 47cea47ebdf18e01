"""Offers of a shift, the terms of its plan, and how both change during the day."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, count

from hexathlon.tasks.web.templates.draft import WebScene
from hexathlon.tasks.web.templates.shifts.haste import exchanged_plans, hasty_plan
from hexathlon.tasks.web.templates.shifts.plans import (
    Offers,
    PlanTerms,
    WorkOffer,
    best_plan,
    is_only_plan,
)

__all__ = ["WORKS", "changed_offers", "changed_terms", "draw_offers", "draw_terms", "out_of_reach"]

WORKS = (
    "Painting the hall|大厅粉刷",
    "Carpets|地毯铺设",
    "Lighting|照明改造",
    "Network cables|网络布线",
    "Furniture transport|家具搬运",
    "Door locks|门锁更换",
    "Roof repair|屋顶修补",
    "Signage|标识制作",
    "Air conditioning|空调检修",
    "Archive shelves|档案架安装",
    "Window frames|窗框更换",
    "Fire alarms|火警系统检修",
    "Parking bays|车位划线",
)
_FIRMS = (
    "Aldous|奥德",
    "Brightway|明途",
    "Corvin|科文",
    "Dunmore|敦茂",
    "Elmstead|榆庄",
    "Farrow|法罗",
    "Gillard|吉拉德",
    "Hexley|赫利",
    "Ingram|英格兰姆",
    "Jessop|杰索普",
    "Kelmar|凯尔玛",
    "Lowther|洛瑟",
)
_WORKS, _FIRMS_DRAWN = 11, 9
_GAP = 0.1
"""Share of works for which a firm makes no offer."""

_MOST_WORKS = 4
_DAYS = range(15, 21)
_PAIRS = 24
"""Pairs of works, of 55, that are cheaper or dearer at the same firm."""

_AMOUNTS = range(80, 360)
_DEARER = 0.2
"""Share of pairs that are dearer."""

_TERMS_DRAWN = 12


def draw_offers(scene: WebScene, authors: Sequence[str]) -> Offers:
    """Draw offers of nine firms for eleven works, in the order of their numbers.

    Args:
        scene: What they are drawn from.
        authors: Names of those who enter offers, some rightly.
    """
    works = [scene.say(*each.split("|")) for each in scene.sample(WORKS, _WORKS)]
    firms = [scene.say(*each.split("|")) for each in scene.sample(_FIRMS, _FIRMS_DRAWN)]
    rates = {firm: float(scene.rng.normal(0, 0.05)) for firm in firms}
    drawn = []
    for work in works:
        base = int(scene.rng.integers(500, 1_600))
        for firm in firms:
            if scene.rng.random() < _GAP:
                continue
            haste = float(scene.rng.random())
            days = max(1, round(8 - 5 * haste + float(scene.rng.normal(0, 1))))
            share = 1 + 0.45 * haste + rates[firm] + float(scene.rng.normal(0, 0.09))
            drawn.append((work, firm, max(60, round(base * share)), days))
    numbers = sorted(scene.sample(range(101, 900), len(drawn)))
    return tuple(
        WorkOffer(f"O-{number}", work, firm, price, days, scene.pick(authors))
        for number, (work, firm, price, days) in zip(
            numbers, scene.sample(drawn, len(drawn)), strict=True
        )
    )


def draw_terms(scene: WebScene, offers: Offers, counting: Offers) -> PlanTerms | None:
    """Draw terms under which the best plan is out of reach; None if there are none.

    Args:
        scene: What they are drawn from.
        offers: Those on the page.
        counting: Those that count.
    """
    works, firms = (sorted({getattr(each, name) for each in offers}) for name in ("work", "firm"))
    if {each.work for each in counting} != set(works):
        return None
    for _ in range(_TERMS_DRAWN):
        charges = tuple((firm, 10 * int(scene.rng.integers(30, 130))) for firm in firms)
        savings = _draw_savings(scene, works)
        terms = PlanTerms(scene.pick(_DAYS), _MOST_WORKS, charges, savings=savings)
        terms = _with_condition(scene, terms, works)
        if out_of_reach(counting, terms):
            return terms
    return None


def _draw_savings(scene: WebScene, works: Sequence[str]) -> tuple[tuple[str, str, int], ...]:
    pairs = sorted(scene.sample(list(combinations(works, 2)), _PAIRS))
    return tuple(
        (one, other, scene.pick(_AMOUNTS) * (-1 if scene.rng.random() < _DEARER else 1))
        for one, other in pairs
    )


def _with_condition(scene: WebScene, terms: PlanTerms, works: Sequence[str]) -> PlanTerms:
    """Add a further condition; training sees only one kind of them."""
    kind = "apart" if scene.split == "train" else scene.pick(("apart", "together", "rebate"))
    pair = tuple(scene.sample(works, 2))
    if kind == "rebate":
        return replace(terms, rebate=10 * int(scene.rng.integers(8, 31)))
    return replace(terms, apart=pair) if kind == "apart" else replace(terms, together=pair)


def out_of_reach(offers: Offers, terms: PlanTerms, former: tuple[str, ...] = ()) -> bool:
    """Whether there is one best plan, to which no hurried choice and no exchanges lead.

    Args:
        offers: Those that count.
        terms: Terms of the plan.
        former: Numbers of the plan that held before.
    """
    best = best_plan(offers, terms)
    return (
        bool(best)
        and best != former
        and hasty_plan(offers, terms) != best
        and all(plan != best for plan in exchanged_plans(offers, terms, former))
        and is_only_plan(offers, terms, best)
    )


def changed_offers(
    scene: WebScene, offers: Offers, counting: Offers, plan: Sequence[str]
) -> Offers:
    """Return the offers after a change: one of the plan is gone or dearer, others are cheaper.

    Args:
        scene: What the change is drawn from.
        offers: Those on the page.
        counting: Those that count.
        plan: Numbers of the plan that holds.
    """
    taken = [each for each in counting if each.number in plan]
    others = [each for each in counting if each.number not in plan]
    kinds = scene.sample(("gone", "dearer", "cheaper", "cheaper", "new"), 2)
    changed: dict[str, WorkOffer | None] = {}
    added = list[WorkOffer]()
    for kind in kinds:
        if kind in ("gone", "dearer"):
            old = scene.pick(taken)
            price = old.price + int(scene.rng.integers(60, 300))
            changed[old.number] = replace(old, price=price) if kind == "dearer" else None
        elif kind == "cheaper":
            old = scene.pick(others)
            price = round(old.price * float(scene.rng.uniform(0.65, 0.9)))
            changed[old.number] = replace(old, price=price)
        else:
            added += _new_offer(scene, offers, taken)
    kept = [changed.get(each.number, each) for each in offers]
    return tuple([each for each in kept if each is not None] + added)


def _new_offer(scene: WebScene, offers: Offers, taken: Sequence[WorkOffer]) -> list[WorkOffer]:
    """Draw an offer of a firm for a work for which it has made none so far."""
    made = {(each.work, each.firm) for each in offers}
    free = [
        (each, firm)
        for each in taken
        for firm in sorted({one.firm for one in offers})
        if (each.work, firm) not in made
    ]
    if not free:
        return []
    old, firm = scene.pick(free)
    known = {each.number for each in offers}
    number = next(f"O-{each}" for each in count(900) if f"O-{each}" not in known)
    price = round(old.price * float(scene.rng.uniform(0.7, 1.05)))
    days = max(1, old.days + int(scene.rng.integers(-2, 2)))
    return [WorkOffer(number, old.work, firm, price, days, old.author)]


def changed_terms(scene: WebScene, terms: PlanTerms, taken: Sequence[WorkOffer]) -> PlanTerms:
    """Return the terms after a change: of the days, of charges, or of savings.

    Args:
        scene: What the change is drawn from.
        terms: The terms so far.
        taken: Offers of the plan that holds.
    """
    kind = scene.pick(("days", "charge", "saving", "saving"))
    if kind == "days":
        return replace(terms, days=terms.days + int(scene.pick((-2, -1, 1, 2))))
    if kind == "saving" and terms.savings:
        return _changed_savings(scene, terms, taken)
    firms = Counter(each.firm for each in taken)
    charges = dict(terms.charges)
    used = scene.pick(sorted(firms))
    unused = [each for each in charges if each not in firms]
    free = scene.pick(unused) if unused else None  # a plan may use every firm
    charges[used] += 10 * int(scene.rng.integers(8, 40))
    if free is not None and scene.rng.random() < 0.6:
        charges[free] = max(50, charges[free] - 10 * int(scene.rng.integers(8, 40)))
    return replace(terms, charges=tuple(charges.items()))


def _changed_savings(scene: WebScene, terms: PlanTerms, taken: Sequence[WorkOffer]) -> PlanTerms:
    """Make a pair of the plan that holds dearer, or another one cheaper, or both."""
    firms = {each.work: each.firm for each in taken}
    same = [one in firms and firms[one] == firms.get(other) for one, other, _ in terms.savings]
    groups = [[place for place, each in enumerate(same) if each is kind] for kind in (True, False)]
    amounts = [amount for _, _, amount in terms.savings]
    chosen = [(sign, group) for sign, group in zip((-1, 1), groups, strict=True) if group]
    if len(chosen) == 2 and scene.rng.random() < 0.5:
        chosen = [scene.pick(chosen)]
    for sign, group in chosen:
        place = scene.pick(group)
        amounts[place] += sign * scene.pick(range(90, 320))
        amounts[place] = amounts[place] or sign  # no pair is listed with 0
    return replace(
        terms,
        savings=tuple(
            (one, other, amount)
            for (one, other, _), amount in zip(terms.savings, amounts, strict=True)
        ),
    )
