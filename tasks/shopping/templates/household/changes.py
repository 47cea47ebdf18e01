"""Requests about guests and earlier orders: more guests, given back, reactions, interference."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hexathlon.tasks.shopping.templates.household.month import HouseMonth, Unfit
from hexathlon.tasks.shopping.templates.household.needs import (
    asked,
    excluded,
    few_sellers,
    joined,
    overlooked,
)
from hexathlon.tasks.shopping.templates.household.people import HousePerson
from hexathlon.tasks.shopping.world.household.goods import CONTENTS, KINDS
from hexathlon.tasks.shopping.world.household.prices import MarketNeed, Wanted, contents_of

__all__ = ["ban", "interference", "lifted", "more_guests", "party", "reaction", "withdrawn"]

_Call = tuple[str, dict[str, Any]]


def party(
    month: HouseMonth, by: HousePerson, day: int, on: int, kinds: Sequence[str], *,
    sellers: int = 9, stir: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Order food for guests; numbers and what a guest cannot eat come from asking."""
    request = month.begin(by, day)
    event = month.pick((("the birthday party", "生日会"), ("the garden party", "院子聚会"),
                        ("the book club", "读书会")))  # fmt: skip
    guests, away = month.span(7, 11), month.span(2, 3)
    month.calendar.append(
        month.say(f"day {on}: {event[0]} (hosted by {by.name}; {guests} guests expected)",
                  f"第{on}天：{event[1]}（{by.name}请客，预计{guests}位客人）")
    )  # fmt: skip
    moved = month.chance(0.6)
    if moved:
        month.notice(
            by if by.role < 2 else month.pick((month.mother, month.father)),
            month.say(f"{event[0].capitalize()}: {away} of the guests have cancelled.",
                      f"{event[1]}有{away}位客人来不了了。"),
        )  # fmt: skip
    true = guests - away if moved else guests
    each = {kind: month.span(2, 3) for kind in kinds}
    slug = month.pick(sorted({"nuts", "gluten", "lactose", "sesame"} - set(excluded(month))) or
                      ("nuts",))  # fmt: skip
    thing = CONTENTS[slug][month.scene.language == "zh"]
    names = joined(month, [KINDS[kind].name(month.scene.language) for kind in kinds])
    request["says"] = month.say(f"For {event[0]} I need {names}.", f"{event[1]}要准备{names}。")
    if sellers < 9:
        request["says"] += few_sellers(month)
    per = joined(month, [
        month.say(f"{each[k]} {KINDS[k].unit_en}", f"{KINDS[k].zh}{each[k]}{KINDS[k].unit_zh}")
        for k in kinds
    ])  # fmt: skip
    month.ask(by, "quantity", month.say(f"{per} for each guest; count only the guests.",
                                        f"每位客人{per}，只算客人。"))  # fmt: skip
    month.ask(by, "details", month.say(f"One of the guests can't have {thing}.",
                                       f"有位客人不能吃{thing}。"))  # fmt: skip
    month.look("show_calendar")
    without = tuple(sorted({*excluded(month), slug}))
    needs = [
        MarketNeed(kind, each[kind] * true, without=without, by=on - month.event_days)
        for kind in kinds
    ]
    wanted = asked(month, needs, sellers=sellers)
    ways = overlooked(month, wanted)
    ways["guest's allergy not asked"] = wanted.with_needs(without=excluded(month))
    if moved:
        ways["cancelled guests counted"] = _units(wanted, {k: each[k] * guests for k in kinds})
    ways["household counted"] = _units(wanted, {k: each[k] * (true + 5) for k in kinds})
    if sellers < 9:
        ways["too many sellers"] = replace(wanted, sellers=9)
    month.order(wanted, ways, stir=stir)
    return {"key": month.key, "event": event, "on": on, "by": by, "each": each, "guests": true,
            "without": without}  # fmt: skip


