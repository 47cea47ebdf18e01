"""Composition of months and baskets: which requests come in which order, and the budget."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hexathlon.tasks.shopping.scene import ShoppingScene
from hexathlon.tasks.shopping.templates.household.baskets import BASKETS
from hexathlon.tasks.shopping.templates.household.changes import (
    ban,
    interference,
    lifted,
    more_guests,
    party,
    reaction,
    withdrawn,
)
from hexathlon.tasks.shopping.templates.household.month import HouseMonth, Unfit
from hexathlon.tasks.shopping.templates.household.needs import supplies, usual, wear, wish
from hexathlon.tasks.shopping.templates.household.rules import house_rules
from hexathlon.tasks.shopping.world.wording import money

__all__ = ["HOUSEHOLDS", "HouseDraft", "compose_household"]


class HouseDraft(NamedTuple):
    """A composed month or basket."""

    params: dict[str, Any]
    instruction: str
    closes: list[dict[str, Any]]
    plans: list[dict[str, Any]]
    twists: list[str]


_EVENTS = (
    ("the class trip", "班级秋游"), ("the school hike", "学校远足"),
    ("the autumn camp", "秋令营"), ("the nature day", "户外实践活动"),
)  # fmt: skip


def _guests(month: HouseMonth, *, short: bool) -> None:
    """A month in which guests come, more of them, and then none."""
    event = month.pick(_EVENTS)
    first, second = (str(k) for k in month.rng.permutation(["wipes", "detergent", "plasters"])[:2])
    supplies(month, month.mother, 2, [first], month.span(13, 15), stir=month.chance(0.4))
    known = party(month, month.grandmother, 3, month.span(17, 19), ["bars", "crackers", "cups"])
    ban(month, month.father)
    if short:
        more_guests(month, 5, known)
        key = usual(month, month.father, 6, "capsules")
        interference(month, 7, month.son, key, month.father)
        wish(month, month.daughter, 8, outcome=month.pick(("bought", "refused")))
        return
    child = month.pick((month.daughter, month.son))
    wear(month, month.mother, 4, [child], [["boots", "jacket"]], event, month.span(14, 16))
    key = usual(month, month.father, 5, "capsules", stir=month.chance(0.4))
    if not month.train:
        ban(month, month.son)
    more_guests(month, 6, known)
    supplies(month, month.father, 7, [first], month.span(17, 19))
    interference(month, 8, month.daughter, key, month.father)
    wish(month, month.son, 9, outcome=month.pick(("bought", "refused")))
    lifted(month)
    supplies(month, month.mother, 10, [second, "pads"], 26, stir=month.chance(0.5))
    keys = [known["key"], *([known["more"]] if "more" in known else [])]
    said = month.say(
        f"I'm ill, so {known['event'][0]} is off. Please give back everything you ordered for it.",
        f"我病了，{known['event'][1]}取消了。为它买的东西都退掉吧。",
    )
    withdrawn(month, month.span(11, 13), known["by"], keys, said)
    wish(month, month.daughter, 14, outcome=month.pick(("unaffordable", "bought")))
    usual(month, month.grandmother, 15, "gloves")


def _health(month: HouseMonth, *, short: bool) -> None:
    """A month in which somebody reacts to something that has been bought."""
    event = month.pick(_EVENTS)
    supplies(month, month.father, 2, ["gloves"], month.span(13, 15))
    ban(month, month.mother)
    known = party(month, month.mother, 3, month.span(15, 17), ["bars", "cups"])
    if short:
        supplies(month, month.mother, 5, ["wipes"], 18)
        reaction(month, month.span(6, 9), month.father)
        supplies(month, month.father, 10, ["plasters", "mats"], 22)
        return
    wear(month, month.father, 4, [month.daughter, month.son], [["trainers"], ["jumper"]], event,
         month.span(14, 16))  # fmt: skip
    supplies(month, month.grandmother, 5, ["wipes", "papers"], month.span(18, 20),
             stir=month.chance(0.5))  # fmt: skip
    key = usual(month, month.grandmother, 6, "detergent", stir=month.chance(0.5))
    if not month.train:
        ban(month, month.daughter)
    wish(month, month.daughter, 7, outcome=month.pick(("bought", "refused")))
    more_guests(month, 8, known)
    reaction(month, 9, month.father)
    supplies(month, month.mother, 10, ["plasters"], month.span(22, 24), stir=month.chance(0.4))
    lifted(month)
    agreed = interference(month, 11, month.father, key, month.grandmother)
    supplies(month, month.father, 12, ["crackers", "liners"], 25)
    said = month.say("Somebody gave me loads of laundry capsules. Please give back the ones I "
                     "ordered.",
                     "别人送了我一大堆洗衣凝珠，我订的那些退了吧。")  # fmt: skip
    if not agreed:
        withdrawn(month, month.span(13, 14), month.grandmother, [key], said)
    wish(month, month.son, 15, outcome=month.pick(("unaffordable", "bought")))


def _supplies(month: HouseMonth, *, short: bool) -> None:
    """A month of supplies that several people see to without talking to each other."""
    event = month.pick(_EVENTS)
    kinds = [str(k) for k in month.rng.permutation(["mats", "liners", "pads", "papers"])]
    supplies(month, month.father, 1, kinds[:1], 12)
    ban(month, month.father)
    supplies(month, month.mother, 2, ["crackers", "detergent"], 14, stir=month.chance(0.5))
    if short:
        supplies(month, month.grandmother, 4, ["crackers"], month.span(14, 17))
        key = usual(month, month.mother, 5, "capsules", stir=month.chance(0.5))
        interference(month, 6, month.father, key, month.mother)
        return
    key = usual(month, month.mother, 3, "capsules", stir=month.chance(0.5))
    supplies(month, month.grandmother, 4, ["crackers"], month.span(14, 17))
    clothes = [["boots", "leggings"]]
    wear(month, month.grandmother, 5, [month.son], clothes, event, month.span(13, 15))
    if not month.train:
        ban(month, month.daughter)
    supplies(month, month.mother, 6, [kinds[0], kinds[1]], 19)
    agreed = interference(month, 7, month.father, key, month.mother)
    lifted(month)
    known = party(month, month.father, 8, month.span(19, 21), ["bars", "cups"])
    wish(month, month.son, 9, outcome=month.pick(("bought", "refused")))
    supplies(month, month.father, 10, ["detergent"], month.span(20, 23))
    said = month.say("I'm giving up coffee. Please give back my capsules.",
                     "我打算戒咖啡了，胶囊退掉吧。")  # fmt: skip
    if not agreed:
        withdrawn(month, month.span(10, 12), month.mother, [key], said)
    more_guests(month, 13, known)
    wish(month, month.daughter, 14, outcome=month.pick(("unaffordable", "bought")))
    reaction(month, month.span(15, 16), month.mother)


def _later(month: HouseMonth) -> None:
    """The rest of a long month: a second kind of usual goods, and what that leads to."""
    kinds = [str(k) for k in month.rng.permutation(["liners", "papers", "pads", "crackers"])]
    buyers = [month.father, month.mother, month.grandmother]
    first, second, third = (buyers[int(i)] for i in month.rng.permutation(3))
    supplies(month, first, 17, kinds[:2], month.span(27, 29), stir=month.chance(0.5))
    key = usual(month, second, 18, "detergent", stir=month.chance(0.3))
    on = month.day
    supplies(month, third, 19, ["wipes"], month.span(28, 30))
    agreed = interference(month, 20, first, key, second)
    wish(month, month.pick((month.daughter, month.son)), 21, outcome="refused")
    # Other orders can have laundry capsules, too.
    said = month.say("I've found a whole box of laundry capsules in the cellar. Please give back "
                     f"the ones I asked for on day {on}.",
                     f"我在地下室翻出一整箱洗衣凝珠，第{on}天让你订的那些退了吧。")  # fmt: skip
    if not agreed:
        withdrawn(month, 22, second, [key], said)
    supplies(month, second, 23, [kinds[2]], 30)


_MONTHS: Mapping[str, Callable[..., None]] = {
    "month_guests": _guests, "month_health": _health, "month_supplies": _supplies,
}  # fmt: skip

HOUSEHOLDS = (*_MONTHS, *BASKETS)
"""Names of all templates of households."""


def compose_household(scene: ShoppingScene, template: str) -> HouseDraft | None:
    """Compose a month or a basket, or return None if the draw makes no valid one."""
    short = scene.level == "medium"
    month = HouseMonth(scene, 10 if short and template in _MONTHS else 14)
    try:
        if template in _MONTHS:
            due = _due(month)
            _MONTHS[template](month, short=short)
            if not short:
                _later(month)
        else:
            due = 0
            month.fewest = 3
            BASKETS[template](month)
        month.done()
        budget = _budget(month, due)
    except Unfit:
        return None
    month.params["rules"] = house_rules(month)
    for record in month.records:
        if record[0] == "budget":
            record[2]["cents"] = budget
    closes = [
        {**entry, "net_cents": entry["net_cents"] + budget} for entry in month.house.state.closes
    ]
    for plan in month.plans:
        plan["left"] += budget
    return HouseDraft(month.params, _instruction(month, budget), closes, month.plans, month.twists)


def _due(month: HouseMonth) -> int:
    """Put the payments of the end of the month into the calendar; return their sum."""
    total = 0
    for day, en, zh in ((28, "music lessons", "钢琴课费"), (29, "garage rent", "车位费"),
                        (30, "school lunches", "学校餐费")):  # fmt: skip
        cents = month.span(35, 90, 5) * 100
        total += cents
        shown = money(cents, month.scene.language)
        month.calendar.append(
            month.say(f"day {day}: {en}, {shown} to be paid from the budget",
                      f"第{day}天：{zh}{shown}，从预算里付")
        )  # fmt: skip
    return total


def _budget(month: HouseMonth, due: int) -> int:
    """Draw a budget that refuses exactly the wish that it must refuse.

    Raises:
        Unfit: If there is none.
    """
    spent = [-plan["left"] for plan in month.plans]
    low: int = max([due, *spent, *(spent[i] + price + due for i, price in month.granted)])
    if month.short is None:
        return (low + month.span(20, 90) * 100) // 100 * 100
    number, price = month.short
    high: int = spent[number - 1] + price + due - 1
    low = max(low, high - price // 3)
    if low + 100 > high:
        raise Unfit("no budget refuses only the wish that it must refuse")
    return (low + int(month.rng.integers((high - low) // 100)) * 100 + 99) // 100 * 100


def _instruction(month: HouseMonth, budget: int) -> str:
    names = month.say(", ", "、").join(person.name for person in month.people)
    count = len(month.requests)
    if count == 1:
        return month.say(
            f"You do the shopping for a household ({names}). Settle the request; the rules of the "
            "house, the notice board, the calendar and the list of supplies say what else matters. "
            f"The budget is {money(budget, 'en')}. Finish with finish_request.",
            f"你负责一家人（{names}）的采购。请办好这件事；家规、留言板、日历和用品清单里写着其他要求。"
            f"预算{money(budget, 'zh')}。办完调用finish_request。",
        )
    return month.say(
        f"You do the shopping for a household ({names}) for a month; {count} requests come one "
        "after the other. Settle each according to the rules of the house and finish it with "
        "finish_request; the month is right only if every order, refusal and remainder is right. "
        f"The budget is {money(budget, 'en')}.",
        f"你负责一家人（{names}）一个月的采购，前后共{count}件事。请按家规逐件办好，每件办完调用"
        f"finish_request。订单、拒绝和余额全部正确才算对。预算{money(budget, 'zh')}。",
    )
