"""Cases about baskets: goods of several kinds under joint conditions, with one cheapest choice."""

from collections.abc import Callable
from typing import Any

from hexathlon.tasks.shopping.templates.shifts.day import CounterDay, Rejected
from hexathlon.tasks.shopping.templates.shifts.shared import found, keep
from hexathlon.tasks.shopping.templates.shifts.words import who
from hexathlon.tasks.shopping.world.shift.shelf import best_baskets, fits_wishes
from hexathlon.tasks.shopping.world.shift.shelf_names import SELLERS, THEMES
from hexathlon.tasks.shopping.world.tables import Record
from hexathlon.tasks.shopping.world.wording import enumerated, money

__all__ = ["basket", "basket_again"]

_SYSTEMS = ("K20", "K25", "N4")
_DRAWS = 6
"""Number of draws of a basket's circumstances before the day is rejected."""

_MARGIN = 60
"""Smallest difference between the two cheapest baskets, in cents."""


def basket(day: CounterDay, role: str) -> None:
    """Order one offer of each of five kinds at the lowest total."""
    people = day.people
    account = people.account()
    since = day.span(10, 40)
    keep(day, account, people.order(account, "delivered", pieces=2, since=since))
    theme = day.shelf or day.pick(THEMES)
    wishes = {"kinds": list(range(len(theme.kinds))), "by": 0, "sellers": 2, "without": ""}
    case = day.begin([account["id"]])
    before = day.booked()
    stocked = day.shelf is not None
    latest = 9 if any(day.counter.tables.keys("baskets")) else 8

    def draw() -> tuple[tuple[str, ...], int]:
        if not stocked:
            _stock(day, theme)
        wishes["by"] = day.span(7, latest)
        return _best(day, wishes, account["id"])

    chosen, total = _tried(draw)
    day.shelf = theme
    budget = (total + day.span(1, 4) * 1000) // 1000 * 1000
    language = day.scene.language
    names = [kind[0] if language == "en" else kind[1] for kind in theme.kinds]
    english = enumerated([f"a {name}" for name in names], "en")
    case["says"] = who(account, language) + day.say(
        f" I'm setting up {theme.story[0]} and need {english}. Everything has to fit together. "
        "What's the cheapest way to get it all? Please order that.",
        f"我在布置{theme.story[1]}，需要{enumerated(names, 'zh')}各一件，要能配套。"
        "怎样买最便宜？请直接下单。",
    )
    case["answers"] = {
        "email": account["email"],
        "wishes": day.say(
            f"Everything has to be here by day {wishes['by']}, from at most two sellers, and I "
            f"can't spend more than {money(budget, 'en')} including delivery.",
            f"第{wishes['by']}天之前（含当天）全部到货，"
            f"最多两个卖家，连运费不超过{money(budget, 'zh')}。",
        ),
    }
    day.look("ask_customer", topic="wishes")
    found(day, account)
    _looks(day, names, chosen)
    day.act("place_order", customer=account["id"], offers=list(chosen), total_cents=total)
    _near(day, account["id"], wishes, chosen)
    day.finish(before)
    day.offers.append({"kind": "substituted", "order": account["id"]})
    day.mind[role] = {"account": account, "wishes": wishes, "names": names, "chosen": chosen}


def basket_again(day: CounterDay, role: str) -> None:
    """The customer comes back with another wish, after others have bought from the shelf."""
    known = day.mind[role]
    account, wishes = known["account"], dict(known["wishes"])
    case = day.begin([account["id"]])
    tables, events = day.counter.tables, case["events"]
    before = day.booked()
    offers = {offer: tables.get("offers", offer) or {} for offer in known["chosen"]}
    sellers = sorted({offer["seller"] for offer in offers.values()})

    def draw() -> tuple[tuple[str, ...], int]:
        for _, offer, _ in events:
            tables.put("offers", offer, offers[offer])
        events.clear()
        dearer = day.pick(known["chosen"])
        day.event("offers", dearer, cents=offers[dearer]["cents"] + 10 * day.span(60, 150))
        wishes.update(by=known["wishes"]["by"], without="")
        if day.rng.random() < 0.5:
            wishes["by"] -= 1
        else:
            wishes["without"] = day.pick(sellers)
        return _best(day, wishes, account["id"])

    chosen, total = _tried(draw)
    story = day.shelf.story
    if not wishes["without"]:
        said = day.say(
            f" I was here earlier to order things for {story[0]}. I now need it all a day "
            f"earlier, by day {wishes['by']}. Everything else stays the same, but I can spend more "
            "if I have to. Please place a new order at current prices.",
            f"我之前来配过{story[1]}的东西。现在要提前一天，第{wishes['by']}天之前（含当天）到齐，"
            "预算可以放宽，其他不变。请按现在的价格重新下单。",
        )
    else:
        said = day.say(
            f" I was here earlier to order things for {story[0]}. I've read bad things about "
            f"{wishes['without']}, so nothing from them, please. Everything else stays the same, "
            "but I can spend more if I have to. Please place a new order at current prices.",
            f"我之前来配过{story[1]}的东西。我看到{wishes['without']}评价很差，不要他家的，"
            "预算可以放宽，其他不变。请按现在的价格重新下单。",
        )
    case["says"] = who(account, day.scene.language) + said
    case["answers"] = {"email": account["email"],
                       "wishes": day.say(f"By day {wishes['by']}, from at most two sellers. "
                                         "I can spend a bit more now.",
                                         f"第{wishes['by']}天前（含当天）到齐，最多两个卖家，"
                                         "预算放宽了。")}  # fmt: skip
    _looks(day, known["names"], chosen)
    day.act("place_order", customer=account["id"], offers=list(chosen), total_cents=total)
    _near(day, account["id"], wishes, chosen)
    day.finish(before)
    day.offers.append({"kind": "substituted", "order": account["id"]})


