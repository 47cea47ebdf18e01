"""Baskets: one request for several goods under joint conditions, with one best order."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from hexathlon.tasks.shopping.templates.household.changes import ban, party
from hexathlon.tasks.shopping.templates.household.month import HouseMonth
from hexathlon.tasks.shopping.templates.household.needs import (
    asked,
    excluded,
    few_sellers,
    joined,
    overlooked,
    supplies,
    wear,
)
from hexathlon.tasks.shopping.world.household.goods import GROUPS, kinds_of
from hexathlon.tasks.shopping.world.household.prices import MarketNeed
from hexathlon.tasks.shopping.world.wording import money

__all__ = ["BASKETS"]


def _match(month: HouseMonth) -> None:
    """Goods that have to fit together, where waiting has a price that only asking tells."""
    by = month.pick((month.mother, month.father))
    ban(month, month.father)
    ban(month, month.son)
    request = month.begin(by, month.span(2, 8))
    group = month.pick(GROUPS)
    drawn = month.rng.permutation(len(kinds_of(group))).tolist()[:5]
    kinds = [kinds_of(group)[i] for i in sorted(drawn)]
    names = joined(month, [kind.name(month.scene.language) for kind in kinds])
    place = {"kitchen": ("the kitchen wall", "厨房墙上"), "bike": ("my bike", "我的自行车")}[group]
    request["says"] = month.say(
        f"I'd like {names} for {place[0]}, and everything has to fit together. I'd like it soon, "
        f"but not at any price.{few_sellers(month)}",
        f"{place[1]}要装{names}，要能配套。想早点到，但也不能太贵。{few_sellers(month)}",
    )
    value = month.span(150, 450, 50)
    by_day = month.day + month.span(6, 8)
    month.ask(by, "tradeoff", month.say(
        f"I'd pay {money(value, 'en')} more for each day that everything arrives earlier.",
        f"全部到齐每早一天，我愿意多花{money(value, 'zh')}。"))  # fmt: skip
    month.ask(by, "day", month.say(f"Everything has to be here by day {by_day}.",
                                   f"最晚第{by_day}天全部到齐。"))  # fmt: skip
    fits = kinds[0].fits
    needs = [MarketNeed(kind.slug, 1, without=excluded(month, by), by=by_day) for kind in kinds]
    wanted = asked(month, needs, sellers=2, matching=True, day_cents=value)
    ways = overlooked(month, wanted, by)
    ways["waiting costs nothing"] = replace(wanted, day_cents=0)
    ways["more than two sellers"] = replace(wanted, sellers=3)
    ways["not matching"] = replace(wanted, matching=False)
    for fit in fits:
        ways[f"system {fit}"] = replace(wanted.with_needs(fit=fit), matching=False)
    month.look("show_member", member=by.name)
    month.order(wanted, ways, required=("waiting costs nothing",), stir=month.chance(0.5))


def _guests(month: HouseMonth) -> None:
    """Food for guests, from two sellers at the most."""
    ban(month, month.mother)
    ban(month, month.daughter)
    kinds = ["bars", "crackers", "cups"]
    party(month, month.grandmother, month.span(3, 8), month.span(15, 17), kinds, sellers=2,
          stir=True)  # fmt: skip


def _wardrobe(month: HouseMonth) -> None:
    """Clothes for both children, from two sellers at the most."""
    ban(month, month.father)
    ban(month, month.son)
    first, second = ["boots", "jacket"], ["jumper", "trainers"]
    event = month.pick((("the class trip", "班级秋游"), ("the autumn camp", "秋令营")))
    wear(month, month.mother, month.span(2, 6), [month.daughter, month.son], [first, second],
         event, month.span(14, 16), sellers=2, stir=month.chance(0.5))  # fmt: skip


def _stocks(month: HouseMonth) -> None:
    """Several supplies at once, from two sellers at the most."""
    ban(month, month.mother)
    ban(month, month.daughter)
    pool = ["mats", "papers", "pads", "capsules", "detergent", "wipes", "gloves"]
    kinds = [pool[i] for i in sorted(month.rng.permutation(len(pool)).tolist()[:4])]
    day = month.span(2, 6)
    supplies(month, month.father, day, kinds, day + month.span(12, 18), sellers=2,
             stir=month.chance(0.5))  # fmt: skip


BASKETS: Mapping[str, Callable[[HouseMonth], None]] = {
    "basket_match": _match, "basket_guests": _guests, "basket_wardrobe": _wardrobe,
    "basket_stocks": _stocks,
}  # fmt: skip
"""Templates of baskets."""