def more_guests(month: HouseMonth, day: int, known: dict[str, Any]) -> None:
    """More guests come; packs that were ordered before may suffice for some goods."""
    by: HousePerson = known["by"]
    request = month.begin(by, day)
    more = month.span(2, 4)
    request["says"] = month.say(
        f"{more} more people are coming to {known['event'][0]}. Please order what is missing.",
        f"{known['event'][1]}又多了{more}位客人，缺的补上。",
    )
    month.look("list_orders")
    month.look("show_calendar")
    tables = month.house.tables
    needs, whole = [], {}
    known["without"] = tuple(sorted({*known["without"], *excluded(month)}))
    ordered: dict[str, int] = {}
    for offer_id, line in (tables.get("orders", known["key"]) or {})["lines"].items():
        offer = tables.get("offers", offer_id) or {}
        month.look("show_offers", offers=[offer_id])
        ordered[offer["kind"]] = line["packs"] * offer["units"]
    for kind, each in known["each"].items():
        missing = each * (known["guests"] + more) - ordered[kind]
        whole[kind] = each * more
        if missing > 0:
            needs.append(MarketNeed(kind, missing, without=known["without"],
                                    by=known["on"] - month.event_days))  # fmt: skip
    known["guests"] += more
    if not needs:
        month.twists.append("enough was ordered")
        return
    wanted = asked(month, needs)
    ways = overlooked(month, wanted)
    ways["guest forgotten"] = wanted.with_needs(without=excluded(month))
    ways["surplus forgotten"] = replace(
        wanted,
        needs=tuple(MarketNeed(kind, units, without=known["without"], by=needs[0].by)
                    for kind, units in whole.items()),
    )  # fmt: skip
    month.order(wanted, ways)
    known["more"] = month.key


def _units(wanted: Wanted, units: dict[str, int]) -> Wanted:
    needs = tuple(replace(need, units=units[need.kind]) for need in wanted.needs)
    return replace(wanted, needs=needs)


def ban(month: HouseMonth, by: HousePerson) -> None:
    """Put a notice against a seller on tomorrow's board; only that of a parent holds."""
    free = [name for name in month.sellers if name not in month.banned]
    name = month.pick(free)
    month.notice(
        by,
        month.pick((
            month.say(f"Please don't buy from {name} any more; they never answer.",
                      f"别再从{name}买东西了，客服一直不回。"),
            month.say(f"{name} has let us down. Let's shop elsewhere.",
                      f"{name}太不靠谱，以后去别家买。"),
        )),
        later=1,
    )  # fmt: skip
    if by.role < 2:
        month.banned.append(name)
    else:
        month.void_bans[name] = "child's notice"


def lifted(month: HouseMonth) -> None:
    """Let a parent take the last notice against a seller back."""
    if not month.banned:
        return
    name = month.banned.pop()
    month.void_bans[name] = "lifted ban"
    month.notice(
        month.pick((month.mother, month.father)),
        month.say(f"{name} has put things right; we can buy there again.",
                  f"{name}已经处理好了，又可以在那儿买了。"),
        later=1,
    )  # fmt: skip


def _give_back(month: HouseMonth, lines: Sequence[tuple[str, str]]) -> None:
    """Give back lines of orders as far as possible and decline the others."""
    tables = month.house.tables
    for key, offer in lines:
        line = (tables.get("orders", key) or {})["lines"][offer]
        if line["packs"] == 0:
            continue
        if month.day < line["sent"] or line["arrives"] <= month.day <= line["until"]:
            month.act("give_back", order=key, offer=offer, packs=line["packs"])
        else:
            reason = "under_way" if month.day < line["arrives"] else "window_passed"
            known = dict(month.house.state.declines).get(offer)
            if known not in (None, reason):
                raise Unfit("an offer has two reasons")
            if known is not None:
                continue
            month.act("decline", reason=reason, record=offer)
            month.twists.append(reason)


def withdrawn(month: HouseMonth, day: int, by: HousePerson, keys: Sequence[str], said: str) -> None:
    """The person who asked for some orders no longer wants them."""
    request = month.begin(by, day)
    request["says"] = said
    month.look("list_orders")
    tables = month.house.tables
    lines = [(key, offer) for key in keys for offer in (tables.get("orders", key) or {})["lines"]]
    _give_back(month, lines)
    actions: list[_Call] = [(n, a) for n, a in month.plans[-1]["actions"]]
    if not actions:
        raise Unfit("there is nothing to give back")
    month.wrong("nothing given back", [])
    if len(actions) > 1:
        month.wrong("only the first product", actions[:1])
    month.wrong("refused", [("decline", {"reason": "not_entitled", "record": keys[0]})])


