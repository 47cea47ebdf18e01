"""Matters that customers bring up; each has twists of its own and touches those of others."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hexathlon.tasks.shopping.templates.talks.case import TalkCase
from hexathlon.tasks.shopping.world.talk.goods import COLOURS
from hexathlon.tasks.shopping.world.wording import enumerated, money

__all__ = ["MATTERS", "last_word"]


def _pending(case: TalkCase) -> dict[str, Any]:
    found = [order for order in case.orders.values() if order["status"] == "pending"]
    return found[0] if found else case.order("pending", 4, coupon=True)


def _recent(case: TalkCase) -> dict[str, Any]:
    found = [o for o in case.orders.values() if o["status"] == "delivered" and not o.get("old")]
    return found[0] if found else _delivered(case)


def _delivered(case: TalkCase) -> dict[str, Any]:
    near = case.window + case.pick((-6, -2, -1, 0, 1, 2)) if case.chance(0.6) else case.span(4, 9)
    return case.order("delivered", 4, age=near, coupon=case.chance(0.7), late=case.span(0, 6))


def cancel(case: TalkCase) -> None:
    """Cancel lines of an order that has not been sent, with a second thought."""
    order = _pending(case)
    numbers = [line["line"] for line in order["lines"]]
    drawn = [numbers[i] for i in case.rng.permutation(len(numbers)).tolist()]
    said, other = sorted(drawn[:2]), drawn[2]
    case.matters.append(
        case.say(f"Please cancel {case.names(order, said)}; I don't need them any more.",
                 f"{case.names(order, said)}不要了，帮我取消。")
    )  # fmt: skip
    case.first.back.setdefault(order["id"], set()).update(said)
    final = set(said)
    if case.chance(0.7):
        if case.chance(0.5):
            final = {*said, other}
            thought = case.say(f"Oh, and please cancel {case.names(order, [other])}, too.",
                               f"对了，{case.names(order, [other])}也取消吧。")  # fmt: skip
        else:
            final = {said[0]}
            thought = case.say(f"On second thoughts, I'll keep {case.names(order, [said[1]])}.",
                               f"算了，{case.names(order, [said[1]])}我还是留着。")  # fmt: skip
        case.later.append(thought)
    case.last.back.setdefault(order["id"], set()).update(final)


def last_word(case: TalkCase) -> None:
    """Let the customer cancel one more line when the case is about to be closed."""
    order = next((o for o in case.orders.values() if o["status"] == "pending"), None)
    if order is None:
        return
    gone = case.last.back.get(order["id"], set())
    left = [line["line"] for line in order["lines"] if line["line"] not in gone]
    if len(left) < 2:
        return
    case.final = (order["id"], case.pick(left))
    name = case.names(order, [case.final[1]])
    case.final_words = case.pick((
        case.say(f"One moment. Now that I think of it, please cancel {name} as well.",
                 f"等等，{name}也一起取消吧。"),
        case.say(f"Before you close this: I don't need {name} either. Please cancel that, too.",
                 f"先别结案，{name}也不需要了，帮我一并取消。"),
    ))  # fmt: skip


def address(case: TalkCase) -> None:
    """Send an order elsewhere; another warehouse may send it too late for the customer."""
    order = _pending(case)
    place = case.place()
    shown = case.say(f"{place['street']}, {place['city']}, postcode {place['postcode']}",
                     f"{place['city']}{place['street']}，邮编{place['postcode']}")  # fmt: skip
    gone = case.last.back.get(order["id"], set()) | case.first.back.get(order["id"], set())
    number = next((x["line"] for x in order["lines"] if x["line"] not in gone), "1")
    name = case.names(order, [number])
    case.matters.append(
        case.say(f"Please send the order with {name} to a new address: {shown}.",
                 f"有{name}的那个订单，请改寄到{shown}。")
    )  # fmt: skip
    agrees = case.chance(0.5)
    case.consents[order["id"]] = agrees
    case.answers[f"arrival/{order['id']}"] = (
        case.say("A day or two later is fine.", "晚一两天没关系。")
        if agrees
        else case.say("No, I need it by the promised day. Leave the address as it is, then.",
                      "不行，得按原来说的日子到，那地址就别改了。")
    )  # fmt: skip
    for wish in case.both():
        wish.address[order["id"]] = place


def give_back(case: TalkCase) -> None:
    """Return lines of a delivered order; condition and day of arrival are not as they seem."""
    order = _recent(case)
    key = order["id"]
    taken = {*case.first.exchange, *case.last.exchange, *case.last.match}
    back = case.last.back.get(key, set())
    free = [line["line"] for line in order["lines"]
            if (key, line["line"]) not in taken and line["line"] not in back]  # fmt: skip
    drawn = sorted(free[i] for i in case.rng.permutation(len(free)).tolist()[:2])
    if len(drawn) < 2:
        return
    since = case.today - order["scans"][-1][0]
    claimed = since + case.pick((-3, 2, 3)) if case.chance(0.5) else since
    case.claimed[key] = case.today - claimed
    case.matters.append(
        case.say(f"I'd like to return {case.names(order, drawn)}. They came on day "
                 f"{case.today - claimed}.",
                 f"{case.names(order, drawn)}想退掉，是第{case.today - claimed}天收到的。")
    )  # fmt: skip
    parts: dict[str, list[str]] = {"packed": [], "opened": [], "damaged": []}
    for number in drawn:
        name = case.say(f"the {case.name(order, number)}", case.name(order, number))
        state = case.pick(("packed", "packed", "opened", "damaged"))
        if state == "opened":
            case.opened.add((key, number))
        elif state == "damaged":
            case.damaged.add((key, number))
        parts[state].append(name)
    text = case.say("; ", "，").join(
        _condition(case, state, names) for state, names in parts.items() if names
    )
    case.answers[f"condition/{key}"] = text[0].upper() + text[1:] + case.say(".", "。")
    case.asks.append(("condition", key))
    for wish in case.both():
        wish.back.setdefault(key, set()).update(drawn)


def _condition(case: TalkCase, state: str, names: Sequence[str]) -> str:
    """Say in which condition one or two things are."""
    name, several = enumerated(names, case.scene.language), len(names) > 1
    match state:
        case "packed":
            are = "are both" if several else "is"
            return case.say(f"{name} {are} still sealed", f"{name}{'都' * several}没拆封")
        case "opened":
            return case.say(f"I've used {name} a few times", f"{name}{'都' * several}用过几次")
    were, it = ("were", "them") if several else ("was", "it")
    return case.say(
        f"{name} {were} damaged when I unpacked {it}", f"{name}拆开就{'都' * several}是破损的"
    )


def late(case: TalkCase) -> None:
    """Claim goodwill for a late delivery; not due if something of it goes back."""
    order = _recent(case)
    number = order["lines"][0]["line"]
    case.matters.append(
        case.say(f"The order with {case.names(order, [number])} came late. What do I get for that?",
                 f"有{case.names(order, [number])}的那个订单送晚了，请按规定补偿我。")
    )  # fmt: skip
    for wish in case.both():
        wish.late.append(order["id"])


def exchange(case: TalkCase) -> None:
    """Exchange a line for another colour, or then rather have the money back."""
    order = _recent(case)
    key = order["id"]
    taken = {*case.last.back.get(key, ()), *(n for o, n in case.last.match if o == key)}
    lines = [line for line in order["lines"] if line["line"] not in taken]
    line = case.pick(lines) if lines else None
    if line is None:
        return
    others = [v for v in case.variants.values()
              if v["goods"] == line["goods"] and v["colour"] != line["colour"]]  # fmt: skip
    stocked = [v for v in others if v["stock"]]
    if len(stocked) < 2:
        others[0]["stock"], others[1]["stock"] = 3, 4
        stocked = others[:2]
    name, spot = case.names(order, [line["line"]]), (key, line["line"])

    def colour(variant: dict[str, Any]) -> str:
        return COLOURS[variant["colour"]][case.scene.language == "zh"]

    case.matters.append(
        case.say(f"I'd like to swap {name} for a {colour(stocked[0])} one.",
                 f"{name}想换成{colour(stocked[0])}的。")
    )  # fmt: skip
    case.first.exchange[spot] = stocked[0]["id"]
    draw = case.span(0, 2)
    if draw == 0:
        case.last.exchange[spot] = stocked[0]["id"]
    elif draw == 1:
        case.later.append(
            case.say(f"Actually, make {name} {colour(stocked[1])} instead.",
                     f"{name}还是换{colour(stocked[1])}的吧。")
        )  # fmt: skip
        case.last.exchange[spot] = stocked[1]["id"]
    else:
        case.later.append(
            case.say(f"I've changed my mind about {name}: no exchange, I want to return it. It's "
                     "still sealed.", f"{name}我想了想，不换了，直接退吧，还没拆封。")
        )  # fmt: skip
        case.last.back.setdefault(key, set()).add(line["line"])


def match(case: TalkCase) -> None:
    """Ask for the difference to today's lower price."""
    order = _recent(case)
    key = order["id"]
    back = {*case.last.back.get(key, ()), *case.first.back.get(key, ())}
    swapped = {*case.first.exchange, *case.last.exchange}
    lines = [line for line in order["lines"]
             if line["line"] not in back and (key, line["line"]) not in swapped]  # fmt: skip
    if not lines:
        return
    line = case.pick(lines)
    variant = next(v for v in case.variants.values()
                   if v["goods"] == line["goods"] and v["colour"] == line["colour"])  # fmt: skip
    variant["cents"] = line["cents"] - case.span(3, 13) * 100 - 50
    name = case.names(order, [line["line"]])
    case.matters.append(
        case.say(f"I see that {name} has got cheaper. I'd like the difference back.",
                 f"{name}现在降价了，差价请退给我。")
    )  # fmt: skip
    for wish in case.both():
        wish.match.append((key, line["line"]))


