"""Cases about late deliveries and goodwill, whose budget is shared by all of the day."""

from hexathlon.tasks.shopping.templates.shifts.day import CounterDay
from hexathlon.tasks.shopping.templates.shifts.shared import found, keep
from hexathlon.tasks.shopping.templates.shifts.words import who
from hexathlon.tasks.shopping.world.shift.policy import terms_at
from hexathlon.tasks.shopping.world.shift.rulings import late_cents

__all__ = ["goodwill_paid", "late_again", "late_order"]


def goodwill_paid(day: CounterDay, left: int) -> None:
    """Record what colleagues have paid this month, so that about `left` payments remain."""
    room = left * day.policy.goodwill_cents + day.span(50, 350, 10)
    spent = day.policy.budget_cents - room
    while spent > 0:
        cents = min(day.span(400, 1600, 50), spent)
        spent -= cents
        stranger = day.people.account()
        order = day.people.order(stranger, "delivered", pieces=1, since=day.span(4, 25),
                                 delay=day.span(3, 9), fee="never")  # fmt: skip
        keep(day, stranger, order)
        day.add("goodwill", order["id"], {"customer": stranger["id"], "cents": cents})


def late_order(day: CounterDay, role: str) -> None:
    """Refund the delivery fee of a late order, and pay goodwill if the month allows it."""
    people, rng = day.people, day.rng
    if not day.counter.tables.keys("goodwill"):
        goodwill_paid(day, left=day.span(1, 3))
    account = people.account()
    limit = day.policy.late_days
    delay = limit + day.pick((-1, 0, 1, 2, 3))
    main = people.order(account, "delivered", pieces=2, since=day.span(2, 12), delay=delay,
                        fee="never")  # fmt: skip
    both = rng.random() < 0.5
    other = people.order(account, "delivered", pieces=2, since=day.span(2, 12), apart=[main],
                         delay=limit + 1 + day.span(0, 2) if both else 0, fee="never")  # fmt: skip
    before_month = "account" in day.kinds and rng.random() < 0.6
    owner = account
    if before_month:
        # The same person was paid under her other account.
        owner = people.account(like=account, email=True)
        former = people.order(owner, "delivered", pieces=1, since=day.span(14, 25),
                              delay=limit + 2, fee="never")  # fmt: skip
        keep(day, owner, former)
        day.add("goodwill", former["id"], {"customer": owner["id"], "cents": 10 * day.span(30, 60)})
        day.traps.add("account")
    namesake = people.account(like=account)
    keep(day, namesake, people.order(namesake, "delivered", pieces=2, since=day.span(2, 12),
                                     delay=day.span(0, 6), fee="never"))  # fmt: skip
    keep(day, account, main, other)
    case = day.begin([account["id"]])
    _memos(day, limit, delay)
    if len(day.cases) > 1 and rng.random() < 0.5:
        stranger = people.account()
        order = people.order(stranger, "delivered", pieces=1, since=day.span(4, 25),
                             delay=limit + 2, fee="never")  # fmt: skip
        keep(day, stranger, order)
        day.event("goodwill", order["id"], customer=stranger["id"], cents=day.span(300, 900, 50))
    before = day.booked()
    goods = day.the(main["lines"][0])
    case["says"] = who(account, day.scene.language) + day.say(
        f" My order with {goods} came far too late. I'd like the delivery fee back, and a goodwill "
        "payment as well.",
        f"我有{day.kind(main['lines'][0])}的那个订单到得太晚了。请退运费，另外再给我一笔补偿。",
    )
    case["answers"] = {"order": main["id"], "email": account["email"]}
    found(day, account)
    day.look("find_customer", email=account["email"])
    day.look("show_order", order=main["id"])
    day.look("show_goodwill")
    _pay(day, main["id"])
    day.finish(before)
    if main["id"] in day.counter.tables.keys("goodwill"):
        day.offers.append({"kind": "goodwill", "order": main["id"]})
    if day.order(main["id"])["refunds"]:
        day.offers.append({"kind": "route", "order": main["id"]})
    day.mind[role] = {"account": account, "other": other["id"] if both else None}


