"""Cases about delivered orders: returns, damaged goods, exchanges."""

from typing import Any

from hexathlon.tasks.shopping.templates.shifts.day import CounterDay, Rejected
from hexathlon.tasks.shopping.templates.shifts.shared import found, history, keep, namesake
from hexathlon.tasks.shopping.templates.shifts.words import who
from hexathlon.tasks.shopping.world.shift.amounts import goods_cents
from hexathlon.tasks.shopping.world.shift.rulings import refund_method
from hexathlon.tasks.shopping.world.tables import Record
from hexathlon.tasks.shopping.world.wording import enumerated, model_text

__all__ = ["return_again", "return_parcel", "swap", "swap_again"]


def return_parcel(day: CounterDay, role: str) -> None:
    """Return two or three lines, one of them final sale; the window is moved, agreed or missed."""
    people, rng = day.people, day.rng
    account = people.account()
    limit = day.policy.return_days + (day.policy.plus_days if account["tier"] == "plus" else 0)
    ways = ["extended", "shortened", "withdrawn", "plain", "plain late"]
    if "history" in day.kinds:
        ways = ["history"] * 4 + ways
    way = day.pick(ways)
    beyond = way not in ("shortened", "plain")
    since = limit + day.span(1, 6) if beyond else limit - day.span(2, 6)
    if way == "plain":
        since = max(day.policy.cash_days + day.span(-2, 2), 2)
    owner = account
    accounts = [account]
    if "account" in day.kinds and "account" not in day.traps:
        owner = people.account(like=account, email=True)
        accounts = [account, owner]
        day.traps.add("account")
    main = people.order(
        owner, "delivered", pieces=4, since=since, leaving=[0], fee=day.pick(("lost", "kept")),
        coupon=day.pick(("", "lapses", "stays")),
    )  # fmt: skip
    main["lines"][1]["final_sale"] = True
    beside = [people.order(each, "delivered", pieces=2, since=since + day.span(8, 30), apart=[main])
              for each in (account, account)]  # fmt: skip
    first, final, third, last = main["lines"]
    if owner is not account:
        # The other account has goods of the same kind, which came long before.
        twin = people.order(account, "delivered", pieces=2, since=limit + day.span(25, 60))
        twin["lines"][0] = {**first, "cents": first["cents"], "line": "1"}
        beside.append(twin)
        keep(day, account, *beside)
        keep(day, owner, main)
    else:
        keep(day, account, main, *beside)
    namesake(day, account)
    case = day.begin([each["id"] for each in accounts])
    before = day.booked()
    scope = day.category(first)
    plus = day.policy.plus_days if account["tier"] == "plus" else 0
    if way in ("extended", "withdrawn"):
        memo = day.memo("window", value=max(since - plus, 1) + day.span(0, 5), scope=scope)
        if way == "withdrawn":
            day.withdrawal(memo)
    elif way == "shortened":
        _raise_if(since - plus < 3)
        day.memo("window", value=max(since - plus - day.span(1, 4), 1), scope=scope)
    elif way == "history":
        main["agreed"] = [first["line"]]
        history(day, main,
                f"agreed with the customer: line {first['line']} can be returned later than usual, "
                "until day 7.",
                f"已与顾客约定：第{first['line']}行可以延后退货，到第7天为止。")  # fmt: skip
        day.traps.add("history")
    outcome = way in ("extended", "history", "plain")
    day.distract(scope, since, allowed=outcome, deciding=way in ("extended", "shortened"))
    if rng.random() < 0.5:
        state = day.pick(("live", "future", "ended"))
        day.memo("final", state=state, scope=day.category(final))
    damaged = rng.random() < 0.5 and "condition" in day.kinds
    more = rng.random() < 0.4
    wanted = [first, final, *([third] if more else [])]
    goods = enumerated([day.the(line) for line in wanted], day.scene.language)
    # Without a second account there is no doubt about the order, only about the day.
    told = since if owner is not account else max(since + day.span(-4, 2), 1)
    case["says"] = who(account, day.scene.language) + day.say(
        f" I'd like to return {goods}; they came about {told} days ago.",
        f"我想退{goods}，大概{told}天前收到的。",
    )
    case["answers"] = {
        "order": main["id"],
        "email": account["email"],
        "condition": day.say(
            f"{day.the(final).capitalize()} arrived damaged; everything else is fine."
            if damaged
            else "Everything is fine, we just don't need it.",
            f"{day.kind(final)}到货时就破损了，其他都是好的。"
            if damaged
            else "都是好的，只是用不上了。",
        ),
    }
    if damaged:
        day.traps.add("condition")
        if rng.random() < 0.6:
            case["slips"] = {"photo": last["line"]}
    day.look("ask_customer", topic="condition")
    day.look("find_customer", email=account["email"])
    for each in accounts:
        day.look("show_customer", customer=each["id"])
    day.look("show_order", order=main["id"])
    day.look("show_history", order=main["id"])
    _take_back(day, main, wanted, {final["line"]} if damaged else set())
    day.finish(before)
    _offer(day, main["id"], last["line"], first["line"])
    day.mind[role] = {"account": account, "main": main["id"], "next": last["line"],
                      "accounts": [each["id"] for each in accounts]}  # fmt: skip