def _tried(draw: Callable[[], tuple[tuple[str, ...], int]]) -> tuple[tuple[str, ...], int]:
    """Return the first valid draw of several.

    Raises:
        Rejected: If there is none.
    """
    for _ in range(_DRAWS - 1):
        try:
            return draw()
        except Rejected:
            continue
    return draw()


def _offers(day: CounterDay, customer: str) -> list[Record]:
    """Return all offers; units of the customer's own former basket count as free."""
    tables = day.counter.tables
    own = (tables.get("baskets", customer) or {"offers": ()})["offers"]
    offers = [tables.get("offers", key) or {} for key in tables.keys("offers")]
    return [{**offer, "reserved": offer["reserved"] - (offer["id"] in own)} for offer in offers]


def _sellers(day: CounterDay) -> dict[str, Record]:
    tables = day.counter.tables
    return {key: tables.get("sellers", key) or {} for key in tables.keys("sellers")}


def _best(day: CounterDay, wishes: dict[str, Any], customer: str) -> tuple[tuple[str, ...], int]:
    """Return the cheapest basket and its total, if greedy choices do not find it.

    Raises:
        Rejected: If there is none, it is not clearly the cheapest, or a greedy clerk finds it.
    """
    offers = _offers(day, customer)
    best = best_baskets(offers, _sellers(day), wishes)
    if len(best) < 2 or best[1][0] - best[0][0] < _MARGIN:
        raise Rejected("no basket is clearly the cheapest")
    total, chosen = best[0]
    if any(greedy == chosen for greedy in _greedy(day, wishes, offers)):
        raise Rejected("a greedy choice finds the basket")
    return chosen, total


def _greedy(day: CounterDay, wishes: dict[str, Any], offers: list[Record]) -> list[tuple[str, ...]]:
    """Return the baskets of cheapest offers, over all and by system."""
    usable = [o for o in offers if fits_wishes(o, _sellers(day), wishes)]
    found = []
    for system in ("", *_SYSTEMS):
        basket = []
        for kind in wishes["kinds"]:
            fitting = [o for o in usable if o["kind"] == kind and system in ("", o["system"])]
            if fitting:
                basket.append(min(fitting, key=lambda offer: offer["cents"])["id"])
        found.append(tuple(sorted(basket)))
    return found


def _near(day: CounterDay, customer: str, wishes: dict[str, Any], chosen: tuple[str, ...]) -> None:
    """Add near misses: the second cheapest basket, and one that cannot be had or comes too late."""
    place = len(day.plan["actions"]) - 1
    offers = _offers(day, customer)
    second = best_baskets(offers, _sellers(day), wishes)[1]
    day.wrong("second cheapest basket", place, ["place_order", {
        "customer": customer, "offers": list(second[1]), "total_cents": second[0]}])  # fmt: skip
    later = best_baskets(offers, _sellers(day), {**wishes, "by": wishes["by"] + 2})[0]
    if later[1] != chosen:
        day.wrong("basket that comes too late", place, ["place_order", {
            "customer": customer, "offers": list(later[1]), "total_cents": later[0]}])  # fmt: skip
    stocked = [{**offer, "reserved": 0} for offer in offers]
    free = best_baskets(stocked, _sellers(day), wishes)[0]
    if free[1] != chosen:
        day.traps.add("reserved")
        day.wrong("reserved offers taken", place, ["place_order", {
            "customer": customer, "offers": list(free[1]), "total_cents": free[0]}])  # fmt: skip


def _looks(day: CounterDay, names: list[str], chosen: tuple[str, ...]) -> None:
    day.look("list_sellers")
    for name in names:
        day.look("list_offers", kind=name)
    for offer in chosen:
        day.look("show_offer", offer=offer)


def _stock(day: CounterDay, theme: Any) -> None:
    """Draw sellers and offers anew; about a quarter of the offers have no free unit."""
    day.drop("sellers", "offers")
    known = SELLERS[day.scene.language]
    sellers = [known[i] for i in day.rng.permutation(len(known)).tolist()[:5]]
    for name in sellers:
        day.add("sellers", name, {
            "id": name, "fee_cents": day.span(390, 1190, 50), "days": day.span(2, 4),
            "free_cents": day.span(9000, 15000, 500)})  # fmt: skip
    reserving = "reserved" in day.kinds
    number = 0
    ids = [f"F{100 + n}" for n in day.rng.permutation(900)[:80].tolist()]
    for kind, names in enumerate(theme.kinds):
        base = day.span(1500, 6000, 10)
        for system in _SYSTEMS:
            for seller in day.rng.permutation(5).tolist()[:4]:
                units = day.span(1, 5)
                held = units if reserving and day.rng.random() < 0.25 else 0
                offer_id, number = ids[number], number + 1
                cents = int(base * (0.8 + 0.5 * day.rng.random())) // 10 * 10
                day.add("offers", offer_id, {
                    "id": offer_id, "kind": kind, "name": {"en": names[0], "zh": names[1]},
                    "system": system, "cents": cents,
                    "seller": sellers[seller], "dispatch": day.span(2, 5), "units": units,
                    "reserved": held})  # fmt: skip