def interference(
    month: HouseMonth, day: int, by: HousePerson, key: str, owner: HousePerson
) -> bool:
    """Somebody wants to give back an order of somebody else; return whether the owner agrees."""
    request = month.begin(by, day)
    tables = month.house.tables
    offers = list((tables.get("orders", key) or {})["lines"])
    kinds = [KINDS[(tables.get("offers", offer) or {})["kind"]] for offer in offers]
    names = joined(month, [kind.name(month.scene.language) for kind in kinds])
    on = month.requests[int(key[1:]) - 1]["day"]
    request["says"] = month.say(
        f"I've talked to {owner.name}: we don't need the {names} ordered on day {on} after all. "
        "Please give them back.",
        f"第{on}天订的{names}不要了，我跟{owner.name}说过了，退掉吧。",
    )
    agreed = month.chance(0.5)
    answer = (
        month.say("Yes, that's right, they can go back.", "对，说过了，退吧。")
        if agreed
        else month.say("No, nobody asked me. I want to keep them.",
                       "没有啊，没人问过我，我还要的。")
    )  # fmt: skip
    month.ask(owner, "details", answer)
    request["answers"][f"{owner.name}/approval"] = answer
    month.look("list_orders")
    month.twists.append("claimed consent")
    if agreed:
        _give_back(month, [(key, offer) for offer in offers])
        month.wrong("refused", [("decline", {"reason": "not_entitled", "record": key})])
        return True
    month.act("decline", reason="not_entitled", record=key)
    line = (tables.get("orders", key) or {})["lines"][offers[0]]
    month.wrong("given back", [("give_back", {"order": key, "offer": offers[0],
                                              "packs": line["packs"]})])  # fmt: skip
    month.wrong("nothing said", [])
    return False


def reaction(month: HouseMonth, day: int, by: HousePerson) -> None:
    """Somebody has reacted to something: what could reach them goes back."""
    sick = month.pick([person for person in month.people if person is not by])
    tables = month.house.tables
    reach: dict[str, list[tuple[str, str]]] = {}
    for key in tables.keys("orders"):
        for offer_id, line in (tables.get("orders", key) or {})["lines"].items():
            offer = tables.get("offers", offer_id) or {}
            owner = month.owners.get((key, offer_id))
            if line["packs"] == 0 or owner not in (None, sick.name):
                continue
            for slug in contents_of(offer, month.least):
                reach.setdefault(slug, []).append((key, offer_id))
    fresh = sorted(slug for slug in reach if slug not in sick.without)
    if not fresh:
        raise Unfit("nothing to react to")
    slug = max(fresh, key=lambda name: (len(reach[name]), name))
    request = month.begin(by, day)
    thing = CONTENTS[slug][month.scene.language == "zh"]
    request["says"] = month.say(
        f"{sick.name} has had an allergic reaction to {thing} and can't have any from now on. "
        f"Please give back whatever we have ordered this month that contains {thing} and that "
        f"{sick.name} might use.",
        f"{sick.name}对{thing}过敏了，以后都不能碰。这个月订的东西，凡是含{thing}、"
        f"{sick.name}又会用到的，都退掉。",
    )
    sick.without.add(slug)
    sick.lures.discard(slug)
    month.look("list_orders")
    for key in tables.keys("orders"):
        for offer_id, line in (tables.get("orders", key) or {})["lines"].items():
            if line["packs"] and KINDS[(tables.get("offers", offer_id) or {})["kind"]].contents:
                month.look("show_offers", offers=[offer_id])
                month.look("read_reviews", offer=offer_id)
    _give_back(month, reach[slug])
    actions: list[_Call] = [(n, a) for n, a in month.plans[-1]["actions"]]
    if not actions:
        raise Unfit("there is nothing to give back")
    month.wrong("nothing given back", [])
    if len(actions) > 1:
        month.wrong("only the first product", actions[:1])
    month.twists.append("reaction")
