"""Requests for goods: supplies, clothes for an event, a usual product, goods for guests, wishes."""

from collections.abc import Sequence
from dataclasses import replace

from hexathlon.tasks.shopping.templates.household.month import HouseMonth
from hexathlon.tasks.shopping.templates.household.people import HousePerson
from hexathlon.tasks.shopping.world.household.goods import BRANDS, KINDS, kinds_of
from hexathlon.tasks.shopping.world.household.prices import MarketNeed, Wanted, cheapest
from hexathlon.tasks.shopping.world.wording import enumerated, round_money

__all__ = [
    "asked",
    "excluded",
    "few_sellers",
    "joined",
    "overlooked",
    "supplies",
    "usual",
    "wear",
    "wish",
]


_DEVICES = {
    "mats": ("mosquito repeller", "电蚊香器"), "liners": ("kitchen bin", "厨房垃圾桶"),
    "papers": ("filter coffee maker", "滴滤咖啡机"), "pads": ("mop", "平板拖把"),
    "capsules": ("capsule machine", "胶囊咖啡机"),
}  # fmt: skip
"""What uses up goods that have to fit."""


def excluded(month: HouseMonth, owner: HousePerson | None = None) -> tuple[str, ...]:
    """Return what goods must not contain, for everybody or for one person."""
    people = [owner] if owner else month.people
    return tuple(sorted({slug for person in people for slug in person.without}))


def lured(month: HouseMonth, owner: HousePerson | None = None) -> tuple[str, ...]:
    """Return what an over-cautious reader leaves out as well."""
    people = [owner] if owner else month.people
    return tuple(sorted({slug for person in people for slug in person.without | person.lures}))


def asked(month: HouseMonth, needs: Sequence[MarketNeed], **fields: object) -> Wanted:
    """Return a request under the rules of the day."""
    return Wanted(
        month.day, tuple(needs), reviews=month.least, banned=tuple(month.banned), **fields,  # type: ignore[arg-type]
    )  # fmt: skip


def overlooked(
    month: HouseMonth, wanted: Wanted, owner: HousePerson | None = None
) -> dict[str, Wanted]:
    """Return the readings of a request that every request shares."""
    ways = {
        "allergy overlooked": wanted.with_needs(without=()),
        "old test believed": wanted.with_needs(without=lured(month, owner)),
        "too late": wanted.with_needs(by=99),
    }
    if wanted.banned:
        ways["ban overlooked"] = replace(wanted, banned=())
    if owner is not None:
        ways["allergies of others"] = wanted.with_needs(without=excluded(month))
    for seller, why in month.void_bans.items():
        if seller not in month.banned:
            ways[f"{why} followed ({seller})"] = replace(wanted, banned=(*wanted.banned, seller))
    return ways


def _device(month: HouseMonth, kind: str) -> tuple[str, str]:
    """Return the fit that holds for a kind and the one of a device that is gone."""
    known = month.fits.get(kind)
    if known is None:
        new, old = (
            KINDS[kind].fits[int(i)] for i in month.rng.permutation(len(KINDS[kind].fits))[:2]
        )
        known = month.fits[kind] = (new, old)
        en, zh = _DEVICES[kind]
        label = KINDS[kind].fit_name(month.scene.language)
        bought = month.span(2, 8)
        lines = [
            month.say(f"{en}, bought {bought} days before the month began: takes {label} {new}",
                      f"{zh}（月初前{bought}天买的）：用{label}{new}"),
            month.say(f"old {en}: takes {label} {old}; given to the neighbours",
                      f"{zh}（旧的）：用{label}{old}，已送邻居"),
        ]  # fmt: skip
        month.devices += [lines[int(i)] for i in month.rng.permutation(2)]
    return known


def _on_order(month: HouseMonth, kind: str) -> int:
    """Return the units of a kind that are on order and arrive after today."""
    tables, units = month.house.tables, 0
    for key in tables.keys("orders"):
        for offer_id, line in (tables.get("orders", key) or {})["lines"].items():
            offer = tables.get("offers", offer_id) or {}
            if offer["kind"] == kind and line["arrives"] > month.day:
                units += line["packs"] * offer["units"]
    return units


