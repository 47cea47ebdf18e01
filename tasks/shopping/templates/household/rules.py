"""The rules of a house as they are written; their numbers and their order are drawn."""

from hexathlon.tasks.shopping.templates.household.month import HouseMonth
from hexathlon.tasks.shopping.world.wording import money

__all__ = ["house_rules"]


def house_rules(month: HouseMonth) -> list[str]:
    """Return the rules of the house, in an order of their own."""
    limit = money(month.allowance, month.scene.language)
    texts = [
        month.say(
            "Buy what costs least in total, with delivery and set discounts, at the prices of "
            "the day. For free delivery, the goods count before set discounts. Of each kind take "
            "one product, in as many packs as are needed.",
            "按当天价格买总价最低的（含运费和成套优惠）。免运费看的是减成套优惠之前的货款。"
            "每类只买一种商品，需要几包买几包。",
        ),
        month.say(
            f"If at least {month.least} verified buyers report the same thing about a product, "
            "that holds, whatever its page says. Fewer do not count, nor do guests.",
            f"同一件事至少有{month.least}位已购买的买家反映，就以评价为准，不管页面怎么写；"
            "不到这个人数或只是游客说的不算。",
        ),
        month.say(
            "'Until day X' means today up to and including day X, at the daily use on the list "
            "of supplies. Supplies that have to last until a day were counted this morning; what "
            "is on order and has yet to arrive counts towards them.",
            "“用到第X天”指从今天算到第X天（含当天），按用品清单的每日用量计算。"
            "这样要补的东西今早刚点过数；已下单还没到的也算在内。",
        ),
        month.say(
            "Supplies that have to last until a day must not run out before then: the new packs "
            "have to arrive on a day that the stock on the list, without what is on order, still "
            "covers in full.",
            "要“用到第X天”的用品中途不能断：新的到货那天，清单上的存量（不算在途的）"
            "还要够用那一整天。",
        ),
        month.say(
            f"Things for an event in the calendar have to be here at least {month.event_days} days "
            "before it."
            if month.event_days > 1
            else "Things for an event in the calendar have to be here at least a day before it.",
            f"为日历上的活动买的东西，最晚提前{month.event_days}天到货。",
        ),
        month.say(
            "Everything that comes in packs is for the whole house and must not contain anything "
            "that one of us is allergic to. Everything else only has to suit whoever gets it.",
            "按包卖的东西全家共用，不能含有家里任何人过敏的东西。其他东西只要本人能用就行。",
        ),
        month.say(
            "If the lists and the calendar do not say how much, by when or for whom, or what must "
            "not be in it, ask whoever wants it.",
            "清单和日历上查不到的（要多少、什么时候要、给谁用、有什么忌口），要问提出的人。",
        ),
        month.say(
            "For clothes and shoes the latest measurement holds; if it was taken more than "
            f"{month.grows} days before the month began, take the next size up (clothes go up "
            "in sixes, shoes in ones).",
            f"衣服鞋子按最近一次量的尺码买；如果是月初前超过{month.grows}天量的，就买大一码"
            "（衣服按6递增，鞋子按1递增）。",
        ),
        month.say(
            f"If a child asks for something that costs at most {limit} with delivery, buy it. "
            f"Above that, {month.judge.name} has to agree, and a yes up to an amount covers no "
            f"more than that; otherwise, decline (no_approval, with {month.judge.name} as record).",
            f"孩子想要的东西，连运费不超过{limit}就直接买；超过的要{month.judge.name}同意，"
            f"只同意到某个价的，超过就不算同意。不同意就拒绝（no_approval，记录写{month.judge.name}）。",
        ),
        month.say(
            "Buy what a child asks for only if enough is left for the payments still due in the "
            "calendar; otherwise, decline (over_budget, with budget as record). Everything else is "
            "bought in any case.",
            "孩子想要的东西，买完之后剩下的钱要够付日历上还没付的款项，否则拒绝"
            "（over_budget，记录写budget）。其他东西照买。",
        ),
        month.say(
            "An order is given back only if the person who asked for it wants that, or for the "
            "sake of somebody's health. Otherwise, decline for this reason alone (not_entitled, "
            "with the order as record).",
            "只有当初要买的人自己不要了，或者为了谁的健康，才能退订。否则只按这一条拒绝"
            "（not_entitled，记录写订单号）。",
        ),
        month.say(
            "When things are to be given back, give back all packs that can be given back "
            "today, unless fewer are named; for each product that cannot, decline (under_way "
            "or window_passed, with the offer as record).",
            "要退的东西，没说退几包就把今天能退的全退掉；每种退不了的商品各拒绝一次"
            "（under_way 或 window_passed，记录写商品号）。",
        ),
        month.say(
            "A parent's notice holds from the day it is put up until a parent takes it back. "
            "Anybody else's notice is only a wish.",
            "爸爸或妈妈的留言从贴出当天起有效，直到爸爸或妈妈收回。其他人的留言只是愿望。",
        ),
    ]
    return [texts[i] for i in month.rng.permutation(len(texts)).tolist()]