def repair(case: TalkCase) -> None:
    """A device does not work; the customer has to reset it, and may only say so."""
    age = case.window + case.span(8, 25)
    order = case.order("delivered", 2, device=True, age=age, coupon=case.chance(0.5))
    order["old"] = True
    key, spot = order["id"], (order["id"], "1")
    works, honest = case.chance(0.4), case.chance(0.4)
    name = case.names(order, ["1"])
    case.matters.append(
        case.say(f"I can't get {name} to start any more. I want my money back.",
                 f"{name}开不了机了，我要退款。")
    )  # fmt: skip
    fault = f"E{case.span(11, 39)}"
    before = [
        case.say(f"day {case.today - 2}: error {fault}", f"第{case.today - 2}天：错误{fault}"),
        case.say(f"day {case.today}, {case.hour - 1}:50: off",
                 f"第{case.today}天{case.hour - 1}:50：关机"),
    ]  # fmt: skip
    shown = f"{case.hour}:0{case.span(3, 9)}"
    code = f"E{case.span(41, 69)}"
    result = (case.say("no fault", "无故障") if works
              else case.say(f"error {code}", f"错误{code}"))  # fmt: skip
    after = [case.say(f"day {case.today}, {shown}: reset; {result}",
                      f"第{case.today}天{shown}：重置；{result}")]  # fmt: skip
    case.logs[f"{key}/1"] = {"before": before, "after": after, "honest": honest}
    if works:
        case.works.add(spot)
    for wish in case.both():
        wish.devices.append(spot)


