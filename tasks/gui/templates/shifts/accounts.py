"""Duties with money: the costs of a trip, invoices that a payment covers, and a basket."""

from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

from hexathlon.tasks.gui.operations.finding import look_up, read, read_path, read_thread
from hexathlon.tasks.gui.operations.money import STANDARD_FEE, buy
from hexathlon.tasks.gui.operations.planning import finish_task
from hexathlon.tasks.gui.templates.errand import Errand
from hexathlon.tasks.gui.templates.shifts.book import ShiftRequest
from hexathlon.tasks.gui.templates.shifts.cast import DayCast, conversation, note
from hexathlon.tasks.gui.templates.shifts.moment import DayWork, Moment
from hexathlon.tasks.gui.world.kit.words import wordings
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import plain_cents

__all__ = ["basket", "invoices", "trip_costs"]


# The trip --------------------------------------------------------------------------------------


_PARTICIPANTS = 2
"""Participants of the trip beside the owner."""


class _Cost(NamedTuple):
    """A cost of the trip: who paid, how much, for whom; 0 is the phone's owner."""

    payer: int
    cents: int
    shared: frozenset[int]


def trip_costs(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Settle the costs of a trip with each participant; later another correction arrives."""
    people = list(cast.others[:_PARTICIPANTS])
    payees = [_new_payee(e, row) for row in people]
    costs = [_Cost(e.pick((0, 1, 1, 2, 2)), 60 * e.number(20, 240),
                   frozenset([0, *e.sample((1, 2), e.number(1, 2))]) if e.number(0, 3) else
                   frozenset((1, 2))) for _ in range(8)]  # fmt: skip
    left, dearer, last = e.sample(range(8), 3)
    right = list(costs)
    absent = e.pick((1, 2))
    e.need(absent in costs[left].shared and len(costs[left].shared) > 2)
    right[left] = costs[left]._replace(shared=costs[left].shared - {absent})
    payer, late = costs[dearer].payer, costs[last].payer
    e.need(payer and late and 0 in costs[last].shared)
    right[dearer] = costs[dearer]._replace(cents=costs[dearer].cents + 60 * e.number(3, 30))
    final = list(right)
    final[last] = costs[last]._replace(cents=costs[last].cents + 60 * e.pick((-15, -8, 11, 25)))
    nets, naive, after = _balances(right), _balances(costs), _balances(final)
    e.need(all(abs(net) > 100 for net in nets) and nets != naive and min(nets) < 0 < max(nets)
           and final[last].cents > 300)  # fmt: skip
    names = [e.say("me", "我"), *(row["name"] for row in people)]
    title = e.say(f"Trip {e.number(11, 99)}", f"旅行{e.number(11, 99)}")
    things = e.sample((e.say("Boat", "船票"), e.say("Dinner", "晚餐"), e.say("Fuel", "油费"),
                       e.say("Hut", "小屋"), e.say("Guide", "向导"), e.say("Tickets", "门票"),
                       e.say("Picnic", "野餐"), e.say("Taxi", "出租车")), 8)  # fmt: skip
    note(e, title, "\n".join(
        e.say(f"{thing}: {names[cost.payer]} paid {plain_cents(cost.cents)} for "
              f"{', '.join(names[each] for each in sorted(cost.shared))}",
              f"{thing}：{names[cost.payer]}付了{plain_cents(cost.cents)}，"
              f"由{'、'.join(names[each] for each in sorted(cost.shared))}分摊")
        for thing, cost in zip(things, costs, strict=True)))  # fmt: skip
    threads = [conversation(e, row) for row in people]
    e.tell(threads[absent - 1], e.say(f"About {title}: {things[left]} was without me.",
                                      f"关于{title}：{things[left]}没有我的份。"))  # fmt: skip
    e.tell(threads[payer - 1], e.say(
        f"About {title}: {things[dearer]} came to {plain_cents(right[dearer].cents)} in the end.",
        f"关于{title}：{things[dearer]}最后是{plain_cents(right[dearer].cents)}。"))  # fmt: skip

    def settled(at: Moment, balances: Sequence[int]) -> DayWork:
        for row, payee, net in zip(people, payees, balances, strict=True):
            text = e.say(f"You owe me {plain_cents(-net)}", f"你欠我{plain_cents(-net)}")
            if net:
                yield at.transfer(payee, net, title) if net > 0 else at.message(row, text)
        return None

    def work(at: Moment) -> DayWork:
        yield read("notes", title)
        yield read_thread(threads[absent - 1]["name"])
        yield read_thread(threads[payer - 1]["name"])
        return (yield from settled(at, naive if at.slip == "as noted" else nets))

    def later(at: Moment) -> DayWork:
        yield read_thread(threads[late - 1]["name"])
        rest = [new - old for new, old in zip(after, nets, strict=True)]
        return (yield from settled(at, after if at.slip == "all again" else rest))

    slips = () if any(abs(net) < 5 for net in naive) else ("as noted",)
    return [
        ShiftRequest((
            f'Settle the note "{title}" with each of the others separately; a cost is shared '
            "equally by those it was for, and some of them have written corrections. If I owe "
            f'somebody in balance, transfer it, with the reference "{title}". If somebody owes me, '
            'write "You owe me 12.30".',
            f"请按笔记“{title}”和其他每个人分别结清：每笔费用由所列的人平摊，有人发来过更正。"
            f"我欠谁就转账给谁，附言“{title}”；谁欠我就发信息“你欠我12.30”。"),
            work, slips),
        ShiftRequest((
            f"{title} has been corrected once more, by message. Where this changes the balance "
            "between one of the others and me, settle only what the new balance differs by from "
            f'the one settled before: if that is mine to pay, transfer it, with the reference '
            f'"{title}"; if it is theirs, write "You owe me 12.30", with the difference.',
            f"{title}又有人发信息更正了。谁与我之间的差额因此变了，就只结清新差额与先前已结清的差额之间"
            f"相差的部分：该我付的就转账给对方，附言“{title}”；该对方付的就发信息“你欠我12.30”，"
            "写相差的金额。"),
            later, ("all again",),
            said=((threads[late - 1], e.say(
                f"About {title}: {things[last]} was {plain_cents(final[last].cents)}, sorry.",
                f"关于{title}：{things[last]}其实是{plain_cents(final[last].cents)}，抱歉。")),)),
    ]  # fmt: skip


def _new_payee(e: Errand, person: PhoneRow) -> PhoneRow:
    """Make a person a payee, and the only one of this name."""
    e.drop("bank.payees", *(row for row in e.rows("bank.payees") if row["name"] == person["name"]))
    number = " ".join(str(e.number(1000, 9999)) for _ in range(4))
    return e.put("bank.payees", None, name=person["name"], nick="", number=number)


def _balances(costs: Sequence[_Cost]) -> list[int]:
    """Return what the owner owes to each participant, in cents; negative if they owe."""
    found = [0] * (_PARTICIPANTS + 1)
    for cost in costs:
        share = cost.cents // len(cost.shared)
        if cost.payer and 0 in cost.shared:
            found[cost.payer] += share
        if not cost.payer:
            for each in cost.shared - {0}:
                found[each] -= share
    return found[1:]


# Invoices --------------------------------------------------------------------------------------


def invoices(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Find the invoices that one payment covers, with the discount for early payment."""
    numbers = e.sample(range(3000, 3999), 10)
    amounts = [100 * e.number(40, 600) for _ in numbers]
    paid_day, limit, percent = e.number(2, 5), e.pick((10, 12, 14)), e.pick((2, 3, 5))
    ages = [e.number(paid_day, 26) for _ in numbers]
    due = [amount * (100 - percent) // 100 if age - paid_day <= limit else amount
           for amount, age in zip(amounts, ages, strict=True)]  # fmt: skip
    chosen = sorted(e.sample(range(10), 3))
    total = sum(due[place] for place in chosen)
    subsets = [part for count in range(1, 11) for part in combinations(range(10), count)]
    fits = [part for part in subsets if sum(due[place] for place in part) == total]
    flat = [part for part in subsets if sum(amounts[place] for place in part) == total]
    e.need(fits == [tuple(chosen)] and not flat
           and {due[each] == amounts[each] for each in chosen} == {True, False})  # fmt: skip
    client = e.say(f"Cooper Yard {e.number(11, 99)}", f"库珀工场{e.number(11, 99)}")
    title = e.say(f"Open invoices {client}", f"{client}未付账单")
    note(e, title, "\n".join((
        e.say(f"{percent} % discount if paid at most {limit} days after the invoice's date",
              f"最晚在开票后第{limit}天付款，优惠{percent}%"),
        *(f"{number}: {plain_cents(amount)}, {e.day_words(e.day(-age))}"
          for number, amount, age in zip(numbers, amounts, ages, strict=True)))))  # fmt: skip
    e.put("bank.entries", None, account=1, day=e.day(-paid_day), title=client, amount=total,
          kind="transfer", reference=e.say("several invoices", "多张账单"), note="", disputed="",
          card=0, category="")  # fmt: skip
    names = [e.say(f"Invoice {number} unpaid", f"账单{number}未付") for number in numbers]
    for name in names:
        e.put("tasks.tasks", None, list=cast.tasks["id"], title=name, due="", time="", priority="",
              flagged=False, done=False, note="", changed=f"{e.day(-2)} 09:05")  # fmt: skip
    near = [*chosen[:-1], next(place for place in range(10) if place not in chosen)]

    def work(at: Moment) -> DayWork:
        yield read("notes", title)
        yield read("bank", client)
        for place in near if at.slip == "other invoice" else chosen:
            yield finish_task(names[place])
        return None

    return [ShiftRequest((
        f'{client} has paid several invoices with one transfer. The note "{title}" lists what was '
        "open. Tick off the tasks of exactly those invoices that the sum covers; one combination "
        "fits.",
        f"{client}用一笔转账付了好几张账单。笔记“{title}”列着未付的账单。请把这笔钱正好付清的那几张"
        "账单的任务标为完成；只有一种组合符合。"), work, ("other invoice",))]  # fmt: skip


# The basket ------------------------------------------------------------------------------------

_KINDS_WANTED = 3
"""Kinds of products on the shopping list."""

_Item = tuple[PhoneRow, int]


class _Order(NamedTuple):
    """Items of one order, with its voucher and its total."""

    items: tuple[_Item, ...]
    voucher: PhoneRow | None
    total: int


def basket(e: Errand, cast: DayCast) -> list[ShiftRequest]:
    """Buy a list at the lowest total: choice of products, split into orders, vouchers."""
    del cast
    e.drop("shop.cart", *e.rows("shop.cart"))
    for place, row in enumerate(e.rows("shop.vouchers")):
        e.put("shop.vouchers", row, used=False, until=e.day(20 - 40 * (place == 2)),
              cents=e.number(7, 15) * 100, minimum=1000 * e.number(2, 6))  # fmt: skip
    vouchers = e.rows("shop.vouchers")[:2]
    rating = e.number(30, 36)
    wanted = _wanted(e, rating)
    plans = sorted(_plans(wanted, vouchers), key=_rank)
    costs = [_rank(plan) for plan in plans]
    cheap = tuple((options[0], count) for options, count in wanted)
    naive = min(_rank(plan) for plan in plans if len(plan) == 1 and plan[0].items == cheap)
    e.need(costs[0] < costs[1] and costs[0][0] < naive[0])
    best = sorted(plans[0], key=lambda order: -order.total)
    e.need(len({order.total for order in best}) == len(best))
    home = e.rows("shop.addresses")[1]
    title = e.say(f"Shopping {e.number(11, 99)}", f"采购{e.number(11, 99)}")
    kinds = [options[0]["title"].removeprefix(options[0]["brand"]).strip() for options, _ in wanted]
    note(e, title, "\n".join(
        e.say(f"{count} {kind}", f"{kind} {count}件")
        for kind, (_, count) in zip(kinds, wanted, strict=True)))  # fmt: skip

    def work(at: Moment) -> DayWork:
        yield read("notes", title)
        for kind in kinds:
            yield look_up("shop", kind)
        yield read_path("shop", "me", wordings("shop", "vouchers", e.language))
        plan = best if at.slip != "second best" else sorted(plans[1], key=lambda one: -one.total)
        for order in plan:
            yield buy(order.items, home, voucher=order.voucher)
        return None

    return [ShiftRequest((
        f'Order what the note "{title}" lists, to the address {home["label"]}, at the lowest total '
        f"cost: of each kind, any variant or brand with at least {rating / 10:.1f} stars and "
        "enough in stock, all units of a kind the same product and in the same order; in one "
        "order or in two, each with standard delivery; one voucher an order, if it helps, and each "
        "voucher only once. If several ways cost the same, take the one whose dearer order costs "
        "most. Place the dearer order first.",
        f"请以最低总价下单购买笔记“{title}”所列的东西，寄到“{home['label']}”：每种任选评分不低于"
        f"{rating / 10:.1f}、库存足够的品牌和款式，同种的都买同一款，并放在同一单里；"
        "可以一单或两单，都用标准配送；每单可用一张代金券，每张只能用一次，划算就用。"
        "总价相同时，选金额大的那单最贵的方案；金额大的先下单。"),
        work, ("second best",))]  # fmt: skip


def _wanted(e: Errand, rating: int) -> list[tuple[list[PhoneRow], int]]:
    """Draw kinds of products with all options of each, by price, and quantities.

    A dearer option can be the best one where it reaches the minimum of a voucher.
    """
    products = e.rows("shop.products")
    kinds = sorted({row["title"].removeprefix(row["brand"]).strip() for row in products})
    found = []
    for kind in e.sample(kinds, len(kinds)):
        count = e.number(1, 2)
        rows = sorted((row for row in products if row["title"] == f"{row['brand']} {kind}"
                       and row["rating"] >= rating and row["stock"] >= count),
                      key=lambda row: row["price"])  # fmt: skip
        if len(rows) >= 2 and rows[0]["price"] < rows[1]["price"] and 600 < rows[0]["price"] < 6000:
            found.append((rows, count))
        if len(found) == _KINDS_WANTED:
            return found
    e.need(False)
    return found


def _plans(
    wanted: Sequence[tuple[Sequence[PhoneRow], int]], vouchers: Sequence[PhoneRow]
) -> list[tuple[_Order, ...]]:
    """Return every plan: a choice of products, split into one or two orders, with vouchers."""
    found = []
    offers: tuple[PhoneRow | None, ...] = (None, *vouchers)
    for choice in product(*(options for options, _ in wanted)):
        items = [(row, count) for row, (_, count) in zip(choice, wanted, strict=True)]
        for mask in range(2 ** (len(items) - 1)):
            first = tuple(item for place, item in enumerate(items) if not mask >> place & 1)
            second = tuple(item for place, item in enumerate(items) if mask >> place & 1)
            for one, two in product(offers, offers if second else (None,)):
                if one is not None and one is two:
                    continue
                orders = [_order(first, one), *([_order(second, two)] if second else [])]
                if all(order is not None for order in orders):
                    found.append(tuple(order for order in orders if order is not None))
    return found


def _rank(plan: Sequence[_Order]) -> tuple[int, int]:
    """Return the cost of a plan, and then what its dearer order costs, negated."""
    totals = [order.total for order in plan]
    return sum(totals), -max(totals)


def _order(items: tuple[_Item, ...], voucher: PhoneRow | None) -> _Order | None:
    """Return an order; None if its voucher does not apply."""
    goods = sum(row["price"] * count for row, count in items)
    if voucher is not None and goods < voucher["minimum"]:
        return None
    return _Order(items, voucher, goods + STANDARD_FEE - (voucher["cents"] if voucher else 0))