def _raise_if(bad: bool) -> None:
    """Reject the day if a draw does not fit.

    Raises:
        Rejected: If it does not.
    """
    if bad:
        raise Rejected("a draw does not fit")


def _take_back(
    day: CounterDay, main: Record, wanted: list[dict[str, Any]], damaged: set[str]
) -> None:
    """Return what may be returned, decline the rest, and settle the refund."""
    fine: list[str] = []
    broken: list[str] = []
    for line in wanted:
        is_damaged = line["line"] in damaged
        refusal = day.ruled("return", main, line=line["line"], damaged=is_damaged)
        back = ["return_lines", {"order": main["id"], "lines": [line["line"]]}]
        asked = {"line": line["line"], "damaged": is_damaged}
        if refusal is not None:
            place = len(day.plan["actions"])
            day.decline(refusal)
            day.misread(refusal, main, place, back, "return", **asked)
            day.wrong(f"returned {refusal.record} although {refusal.reason}", place, back)
        else:
            (broken if is_damaged else fine).append(line["line"])
    for number in broken:
        while day.order(main["id"])["photo"] != number:
            day.act("guide_customer", step="photo", order=main["id"], line=number)
        day.act("return_lines", order=main["id"], lines=[number], damaged=True)
        day.wrong("damage not asked for", len(day.plan["actions"]) - 1,
                  ["decline", {"reason": "final_sale", "record": f"{main['id']}/{number}",
                               "rule": "R1"}])  # fmt: skip
    if fine:
        day.act("return_lines", order=main["id"], lines=fine)
        for number in fine:
            day.misread(None, main, len(day.plan["actions"]) - 1, [], "return", line=number,
                        damaged=False)  # fmt: skip
    if fine or broken:
        method = refund_method(main, day.facts())
        day.settle(main["id"], method)
        name, arguments = day.plan["actions"][-1]
        for label, facts in day.readings():
            other = refund_method(main, facts)
            if other != method and name == "set_refund":
                day.wrong(f"{label}: method", len(day.plan["actions"]) - 1,
                          [name, {**arguments, "refund_to": other}])  # fmt: skip