def _memos(day: CounterDay, limit: int, delay: int) -> None:
    """Add memos on lateness and goodwill, most of which do not apply at this hour."""
    state = day.pick(("live", "future", "ended"))
    value = delay + day.span(0, 2) if delay > limit else max(delay - day.span(1, 2), 0)
    day.memo("late", state=state, value=value)
    for state in ("first", "live", "ended")[: day.span(0, 3)]:
        day.memo("goodwill", state=state, value=day.policy.goodwill_cents + day.pick((-200, 300)))


def _pay(day: CounterDay, main_id: str) -> None:
    main = day.order(main_id)
    refusal = day.ruled("late", main)
    if refusal:
        day.decline(refusal)
        refund = {"order": main_id, "refund_to": main["payment"], "cents": main["fee_cents"]}
        day.wrong("fee refunded although not late", 0, ["set_refund", refund])
        day.misread(refusal, main, 0, ["set_refund", refund], "late")
        # The refusal of goodwill names the same record; only the fee is asked for then.
        return
    day.settle(main_id, main["payment"], late_cents(main, day.facts()))
    day.misread(None, main, 0, [], "late")
    refused = day.ruled("goodwill", main)
    place = len(day.plan["actions"])
    amount = terms_at(day.policy, day.memos, day.now, "").goodwill_cents
    if refused:
        day.decline(refused)
        day.wrong(f"goodwill paid although {refused.reason}", place,
                  ["pay_goodwill", {"order": main_id, "cents": amount}])  # fmt: skip
    else:
        day.act("pay_goodwill", order=main_id, cents=amount)
        for label, facts in day.readings():
            other = terms_at(day.policy, facts.memos, day.now, "").goodwill_cents
            if other != amount:
                day.wrong(f"{label}: amount", place,
                          ["pay_goodwill", {"order": main_id, "cents": other}])  # fmt: skip
        day.wrong("goodwill declined", place, ["decline", {
            "reason": "budget_spent", "record": main_id, "rule": "R1"}])  # fmt: skip


def late_again(day: CounterDay, role: str) -> None:
    """The customer wants the same for her other late order, or for somebody else's."""
    known = day.mind[role]
    account = known["account"]
    case = day.begin([account["id"]])
    case["says"] = who(account, day.scene.language)
    if known["other"] is not None:
        _second_order(day, known["other"])
    else:
        _strange_order(day, account["id"])
    case["answers"]["email"] = account["email"]


def _second_order(day: CounterDay, order_id: str) -> None:
    before = day.booked()
    order = day.order(order_id)
    case, goods = day.case, order["lines"][0]
    case["says"] += day.say(
        f" I was here about the late parcel. My order with {day.the(goods)} was late as well. "
        "Please do the same for that one: the delivery fee and a goodwill payment.",
        f"我之前来办过延误的事。有{day.kind(goods)}的那个订单也晚到了，请同样处理：退运费，再给补偿。",
    )
    case["answers"] = {"order": order_id}
    day.look("show_order", order=order_id)
    day.look("show_goodwill")
    _pay(day, order_id)
    day.finish(before)


def _strange_order(day: CounterDay, account_id: str) -> None:
    told = day.mind.setdefault("strange orders", {})
    strange = next(
        key for key in day.counter.tables.keys("goodwill")
        if key not in told and day.persons[day.order(key)["customer"]] != day.persons[account_id]
    )  # fmt: skip
    told[strange] = account_id
    before = day.booked()
    case = day.case
    case["says"] += day.say(
        f" I was here about the late parcel. My sister-in-law's order {strange} was late, too; "
        "please refund her delivery fee. She asked me to see to it.",
        f"我之前来办过延误的事。我嫂子的订单{strange}也晚到了，她托我来办，请把运费退给她。",
    )
    case["answers"] = {
        "order": strange,
        "agreement": day.say("She asked me to.", "她托我来的。"),
    }
    day.look("show_order", order=strange)
    refusal = day.ruled("late", day.order(strange))
    assert refusal is not None
    day.decline(refusal)
    served = day.order(strange)
    refund = {"order": strange, "refund_to": served["payment"], "cents": served["fee_cents"]}
    day.wrong("someone else's order served", 0, ["set_refund", refund])
    day.finish(before)