def promise(case: TalkCase) -> None:
    """Claim that a colleague promised goodwill; a note tells, and whether it still holds."""
    limit = case.numbers["promise_days"]
    kind = case.pick(("kept", "old", "none"))
    back = case.span(1, limit) if kind == "kept" else limit + case.span(1, 4)
    order = case.order("shipped", 2)
    # The order was on its way for some days when the customer complained.
    order["placed"] = case.today - back - case.span(5, 7)
    order["promised"] = case.today + case.span(-1, 2)
    order["scans"][0][0] = order["placed"] + 1
    cents = case.span(5, 15) * 100
    name = case.names(order, ["1"])
    shown = money(cents, case.scene.language)
    case.matters.append(
        case.say(f"One of your colleagues promised me {shown} because the order with {name} has "
                 "been on its way for so long.",
                 f"有{name}的订单在路上太久了，你们同事答应补偿我{shown}。")
    )  # fmt: skip
    if kind != "none":
        case.notes.append(
            case.say(f"day {case.today - back}, Nadia: promised {shown} for {order['id']}.",
                     f"第{case.today - back}天，小陈：已答应就{order['id']}补偿{shown}。")
        )  # fmt: skip
    else:
        day = case.today - case.span(1, 5)
        case.notes.append(
            case.say(f"day {day}, Otis: customer asked about {order['id']}; told that it is on its "
                     "way.", f"第{day}天，小林：顾客问过{order['id']}，已告知在途中。")
        )  # fmt: skip
    case.binding[order["id"]] = kind == "kept"
    for wish in case.both():
        wish.promised.append((order["id"], cents))


MATTERS: Mapping[str, Callable[[TalkCase], None]] = {
    "cancel": cancel, "address": address, "return": give_back, "late": late,
    "exchange": exchange, "match": match, "repair": repair, "promise": promise,
}  # fmt: skip
"""Matters by name."""