def _left(month: HouseMonth, kind: str) -> tuple[int, int]:
    """Return what is left of a kind this morning, and its daily use; both go into the records."""
    arrived = month.house.arrived(kind)
    known = month.use.get(kind)
    if known is None:
        rate = month.pick({"mats": (1, 2), "liners": (1, 2), "papers": (2, 3), "pads": (1, 2),
                           "capsules": (4, 5, 6), "detergent": (2, 3), "wipes": (6, 8),
                           "gloves": (4, 6), "plasters": (2, 3), "bars": (3, 4),
                           "crackers": (2, 3), "cups": (2, 3)}[kind])  # fmt: skip
        left = rate * month.span(4, 7) + month.span(0, rate - 1)
    else:
        rate, before, since, earlier = known
        left = max(before + arrived - earlier - rate * (month.day - since), 0)
    month.use[kind] = (rate, left, month.day, arrived)
    month.event(
        "supplies", kind, {"left": left, "rate": rate, "day": month.day, "arrived": arrived}
    )
    return left, rate


def supplies(
    month: HouseMonth, by: HousePerson, day: int, kinds: Sequence[str], last: int, *,
    stir: bool = False, sellers: int = 9,
) -> None:  # fmt: skip
    """Order supplies until a day; nothing if there is enough."""
    request = month.begin(by, day)
    needs, bare, forgot = [], [], []
    for kind in kinds:
        fit, old = _device(month, kind) if KINDS[kind].fits else ("", "")
        left, rate = _left(month, kind)
        order = _on_order(month, kind)
        units = rate * (last - month.day + 1) - left - order
        until = month.day + (left // rate) - 1
        need = MarketNeed(kind, units, fit=fit, without=excluded(month), by=until)
        if units <= 0:
            continue
        needs.append(need)
        bare.append(replace(need, fit=old))
        forgot.append(replace(need, units=units + left + order))
    names = [KINDS[kind].name(month.scene.language) for kind in kinds]
    request["says"] = month.pick((
        month.say(f"We need more {joined(month, names)}, enough to last until day {last}.",
                  f"{joined(month, names)}要补货了，要够用到第{last}天。"),
        month.say(f"Could you get some {joined(month, names)}? They should last until day {last}.",
                  f"帮忙买点{joined(month, names)}，要够用到第{last}天。"),
    ))  # fmt: skip
    if sellers < 9:
        request["says"] += few_sellers(month)
    for name in ("show_supplies", "list_orders"):
        month.look(name)
    if not needs:
        month.twists.append("enough on order")
        return
    wanted = asked(month, needs, sellers=sellers)
    ways = overlooked(month, wanted)
    if any(need.fit for need in bare):
        ways["old device"] = replace(wanted, needs=tuple(bare))
    ways["stock at home forgotten"] = replace(wanted, needs=tuple(forgot))
    ways["today forgotten"] = _with_units(month, wanted)
    if sellers < 9:
        ways["too many sellers"] = replace(wanted, sellers=9)
    month.order(wanted, ways, stir=stir)


def _with_units(month: HouseMonth, wanted: Wanted) -> Wanted:
    """Return the request of somebody who does not count today."""
    needs = [replace(n, units=max(n.units - month.use[n.kind][0], 1)) for n in wanted.needs]
    return replace(wanted, needs=tuple(needs))


def few_sellers(month: HouseMonth) -> str:
    """Return the wish for two sellers at the most."""
    return month.say(" From at most two sellers, please.", "最多从两家店买。")


def joined(month: HouseMonth, names: Sequence[str]) -> str:
    """Return names as an enumeration."""
    if month.scene.language == "zh":
        return "、".join(names)
    return enumerated(names, "en")


def wear(
    month: HouseMonth, by: HousePerson, day: int, children: Sequence[HousePerson],
    kinds: Sequence[Sequence[str]], event: tuple[str, str], on: int, *,
    sellers: int = 9, stir: bool = False,
) -> None:  # fmt: skip
    """Order clothes for an event; its day can move by a notice of a parent."""
    request = month.begin(by, day)
    true = on
    month.calendar.append(month.say(f"day {on}: {event[0]}", f"第{on}天：{event[1]}"))
    if month.chance(0.5):
        true = on + month.pick((-1, 1, 2))
        month.notice(
            month.pick((month.mother, month.father)),
            month.say(f"The school has written: {event[0]} is now on day {true}, not on day {on}.",
                      f"学校来通知了：{event[1]}改到第{true}天，不是第{on}天。"),
        )  # fmt: skip
    needs, old, said = [], [], []
    for child, wishes in zip(children, kinds, strict=True):
        for kind in wishes:
            what = "shoe" if kind in ("boots", "trainers") else "height"
            need = MarketNeed(kind, 1, fit=child.sizes[what], without=excluded(month, child),
                              by=true - month.event_days)  # fmt: skip
            needs.append(need)
            old.append(replace(need, fit=child.old_sizes[what]))
        names = joined(month, [KINDS[kind].name(month.scene.language) for kind in wishes])
        said.append(month.say(f"{child.name} needs {names}", f"{child.name}要{names}"))
    both = month.say(" and ", "，").join(said)
    request["says"] = month.say(f"{both} for {event[0]}.", f"{event[1]}要用，{both}。")
    if sellers < 9:
        request["says"] += few_sellers(month)
    month.look("show_calendar")
    for child in children:
        month.look("show_member", member=child.name)
    wanted = asked(month, needs, sellers=sellers)
    ways = overlooked(month, wanted)
    ways["old test believed"] = wanted
    ways["old measurement"] = replace(wanted, needs=tuple(old))
    ways["no time before the event"] = wanted.with_needs(by=true)
    if true != on:
        ways["notice of the school overlooked"] = wanted.with_needs(by=on - month.event_days)
    month.order(wanted, ways, stir=stir)
    owners = [child.name for child, wishes in zip(children, kinds, strict=True) for _ in wishes]
    _owned(month, {need.kind: name for need, name in zip(needs, owners, strict=True)})


def _owned(month: HouseMonth, owners: dict[str, str]) -> None:
    """Note who gets the goods of the request's order."""
    tables = month.house.tables
    for offer in (tables.get("orders", month.key) or {})["lines"]:
        kind = (tables.get("offers", offer) or {})["kind"]
        month.owners[month.key, offer] = owners[kind]


def usual(month: HouseMonth, by: HousePerson, day: int, kind: str, *, stir: bool = False) -> str:
    """Order what somebody always takes; the history tells which purchases do not count."""
    request = month.begin(by, day)
    brand, sub, gift = (BRANDS[int(i)] for i in month.rng.permutation(len(BRANDS))[:3])
    fit = _device(month, kind)[0] if KINDS[kind].fits else ""
    name = KINDS[kind].name(month.scene.language)
    start = month.span(60, 80)
    for back, make, note in (
        (start, brand, month.say("as always", "老样子")),
        (start - 20, brand, month.say("as always", "老样子")),
        (start - 38, sub, month.say(f"{brand} was sold out; {by.name} did not like these",
                                    f"{brand}断货才换的，{by.name}说不好用")),
        (start - 52, gift, month.say("bought for the neighbours",
                                     "买来送邻居的")),
    ):  # fmt: skip
        month.history.append(
            month.say(f"{back} days before the month, {by.name}: {name}, {make} ({note})",
                      f"月初前{back}天，{by.name}：{name}，{make}（{note}）")
        )  # fmt: skip
    units = month.span(2, 4) * _small(kind) + month.span(0, 3) * 5
    by_day = month.day + month.span(4, 7)
    request["says"] = month.pick((
        month.say(f"Please get me some {name} for the next few weeks, my usual ones.",
                  f"帮我再买点{name}，还是老牌子，够用几周就行。"),
        month.say(f"Could you order more {name} for me? My usual ones, please.",
                  f"再帮我订些{name}，还要平时那种。"),
    ))  # fmt: skip
    month.ask(by, "quantity", month.say(f"At least {units} {KINDS[kind].unit_en}.",
                                        f"至少{units}{KINDS[kind].unit_zh}。"))  # fmt: skip
    month.ask(
        by, "day", month.say(f"I need them by day {by_day}.", f"第{by_day}天前（含当天）要到。")
    )
    month.look("show_history")
    month.look("show_member", member=by.name)
    if fit:
        month.look("show_supplies")
    need = MarketNeed(kind, units, fit=fit, brand=brand, without=excluded(month), by=by_day)
    wanted = asked(month, [need])
    ways = overlooked(month, wanted)
    ways["last purchase repeated"] = wanted.with_need(0, brand=gift)
    ways["substitute repeated"] = wanted.with_need(0, brand=sub)
    ways["brand forgotten"] = wanted.with_need(0, brand="")
    month.order(
        wanted, ways, required=("brand forgotten",), stir=stir, brands=(brand, brand, sub, gift)
    )
    return month.key


def _small(kind: str) -> int:
    return {"capsules": 10, "detergent": 15, "gloves": 20}[kind]


def _day_asked(month: HouseMonth, by: HousePerson, spare: int) -> int:
    """Let a person be asked by when goods have to arrive; return the day."""
    day = month.day + spare
    month.ask(by, "day", month.say(f"By day {day} at the latest.", f"最晚第{day}天到。"))
    return day


def wish(month: HouseMonth, child: HousePerson, day: int, *, outcome: str) -> None:
    """A child's wish: bought, not approved, or not affordable."""
    request = month.begin(child, day)
    kind = month.pick([k for k in kinds_of("wish") if k.slug not in month.wished])
    month.wished.append(kind.slug)
    name = kind.name(month.scene.language)
    request["says"] = month.pick((
        month.say(f"Can I have {name}? Everybody at school has one.",
                  f"能给我买{_one(kind.unit_zh, name)}吗？班里同学都有。"),
        month.say(f"I'd really love {name}!", f"我特别想要{_one(kind.unit_zh, name)}！"),
    ))  # fmt: skip
    by_day = _day_asked(month, child, month.span(6, 9))
    need = MarketNeed(kind.slug, 1, without=excluded(month, child), by=by_day)
    wanted = asked(month, [need])
    ways = overlooked(month, wanted, child)
    if outcome == "refused":
        ways = {}
    place = outcome == "bought"
    total = month.order(wanted, ways, fit=lambda total: total > month.allowance + 500, place=place)
    money_of = month.scene.language
    month.look("show_calendar")
    if outcome == "refused":
        limit = (total - 1) // 100 * 100 - month.span(0, 2) * 100
        answer = month.say(f"Yes, but no more than {round_money(limit, money_of)} with delivery.",
                           f"可以，但连运费不能超过{round_money(limit, money_of)}。")  # fmt: skip
        month.ask(month.judge, "approval", answer)
        month.granted.append((len(month.requests) - 1, total))
        month.act("decline", reason="no_approval", record=month.judge.name)
        month.twists.append("limit of the parent")
        _also_bought(month, wanted, "bought above the limit")
        return
    limit = total // 100 * 100 + month.span(1, 3) * 100
    month.ask(month.judge, "approval",
              month.say(f"Yes, up to {round_money(limit, money_of)} with delivery.",
                        f"可以，连运费{round_money(limit, money_of)}以内。"))  # fmt: skip
    if outcome == "unaffordable":
        month.short = (len(month.requests), total)
        month.act("decline", reason="over_budget", record="budget")
        month.twists.append("payments still due")
        _also_bought(month, wanted, "bought with the money for payments")
        return
    month.granted.append((len(month.requests) - 1, 0))
    _owned(month, {kind.slug: child.name})
    month.wrong("declined", [("decline", {"reason": "no_approval", "record": month.judge.name})])


def _also_bought(month: HouseMonth, wanted: Wanted, label: str) -> None:
    found = cheapest(month.offers([n.kind for n in wanted.needs]), month.sellers, wanted)
    lines = [f"{offer} x {packs}" for offer, packs in found[0][1]]
    month.wrong(label, [("place_order", {"lines": lines})])


def _one(unit: str, name: str) -> str:
    return f"一{unit}{name}"