def return_again(day: CounterDay, role: str) -> None:
    """The customer also returns the last line, by the rules of that hour, or claims a promise."""
    known = day.mind[role]
    account, main_id = known["account"], known["main"]
    case = day.begin(known["accounts"])
    if day.rng.random() < 0.6:
        day.memo("cash", value=day.pick((2, 40)))
    before = day.booked()
    main = day.order(main_id)
    line = next(each for each in main["lines"] if each["line"] == known["next"])
    refused = day.ruled("return", main, line=line["line"])
    if refused is not None and day.rng.random() < 0.7:
        since = -main["delivered"]
        day.memo("window", value=since + day.span(0, 4), scope=day.category(line))
        day.distract(day.category(line), since, allowed=True, deciding=True)
    claims = day.rng.random() < 0.5
    case["says"] = who(account, day.scene.language) + day.say(
        f" I was here this morning about my return. Please take back {day.the(line)} as well.",
        f"我今天来办过退货。{day.kind(line)}也请一起退了吧。",
    )
    if claims:
        case["says"] += day.say(
            " And I was told on the phone that I'd get the delivery fee back.",
            "还有，电话里答应过退运费的。",
        )
    case["answers"] = {"order": main_id, "email": account["email"],
                       "condition": day.say("It's as good as new.", "跟新的一样。")}  # fmt: skip
    if claims:
        case["answers"]["agreement"] = day.say("Last week, on the phone.", "上周电话里说的。")
    day.look("show_order", order=main_id)
    day.look("show_history", order=main_id)
    if claims:
        declined = day.ruled("claim", main)
        _raise_if(declined is None)
        assert declined is not None
        day.decline(declined)
        method = refund_method(main, day.facts())
        day.wrong("claim believed", 0, ["set_refund", {
            "order": main_id, "refund_to": method,
            "cents": main["refunds"].get(method, 0) + main["delivery_cents"]}])  # fmt: skip
    _take_back(day, main, [line], set())
    day.finish(before)


def swap(day: CounterDay, role: str) -> None:
    """Exchange one line and return another; the customer changes her mind before the end."""
    people, rng = day.people, day.rng
    account = people.account()
    since = day.span(2, 12)
    main = people.order(account, "delivered", pieces=3, since=since, leaving=[1],
                        fee=day.pick(("lost", "kept")), coupon=day.pick(("", "stays")))  # fmt: skip
    first, second, third = main["lines"]
    catalogue = day.scene.catalogue
    former = next((known for known in day.mind.values() if "variant" in known), None)
    if former is not None:
        # The same variant as an earlier customer wanted, who may have got the last unit.
        product = catalogue.product(former["variant"].partition("-")[0])
        owned = [v for v in product.variants if v.id != former["variant"]]
        first |= {"product": product.id, "variant": day.pick(owned).id}
        taken = {day.kind(line) for line in (second, third)}
        _raise_if(day.kind(first) in taken)
    others = [v for v in catalogue.product(first["product"]).variants
              if v.id != first["variant"] and v.stock]  # fmt: skip
    _raise_if(len(others) < 1)
    reserved = "reserved" in day.kinds and rng.random() < 0.6
    if former is None:
        new = day.pick(others)
        for variant in catalogue.product(first["product"]).variants:
            units = day.span(2, 6)
            free = (0 if reserved else 1) if variant.id == new.id else day.span(1, units)
            day.add("stock", variant.id, {"units": units, "reserved": units - free})
    else:
        new = catalogue.product(first["product"]).variant(former["variant"])
        stock = day.counter.tables.get("stock", new.id) or {}
        reserved = stock["reserved"] >= stock["units"]
    beside = people.order(
        account, "delivered", pieces=2, since=since + day.span(3, 20), apart=[main]
    )
    keep(day, account, main, beside)
    namesake(day, account)
    case = day.begin([account["id"]])
    suspended = not reserved and rng.random() < 0.3
    if suspended:
        day.memo("suspend", scope=day.category(first))
    elif rng.random() < 0.6:
        day.memo("suspend", state=day.pick(("future", "ended")), scope=day.category(first))
    before = day.booked()
    wished = model_text(catalogue.product(first["product"]), new, day.scene.language)
    case["says"] = who(account, day.scene.language) + day.say(
        f" I'd like to swap {day.the(first)} for the same thing {wished}, and return "
        f"{day.the(second)}.",
        f"{day.kind(first)}我想换成{wished}，{day.kind(second)}退掉。",
    )
    case["answers"] = {"order": main["id"], "email": account["email"], "variant": wished,
                       "condition": day.say("All fine.", "都没问题。")}  # fmt: skip
    keeps = rng.random() < 0.5
    found(day, account)
    day.look("show_order", order=main["id"])
    day.look("list_variants", item=first["product"])
    day.look("show_stock", variant=new.id)
    if reserved:
        day.traps.add("reserved")
    _exchange(day, main, first, new.id)
    _take_back(day, main, [second], set())
    if keeps:
        case["last"] = day.say(
            f"Wait, before you close this: I'll keep {day.the(second)} after all. Please take "
            f"back {day.the(third)} instead.",
            f"等等，先别结案：{day.kind(second)}我还是留着，换成退{day.kind(third)}吧。",
        )
        day.early_finish(before)
        place = len(day.plan["actions"])
        day.act("restore_lines", order=main["id"], lines=[second["line"]])
        _take_back(day, day.order(main["id"]), [third], set())
        day.wrong("change of mind not heeded", place, ["decline", {
            "reason": "none", "record": main["id"], "rule": "R1"}])  # fmt: skip
    day.finish(before)
    _offer(day, main["id"], third["line"], second["line"])
    day.mind[role] = {"account": account, "main": main["id"], "line": first["line"],
                      "variant": new.id, "wished": wished,
                      "accounts": [account["id"]]}  # fmt: skip


