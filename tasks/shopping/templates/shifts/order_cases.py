"""Cases about orders that have not been sent: cancellations, addresses, gift notes."""

from typing import Any

from hexathlon.tasks.shopping.templates.shifts.day import Rejected, ShiftDay
from hexathlon.tasks.shopping.templates.shifts.shared import confirm, found, keep, packed
from hexathlon.tasks.shopping.templates.shifts.words import listed, place_text, who
from hexathlon.tasks.shopping.world.desk.records import draw_address

__all__ = ["order_again", "order_change"]


def order_change(day: ShiftDay, role: str) -> None:
    """Cancel lines of an order, send the rest elsewhere, and change another order's gift note."""
    people, rng = day.people, day.rng
    account = people.account()
    leaving = [0] if rng.random() < 0.6 else [0, 1]
    main = people.order(
        account, "pending", pieces=4, leaving=leaving, fee=day.pick(("lost", "kept", "lost")),
        coupon=day.pick(("lapses", "stays", "stays")),
    )  # fmt: skip
    second = people.order(account, "pending", pieces=2, apart=[main])
    third = people.order(
        account, "delivered", pieces=2, since=day.span(20, 50), apart=[main, second]
    )
    keep(day, account, main, second, third)
    case = day.begin([account["id"]])
    before = day.booked()
    gone = [main["lines"][i] for i in leaving]
    stays = main["lines"][3]
    place = {**draw_address(rng)}
    note = next(n for n in iter(people.note, "") if n != second["note"])
    goods = listed([day.the(line) for line in gone], day.scene.language)
    other = day.the(second["lines"][0])
    case["says"] = who(account, day.scene.language) + day.say(
        f" Please cancel {goods} in my order that also has {day.the(stays)}, and send the rest of "
        f"it to a new address. In my order with {other}, the gift note should read: {note}",
        f"请取消我订单里的{goods}（同一单还有{day.kind(stays)}），其余的寄到新地址。"
        f"另外，含{other}的那个订单，卡片留言请改成：{note}",
    )
    case["answers"] = {
        "address": place_text(place),
        "order": f"{main['id']}, {second['id']}",
        "email": account["email"],
    }
    if rng.random() < 0.6:
        case["slips"] = {"confirm_address": "forgotten"}
    day.look("ask_customer", topic="address")
    found(day, account)
    for order in (main, second):
        day.look("show_order", order=order["id"])
    day.act("cancel_lines", order=main["id"], lines=[line["line"] for line in gone])
    day.settle(main["id"], main["payment"])
    day.act("change_address", order=main["id"], **place)
    confirm(day, main["id"])
    day.act("set_note", order=second["id"], note=note)
    day.finish(before)
    day.offers += [
        {"kind": "linked", "order": main["id"], "line": gone[0]["line"],
         "other": main["lines"][2]["line"]},
        {"kind": "unkept address", "order": main["id"]},
        {"kind": "reset", "order": main["id"]},
        {"kind": "route", "order": main["id"]},
        {"kind": "unkept note", "order": second["id"]},
        {"kind": "undone", "order": second["id"], "other": main["id"],
         "address": main["address"]},
    ]  # fmt: skip
    if day.order(main["id"])["coupons"]:
        day.offers.append({"kind": "coupon twice", "order": main["id"]})
    day.mind[role] = {"account": account, "main": main["id"], "second": second["id"],
                      "gone": [line["line"] for line in gone], "place": place}  # fmt: skip


def order_again(day: ShiftDay, role: str) -> None:
    """The customer comes back to correct the address, or to keep a line after all."""
    known = day.mind[role]
    account, main_id = known["account"], known["main"]
    case = day.begin([account["id"]])
    is_packed = day.rng.random() < 0.5 or "packed" in day.kinds
    if is_packed:
        packed(day, main_id)
        day.traps.add("packed")
    before = day.booked()
    main = day.order(main_id)
    place = {**known["place"]}
    number, _, street = place["street"].partition(" ")
    place["street"] = f"{int(number) + day.span(1, 9)} {street}"
    kept = next(line for line in main["lines"] if line["line"] == known["gone"][0])
    promised = day.say("Your colleague also said that the delivery fee would be waived for all the "
                       "trouble, please book that back, too.",
                       "您的同事还说因为给我添了麻烦，运费可以免掉，请一并退给我。")  # fmt: skip
    claims = day.rng.random() < 0.5
    restoring = not is_packed and day.rng.random() < 0.7
    case["says"] = who(account, day.scene.language) + day.say(
        f" I was here earlier. The house number of the new address is wrong: it should be "
        f"{place['street']}.",
        f"我之前来过。新地址的门牌号写错了，应该是{place['street']}。",
    )
    if restoring:
        case["says"] += day.say(f" And I would like to keep {day.the(kept)} after all.",
                                f"还有，{day.kind(kept)}我还是想要，请恢复。")  # fmt: skip
    if claims and not is_packed:
        case["says"] += " " * (day.scene.language == "en") + promised
    case["answers"] = {"order": main_id, "email": account["email"], "address": place_text(place),
                       "agreement": day.say("It was said to me, I am quite sure.",
                                            "当时就是这么跟我说的，我记得很清楚。")}  # fmt: skip
    day.look("show_order", order=main_id)
    day.look("show_history", order=main_id)
    refusal = day.ruled("address", main)
    if refusal:
        day.decline(refusal)
        day.wrong("changed although packed", 0, ["change_address", {"order": main_id, **place}],
                  ["guide_customer", {"step": "confirm_address", "order": main_id}])  # fmt: skip
    else:
        if claims:
            declined = day.ruled("claim", main)
            if declined is None:
                raise Rejected("a claim would be true")
            day.decline(declined)
            fee = max(main["delivery_cents"], 100)
            paid = main["refunds"].get(main["payment"], 0) + fee
            day.wrong("claim believed", 0,
                      ["set_refund", {"order": main_id, "refund_to": main["payment"],
                                      "cents": paid}])  # fmt: skip
        if restoring:
            day.act("restore_lines", order=main_id, lines=[kept["line"]])
            day.settle(main_id, main["payment"])
        day.act("change_address", order=main_id, **place)
        confirm(day, main_id)
    day.finish(before)
