"""Cases about orders that have not been sent: cancellations, addresses, gift notes."""

from typing import Any

from hexathlon.tasks.shopping.templates.shifts.day import CounterDay, Rejected
from hexathlon.tasks.shopping.templates.shifts.shared import confirm, found, keep, namesake, packed
from hexathlon.tasks.shopping.templates.shifts.words import other_number, who
from hexathlon.tasks.shopping.world.desk.records import draw_address
from hexathlon.tasks.shopping.world.shift.amounts import due_refund
from hexathlon.tasks.shopping.world.shift.views import CARRIERS, PARTS, part_label
from hexathlon.tasks.shopping.world.tables import Record
from hexathlon.tasks.shopping.world.wording import address_text, enumerated

__all__ = ["order_again", "order_change"]

_CLEAR = 40
"""Smallest difference of refunds, in cents, by which one line is the better choice."""


def order_change(day: CounterDay, role: str) -> None:
    """Cancel lines of an order, send the rest elsewhere, and change another order's gift note."""
    people, rng = day.people, day.rng
    account = people.account()
    either = rng.random() < 0.5
    leaving = [0] if either or rng.random() < 0.5 else [0, 1]
    main = people.order(
        account, "pending", pieces=4, leaving=leaving, fee=day.pick(("lost", "kept", "lost")),
        coupon=day.pick(("lapses", "stays", "stays")),
    )  # fmt: skip
    if either:
        people.price_choice(main)
    appointed = rng.random() < 0.8
    if appointed:
        main["carrier"] = "courier"  # who goes by appointments; lockers do not need them
    second = people.order(account, "pending", pieces=2, apart=[main])
    third = people.order(
        account, "delivered", pieces=2, since=day.span(20, 50), apart=[main, second]
    )
    # Another order that is still pending has goods of the same kind.
    decoy = people.order(account, "pending", pieces=2, apart=[main, second, third])
    people.same_goods(decoy, main["lines"][0])
    keep(day, account, main, second, third, decoy)
    namesake(day, account)
    case = day.begin([account["id"]])
    before = day.booked()
    gone = [main["lines"][i] for i in leaving]
    said = day.the
    wish = enumerated([said(line) for line in gone], day.scene.language)
    stays = said(main["lines"][3])
    english = f"From my order with {stays}, please cancel {wish}."
    chinese = f"有{stays}的那个订单，请取消{wish}"
    if either:
        gone = [_better(day, main)]
        pair = [day.the(line) for line in main["lines"][:2]]
        english = (
            f"About my order with {stays}: I only need one of two things in it, {pair[0]} or "
            f"{pair[1]}. Please cancel whichever of the two gets me more money back."
        )
        chinese = f"有{stays}的那个订单，{pair[0]}和{pair[1]}我只要一件，哪件退的钱多就取消哪件"
    place = {**draw_address(rng, day.scene.language)}
    note = next(n for n in iter(people.note, "") if n != second["note"])
    english += " Please send the rest of that order to a new address"
    chinese += "，其余的寄到新地址"
    carrier = ""
    if not appointed and rng.random() < 0.4:
        carrier = "locker" if main["carrier"] == "courier" else "courier"
        english += {"locker": ", to a parcel locker", "courier": ", by courier"}[carrier]
        chinese += f"，改用{CARRIERS[carrier]}"
    slot = _slot(day, main["id"]) if appointed else None
    if slot:
        english += f" and deliver it on day {slot['day']} {part_label(slot['part'], 'en')}"
        chinese += f"，改约第{slot['day']}天{part_label(slot['part'], 'zh')}送"
    other = said(second["lines"][0])
    case["says"] = who(account, day.scene.language) + day.say(
        f" {english}. And on my order with {other}, please change the gift note to: {note}",
        f"{chinese}。另外，有{other}的那个订单，卡片留言请改成：{note}",
    )
    case["answers"] = {
        "address": address_text(place, day.scene.language),
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
    if either:
        worse = "2" if gone[0]["line"] == "1" else "1"
        day.wrong("the other of two lines cancelled", 0,
                  ["cancel_lines", {"order": main["id"], "lines": [worse]}])  # fmt: skip
    day.wrong("another order with the same goods", 0,
              ["cancel_lines", {"order": decoy["id"], "lines": ["1"]}])  # fmt: skip
    day.settle(main["id"], main["payment"])
    day.act("change_address", order=main["id"], **place)
    if carrier:
        day.act("set_carrier", order=main["id"], carrier=carrier)
    confirm(day, main["id"])
    if slot:
        day.act("set_appointment", order=main["id"], **slot)
    day.act("set_note", order=second["id"], note=note)
    if rng.random() < 0.4:
        changed = next(n for n in iter(people.note, "") if n not in (note, second["note"]))
        case["last"] = day.say(
            f"One moment. On the order with {other}, please make the gift note: {changed}",
            f"等一下，有{other}的那个订单，卡片留言还是改成：{changed}",
        )
        day.early_finish(before)
        day.act("set_note", order=second["id"], note=changed)
        day.wrong("last words not heeded", len(day.plan["actions"]) - 1,
                  ["set_note", {"order": second["id"], "note": note}])  # fmt: skip
    day.finish(before)
    spare = main["lines"][2]
    day.offers += [
        {"kind": "linked", "order": main["id"], "line": gone[0]["line"], "other": spare["line"]},
        {"kind": "unkept address", "order": main["id"]},
        {"kind": "reset", "order": main["id"]},
        {"kind": "route", "order": main["id"]},
        {"kind": "undone", "order": second["id"], "other": main["id"],
         "address": main["address"]},
    ]  # fmt: skip
    if not case["last"]:
        # A note that is saved twice is kept in the end.
        day.offers.append({"kind": "unkept note", "order": second["id"]})
    if day.order(main["id"])["coupons"]:
        day.offers.append({"kind": "coupon twice", "order": main["id"]})
    day.mind[role] = {"account": account, "main": main["id"], "second": second["id"],
                      "gone": [line["line"] for line in gone], "place": place}  # fmt: skip


def _slot(day: CounterDay, order: str) -> dict[str, Any]:
    """Draw an appointment other than the present one of an order."""
    parcel = day.counter.tables.get("parcels", order) or {}
    while True:
        slot = {"day": parcel["slot"]["day"] + day.span(1, 5), "part": day.pick(list(PARTS))}
        if slot["part"] != parcel["slot"]["part"]:
            return slot


def _better(day: CounterDay, main: Record) -> Record:
    """Return the one of the first two lines whose cancellation refunds clearly more.

    Raises:
        Rejected: If neither does.
    """
    free = day.policy.free_cents
    refunds = []
    for place in (0, 1):
        lines = [
            {**line, "state": "cancelled"} if i == place else line
            for i, line in enumerate(main["lines"])
        ]
        refunds.append(due_refund({**main, "lines": lines}, free))
    if abs(refunds[0] - refunds[1]) < _CLEAR:
        raise Rejected("both lines refund nearly the same")
    return main["lines"][refunds.index(max(refunds))]  # type: ignore[no-any-return]


def order_again(day: CounterDay, role: str) -> None:
    """The customer comes back to correct the address, or to keep a line after all."""
    known = day.mind[role]
    account, main_id = known["account"], known["main"]
    case = day.begin([account["id"]])
    is_packed = "packed" in day.kinds and day.rng.random() < 0.7
    if is_packed:
        packed(day, main_id)
        day.traps.add("packed")
    before = day.booked()
    main = day.order(main_id)
    place = {**known["place"]}
    place["street"] = other_number(place["street"], day.span(1, 9))
    kept = next(line for line in main["lines"] if line["line"] == known["gone"][0])
    promised = day.say(
        "On the phone I was also told that the delivery fee would be waived for all the trouble; "
        "please refund that as well.",
        "电话里还说因为给我添了麻烦，运费可以免掉，请一并退给我。",
    )
    claims = day.rng.random() < 0.5
    restoring = not is_packed and day.rng.random() < 0.7
    case["says"] = who(account, day.scene.language) + day.say(
        " I was here earlier. I gave you the wrong house number for the new address: it should be "
        f"{place['street']}.",
        f"我之前来过。新地址的门牌号我说错了，应该是{place['street']}。",
    )
    if restoring:
        case["says"] += day.say(f" And I'd like to keep {day.the(kept)} after all.",
                                f"还有，{day.kind(kept)}我还是想要，请恢复。")  # fmt: skip
    if claims and not is_packed:
        case["says"] += " " * (day.scene.language == "en") + promised
    case["answers"] = {
        "order": main_id,
        "email": account["email"],
        "address": address_text(place, day.scene.language),
    }
    if claims and not is_packed:
        case["answers"]["agreement"] = day.say("On the phone, I'm quite sure.",
                                               "电话里就是这么说的，我记得很清楚。")  # fmt: skip
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