def swap_again(day: CounterDay, role: str) -> None:
    """The customer wants money back for the exchanged line, or asks again for the exchange."""
    known = day.mind[role]
    account, main_id = known["account"], known["main"]
    case = day.begin(known["accounts"])
    main = day.order(main_id)
    line = next(each for each in main["lines"] if each["line"] == known["line"])
    again = line["state"] == "ordered" and day.rng.random() < 0.8
    if again:
        # Meanwhile reservations have lapsed, or the last units were sold.
        units = day.span(1, 4)
        day.event("stock", known["variant"], units=units,
                  reserved=units - (day.span(0, 1) if units > 1 else 0))  # fmt: skip
    if day.rng.random() < 0.6:
        day.memo("cash", value=day.pick((1, 30)))
    before = day.booked()
    day.look("show_order", order=main_id)
    case["answers"] = {"order": main_id, "email": account["email"],
                       "condition": day.say("It's in good condition.", "完好无损。")}  # fmt: skip
    case["says"] = who(account, day.scene.language)
    if again:
        case["answers"]["variant"] = known["wished"]
        case["says"] += day.say(
            f" I was here about swapping {day.the(line)}. Could you check again whether I can "
            "have the one I wanted now?",
            f"我之前来问过{day.kind(line)}换货的事，请再看看现在能不能换成我要的那款。",
        )
        day.look("list_variants", item=line["product"])
        day.look("show_stock", variant=known["variant"])
        _exchange(day, main, line, known["variant"])
    else:
        case["says"] += day.say(
            f" About {day.the(line)}: I'd rather have my money back. Surely you can do that for "
            "a regular customer.",
            f"关于{day.kind(line)}：我还是想退钱。老顾客了，通融一下吧。",
        )
        _take_back(day, main, [line], set())
    day.finish(before)


def _exchange(day: CounterDay, main: Record, line: Record, variant: str) -> None:
    """Exchange a line or decline it."""
    arguments = {"order": main["id"], "line": line["line"], "variant": variant}
    refusal = day.ruled("exchange", main, line=line["line"], variant=variant)
    if refusal:
        day.decline(refusal)
        day.wrong(f"exchanged although {refusal.reason}", 0, ["exchange_line", arguments])
    else:
        day.act("exchange_line", **arguments)
        day.wrong("returned instead", 0, ["return_lines", {
            "order": main["id"], "lines": [line["line"]]}])  # fmt: skip
    day.misread(refusal, main, 0, ["exchange_line", arguments], "exchange", line=line["line"],
                variant=variant)  # fmt: skip


def _offer(day: CounterDay, order: str, spare: str, leaving: str) -> None:
    """Offer defects of an order whose lines are returned."""
    record = day.order(order)
    returned = any(line["state"].startswith("returned") for line in record["lines"])
    if record["refunds"]:
        day.offers.append({"kind": "route", "order": order})
    left = next(line for line in record["lines"] if line["line"] == spare)
    gone = next(line for line in record["lines"] if line["line"] == leaving)
    if returned and left["state"] == "ordered" and gone["state"] == "returned":
        day.offers.append({"kind": "linked", "order": order, "line": leaving, "other": spare})
    if returned and record["coupons"] and goods_cents(record):
        day.offers.append({"kind": "coupon twice", "order": order})
