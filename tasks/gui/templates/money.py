"""Work with the bank, expenses and the shop."""

from typing import Any

from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    PhoneScript,
    row_added,
    row_changed,
    row_removed,
    rows_together,
)
from hexathlon.tasks.gui.templates.scripts import template
from hexathlon.tasks.gui.templates.steps import (
    choosing,
    created,
    filled,
    in_turn,
    opened,
    pressed,
    tapped,
    to_entry,
    to_tab,
    told,
    turned_down,
)
from hexathlon.tasks.gui.world.kit.dates import MONTHS
from hexathlon.tasks.gui.world.kit.words import wordings
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import cents_text, plain_cents
from hexathlon.tasks.gui.world.system.plan import PhonePlan

__all__ = ["TEMPLATES", "transfer_sent", "transferred", "unique_payees"]


def unique_payees(rows: list[PhoneRow]) -> list[PhoneRow]:
    """Return the payees whose names are unique."""
    return [row for row in rows if sum(row["name"] == each["name"] for each in rows) == 1]


def transferred(payee: PhoneRow, cents: int, reference: str, *, send: bool = True) -> PhoneScript:
    """Transfer money from the first account."""
    return in_turn(
        opened("bank"), created("bank", "transfer"),
        choosing("bank", "payee", f"{payee['name']} · {payee['number'][-4:]}", named=True),
        filled("bank", "amount", plain_cents(cents)), filled("bank", "reference", reference),
        tapped("bank", "continue"), tapped("bank", "send" if send else "cancel"), end=False,
    )  # fmt: skip


def transfer_sent(
    scene: GuiScene, plan: PhonePlan, payee: PhoneRow, cents: int, reference: str
) -> dict[str, Any]:
    """Expect a transfer from the first account, and its new balance."""
    account = scene.rows(plan, "bank.accounts")[0]
    return rows_together(
        row_added("bank.entries", {
            "account": account["id"], "day": scene.day(plan, 0), "title": payee["name"],
            "amount": -cents, "kind": "transfer", "reference": reference, "note": "",
            "disputed": "", "card": 0, "category": ""}),
        row_changed("bank.accounts", account["id"], balance=account["balance"] - cents),
    )  # fmt: skip


@template("bank_transfer", "medium", apps=("bank",), twins=True)
def _transfer(scene: GuiScene) -> GuiDraft | None:
    """Send money if enough remains in the account."""
    plan = scene.plan()
    payees = unique_payees(scene.rows(plan, "bank.payees"))
    payee, near = scene.sample(payees, 2)
    account = scene.rows(plan, "bank.accounts")[0]
    cents = 25 * scene.number(200, 1600)
    kept = 100 * scene.number(300, 900)
    spare = scene.number(1, 9) * 100
    reference = scene.say(f"Share {scene.number(100, 999)}", f"分摊{scene.number(100, 999)}")
    # The balance decides whether a little more or a little less than required remains.
    balance = cents + kept + (spare if scene.feasible else -spare)
    plan = plan.with_edits([("bank.accounts", "put", {"id": account["id"], "balance": balance})])
    right = in_turn(transferred(payee, cents, reference))
    left = plain_cents(balance)  # shown only in the app, so nobody can refuse without looking
    refused = in_turn(opened("bank"), turned_down(left), end=False)
    named = in_turn(
        opened("bank"), to_tab("bank", "payments"), to_entry(_all(scene, "bank", "payees")),
        to_entry(payee["name"]), pressed("bank", "pay"),
        filled("bank", "amount", plain_cents(cents)), filled("bank", "reference", reference),
        tapped("bank", "continue"), tapped("bank", "send"),
    )  # fmt: skip
    shown = turned_down(cents_text(balance, scene.language))
    other_refusal = in_turn(opened("bank"), to_entry(account["name"]), shown, end=False)
    money, rest = (cents_text(each, scene.language) for each in (cents, kept))
    return GuiDraft(
        plan,
        scene.say(
            f'Transfer {money} to {payee["name"]} from my account "{account["name"]}", with the '
            f'reference "{reference}", but only if at least {rest} stays in the account. '
            "If not, the record is the balance as it is now.",
            f"从“{account['name']}”转账{money}给{payee['name']}，附言“{reference}”，"
            f"但前提是账户里至少还剩{rest}。如果不够，record写当前余额。"),
        right if scene.feasible else refused,
        changes=transfer_sent(scene, plan, payee, cents, reference) if scene.feasible else {},
        answer=GuiAnswer() if scene.feasible else GuiAnswer("infeasible", None, left),
        alternatives={"other_way": named if scene.feasible else other_refusal},
        mutants={"other_payee": in_turn(transferred(near, cents, reference)),
                 "unread": in_turn(opened("bank"), turned_down(account["name"]), end=False),
                 "other_amount": in_turn(transferred(payee, cents + 100, reference)),
                 "not_sent": in_turn(transferred(payee, cents, reference, send=False)),
                 "wrong_side": refused if scene.feasible else right},
        turns=40,
    )  # fmt: skip


@template("bank_standing_order", "medium", apps=("bank",))
def _standing(scene: GuiScene) -> GuiDraft | None:
    """Change amount and day of a standing order."""
    plan = scene.plan()
    names = {row["id"]: row["name"] for row in scene.rows(plan, "bank.payees")}
    row, near = scene.sample(scene.rows(plan, "bank.standing"), 2)
    cents = row["amount"] + 50 * scene.pick((-9, -5, 7, 11, 30))
    day = 1 + (row["day"] + scene.number(3, 20)) % 28

    def solver(of: PhoneRow, amount: int, on: int, *, save: bool = True) -> PhoneScript:
        return in_turn(
            opened("bank"), to_tab("bank", "payments"), to_entry(names[of["payee"]]),
            pressed("bank", "edit"), filled("bank", "amount", plain_cents(amount)),
            choosing("bank", "month_day", str(on), named=True),
            pressed("bank", "save") if save else None)  # fmt: skip

    first_day = in_turn(
        opened("bank"), to_tab("bank", "payments"), to_entry(names[row["payee"]]),
        pressed("bank", "edit"), choosing("bank", "month_day", str(day), named=True),
        filled("bank", "amount", plain_cents(cents)), pressed("bank", "save"))  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(
            f"My standing order to {names[row['payee']]} changes: from now on it is "
            f"{cents_text(cents, 'en')}, paid on day {day} of the month. Update it.",
            f"我给{names[row['payee']]}的定期转账要改：从现在起每月{day}日转"
            f"{cents_text(cents, 'zh')}。请更新。"),
        solver(row, cents, day),
        changes=row_changed("bank.standing", row["id"], amount=cents, day=day),
        alternatives={"day_first": first_day},
        mutants={"other_order": solver(near, cents, day),
                 "same_day": solver(row, cents, row["day"]),
                 "unsaved": solver(row, cents, day, save=False)},
        turns=50,
    )  # fmt: skip


@template("bank_dispute", "medium", apps=("bank",))
def _dispute(scene: GuiScene) -> GuiDraft | None:
    """Dispute the largest payment of a merchant."""
    plan = scene.plan()
    paid = [row for row in scene.rows(plan, "bank.entries") if row["kind"] == "card"]
    firms = sorted({row["title"] for row in paid
                    if sum(each["title"] == row["title"] for each in paid) >= 2})  # fmt: skip
    if not firms:
        return None
    firm = scene.pick(firms)
    rows = sorted((row for row in paid if row["title"] == firm), key=lambda row: row["amount"])
    row, near = rows[0], rows[1]
    if row["amount"] == near["amount"]:
        return None
    reason, other = scene.sample(("unknown", "amount", "returned"), 2)
    said = {"unknown": ("I do not know it", "我不认识这笔付款"),
            "amount": ("its amount is wrong", "金额不对"),
            "returned": ("I returned the goods", "商品我已经退了")}[reason]  # fmt: skip

    def solver(of: PhoneRow, why: str, by: str = firm, freeze: bool = False) -> PhoneScript:
        return in_turn(
            opened("bank"), pressed("bank", "search"), filled("bank", "search", by),
            _entry_of(scene, of), tapped("bank", "dispute"),
            choosing("bank", "reason", f"reason_{why}"),
            tapped("bank", "freeze_card", "switch") if freeze else None,
            tapped("bank", "send_dispute"))  # fmt: skip

    return GuiDraft(
        plan,
        scene.say(f"Of my card payments at {firm}, dispute the largest one: {said[0]}. Leave the "
                  "card as it is.",
                  f"在{firm}的刷卡付款中，对金额最大的一笔提出异议：{said[1]}。银行卡保持不变。"),
        solver(row, reason), changes=row_changed("bank.entries", row["id"], disputed=reason),
        alternatives={"by_amount": solver(row, reason, plain_cents(-row["amount"]))},
        mutants={"smaller": solver(near, reason), "other_reason": solver(row, other),
                 "frozen": solver(row, reason, freeze=True)},
        turns=40,
    )  # fmt: skip


def _entry_of(scene: GuiScene, row: PhoneRow) -> PhoneScript:
    """Tap a payment's entry, identified by name and amount."""
    amount = cents_text(row["amount"], scene.language)

    def solve(pilot: Any) -> Any:
        for _ in range(30):
            for element in pilot.elements():
                if element.role == "item" and element.title == row["title"] and (
                    amount in f"{element.name} {element.rest}"
                ):  # fmt: skip
                    yield from pilot.act("click", index=element.index)
                    return
            yield from pilot.act("scroll", direction="down")

    return solve


def _all(scene: GuiScene, app: str, key: str) -> tuple[str, ...]:
    """Return every wording of a label."""
    return wordings(app, key, scene.language)


@template("bank_card_travel", "easy", apps=("bank",))
def _card(scene: GuiScene) -> GuiDraft | None:
    """Turn off two features of a card."""
    plan = scene.plan()
    cards = scene.rows(plan, "bank.cards")
    row, near = scene.sample(cards, 2)
    one, two = scene.sample(("online", "abroad", "frozen"), 2)
    labels = {"online": "online", "abroad": "abroad", "frozen": "freeze"}
    said = {"online": ("payments on the internet", "网上支付"),
            "abroad": ("payments abroad", "境外支付"),
            "frozen": ("the freeze of the card", "银行卡冻结")}  # fmt: skip

    def state(column: str) -> str:
        return scene.say("off" if row[column] else "on", "关闭" if row[column] else "打开")

    def solver(of: PhoneRow, *columns: str) -> PhoneScript:
        return in_turn(opened("bank"), to_tab("bank", "cards"), to_entry(of["name"]),
                       *(tapped("bank", labels[each], "switch") for each in columns))  # fmt: skip

    return GuiDraft(
        plan,
        scene.say(f"For my card ending in {row['last']}, turn {said[one][0]} {state(one)} and "
                  f"{said[two][0]} {state(two)}.",
                  f"把尾号{row['last']}的卡的{said[one][1]}{state(one)}，{said[two][1]}{state(two)}。"),
        solver(row, one, two),
        changes=row_changed("bank.cards", row["id"], **{one: not row[one], two: not row[two]}),
        alternatives={"other_order": solver(row, two, one)},
        mutants={"other_card": solver(near, one, two), "half": solver(row, one),
                 "twice": solver(row, one, two, one)},
    )  # fmt: skip


@template("expenses_add", "easy", "medium", apps=("expenses",))
def _add(scene: GuiScene) -> GuiDraft | None:
    """Record an expense."""
    plan = scene.plan()
    title = scene.say(f"Parcel {scene.number(10, 99)}", f"包裹{scene.number(10, 99)}")
    cents = scene.number(201, 8999)
    category, wrong = scene.sample(("food", "transport", "shopping", "leisure"), 2)
    hard = scene.level == "medium"
    day = scene.day(plan, -scene.number(1, 6)) if hard else scene.day(plan, 0)
    method = "cash" if hard else "card"
    when = scene.say(f"on {scene.day_words(day)}", scene.day_words(day)) if hard else scene.say(
        "today", "今天")  # fmt: skip

    def solver(amount: int = cents, kind: str = category, *, save: bool = True) -> PhoneScript:
        def days(pilot: Any) -> Any:
            yield from pilot.pick_day(pilot.words("expenses", "day"), day)

        return in_turn(
            opened("expenses"), created("expenses", "new_entry"),
            filled("expenses", "title", title), filled("expenses", "amount", plain_cents(amount)),
            choosing("expenses", "category", kind), days if hard else None,
            choosing("expenses", "method", method) if hard else None,
            pressed("expenses", "save") if save else None)  # fmt: skip

    other_way = in_turn(
        opened("expenses"), created("expenses", "new_entry"),
        choosing("expenses", "category", category), choosing("expenses", "method", method),
        (lambda pilot: pilot.pick_day(pilot.words("expenses", "day"), day)) if hard else None,
        filled("expenses", "amount", plain_cents(cents)), filled("expenses", "title", title),
        pressed("expenses", "save"))  # fmt: skip
    paid = scene.say(f"paid {'in cash' if hard else 'by card'}", "现金付款" if hard else "刷卡付款")
    return GuiDraft(
        plan,
        scene.say(f'Record an expense: "{title}", {cents_text(cents, "en")}, {when}, {paid}, in '
                  f"the category {scene.word('expenses', category)}.",
                  f"记一笔开支：“{title}”，{cents_text(cents, 'zh')}，{when}，{paid}，"
                  f"类别“{scene.word('expenses', category)}”。"),
        solver(),
        changes=row_added("expenses.entries", {
            "title": title, "amount": cents, "category": category, "day": day, "method": method,
            "note": "", "receipt": ""}),
        alternatives={"other_way": other_way},
        mutants={"other_amount": solver(cents + 10), "other_category": solver(kind=wrong),
                 "unsaved": solver(save=False)},
        turns=40,
    )  # fmt: skip


@template("expenses_sum", "medium", apps=("expenses",))
def _sum(scene: GuiScene) -> GuiDraft | None:
    """Add up a month's payments by one method in one category."""
    plan = scene.plan()
    rows = scene.rows(plan, "expenses.entries")
    month = scene.day(plan, -35)[:7]
    groups: dict[tuple[str, str], int] = {}
    for row in rows:
        if row["day"][:7] == month:
            key = (row["category"], row["method"])
            groups[key] = groups.get(key, 0) + row["amount"]
    both = [name for name, method in groups if method == "cash" and (name, "card") in groups]
    if not both:
        return None
    category, method = scene.pick(both), scene.pick(("cash", "card"))
    total, other = (
        groups[category, method],
        groups[category, "card" if method == "cash" else "cash"],
    )
    if total == other:
        return None
    # Derived a second time, from the rows themselves.
    again = sum(row["amount"] for row in rows if row["day"].startswith(month)
                and row["category"] == category and row["method"] == method)  # fmt: skip
    assert again == total
    name = scene.word("expenses", category)
    spoken = scene.say(
        f"{MONTHS[int(month[5:]) - 1]} {month[:4]}", f"{month[:4]}年{int(month[5:])}月"
    )
    how = scene.say("in cash" if method == "cash" else "by card",
                    "现金" if method == "cash" else "刷卡")  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(f"How much did I pay {how} for {name} in {spoken}, according to my expenses? "
                  "Answer with the amount alone.",
                  f"根据我的开支记录，{spoken}我在“{name}”上{how}付了多少？只回答金额。"),
        in_turn(opened("expenses"), told(plain_cents(total)), end=False),
        answer=GuiAnswer(data=(plain_cents(total),)),
        alternatives={"by_category": in_turn(opened("expenses"), to_tab("expenses", "tab_sums"),
                                             told(plain_cents(total)), end=False)},
        mutants={"other_method": in_turn(opened("expenses"), told(plain_cents(other)), end=False),
                 "both": in_turn(opened("expenses"), told(plain_cents(total + other)), end=False),
                 "silent": in_turn(opened("expenses"))},
    )  # fmt: skip


@template("expenses_double", "medium", apps=("expenses",))
def _double(scene: GuiScene) -> GuiDraft | None:
    """Of two similar entries, delete the one without a receipt."""
    plan = scene.plan()
    rows = [row for row in scene.rows(plan, "expenses.entries")
            if row["day"][:7] == scene.day(plan, 0)[:7]]  # fmt: skip
    if len(rows) < 2:
        return None
    row, near = scene.sample(rows, 2)
    cents = row["amount"] + scene.number(11, 90)
    key = scene.next_key(plan, "expenses.entries")
    row = {**row, "title": f"{row['title']} {scene.number(11, 99)}"}
    plan = plan.with_edits(
        [
            ("expenses.entries", "put", row),
            ("expenses.entries", "put", {**row, "id": key, "amount": cents}),
        ]
    )
    kept = scene.pick((row["amount"], cents))
    gone = key if kept == row["amount"] else row["id"]
    amounts = {key: cents, row["id"]: row["amount"]}

    def solver(drop: int, title: str = row["title"], answer: str = "delete",
               sums: bool = False) -> PhoneScript:  # fmt: skip
        amount = amounts.get(drop, near["amount"])
        return in_turn(
            opened("expenses"), to_tab("expenses", "tab_sums") if sums else None,
            tapped("expenses", row["category"], "item") if sums else None,
            _entry_of(scene, {"title": title, "amount": amount}),
            pressed("expenses", "delete"), tapped("expenses", answer))  # fmt: skip

    return GuiDraft(
        plan,
        scene.say(f'I recorded "{row["title"]}" twice this month. {cents_text(kept, "en")} is '
                  "right; delete the other entry.",
                  f"“{row['title']}”这个月我记了两次。{cents_text(kept, 'zh')}是对的；"
                  "请删除另一条。"),
        solver(gone), changes=row_removed("expenses.entries", gone),
        alternatives={"by_category": solver(gone, sums=True)},
        mutants={"right_one": solver(key if gone != key else row["id"]),
                 "cancelled": solver(gone, answer="cancel"),
                 "other": solver(near["id"], near["title"])},
    )  # fmt: skip


@template("shop_return", "easy", "medium", apps=("shop",))
def _return(scene: GuiScene) -> GuiDraft | None:
    """Return an item of an order."""
    plan = scene.plan()
    goods = scene.plan().table("shop.products")
    lines = scene.rows(plan, "shop.lines")
    orders = [row for row in scene.rows(plan, "shop.orders") if row["status"] == "delivered"
              and sum(line["order"] == row["id"] for line in lines) >= 2]  # fmt: skip
    if not orders:
        return None
    order = scene.pick(orders)
    line, near = scene.sample([each for each in lines if each["order"] == order["id"]], 2)
    why, other = scene.sample(("broken", "wrong", "unwanted"), 2)
    said = {"broken": ("it arrived damaged", "到货时已损坏"),
            "wrong": ("it is the wrong item", "发错了商品"),
            "unwanted": ("I no longer want it", "我不想要了")}[why]  # fmt: skip

    def name(of: PhoneRow) -> str:
        return f"{goods[of['product']]['title']}, {goods[of['product']]['variant']}"

    def solver(of: PhoneRow, reason: str, keep: bool = False) -> PhoneScript:
        return in_turn(
            opened("shop"), to_tab("shop", "orders"), to_entry(order["number"]),
            to_entry(name(of)), choosing("shop", "why", f"why_{reason}"),
            tapped("shop", "send_back"), tapped("shop", "keep") if keep else None)  # fmt: skip

    told_first = in_turn(opened("shop"), to_tab("shop", "me"), solver(line, why), end=False)
    return GuiDraft(
        plan,
        scene.say(f"Return the {name(line)} of my order {order['number']}: {said[0]}.",
                  f"请退掉订单{order['number']}里的{name(line)}：{said[1]}。"),
        solver(line, why), changes=row_changed("shop.lines", line["id"], returned=why),
        alternatives={"after_a_look": told_first},
        mutants={"other_article": solver(near, why), "other_reason": solver(line, other),
                 "withdrawn": solver(line, why, keep=True)},
        turns=40,
    )  # fmt: skip


@template("shop_cheapest", "medium", apps=("shop",))
def _cheapest(scene: GuiScene) -> GuiDraft | None:
    """Order the cheapest item that fits, delivered to an address other than the first."""
    plan = scene.plan()
    plan = plan.with_edits([("shop.cart", "drop", row["id"])
                            for row in scene.rows(plan, "shop.cart")])  # fmt: skip
    products = scene.rows(plan, "shop.products")
    title = scene.pick(
        sorted({row["title"].removeprefix(row["brand"]).strip() for row in products})
    )
    rating = scene.number(33, 42)
    kin = [row for row in products if row["title"].endswith(title)
           and row["title"] == f"{row['brand']} {title}"]  # fmt: skip
    fits = [row for row in kin if row["stock"] >= 2 and row["rating"] >= rating]
    fits.sort(key=lambda row: int(row["price"]))
    if len(fits) < 2 or fits[0]["price"] == fits[1]["price"]:
        return None
    best, near = fits[:2]
    cheapest = min(kin, key=lambda row: int(row["price"]))
    if cheapest["id"] == best["id"]:  # the cheapest item overall must not be the right one
        return None
    address = scene.rows(plan, "shop.addresses")[1]
    first = scene.rows(plan, "shop.addresses")[0]
    orders = scene.rows(plan, "shop.orders")
    express = bool(scene.number(0, 1))
    fee = 990 if express else 390

    def solver(of: PhoneRow, to: PhoneRow, *, buy: bool = True) -> PhoneScript:
        return in_turn(
            opened("shop"), pressed("shop", "search"), filled("shop", "search", title),
            to_entry(f"{of['title']}, {of['variant']}"), tapped("shop", "to_cart"),
            opened("shop"), _cart(scene), tapped("shop", "checkout"),
            to_entry(f"{to['label']}: {to['text']}", "radio"),
            _delivery(scene, express), tapped("shop", "buy"),
            tapped("shop", "buy_now" if buy else "cancel"))  # fmt: skip

    def sold_out(pilot: Any) -> Any:
        yield from in_turn(opened("shop"))(pilot)

    order = {"number": f"M-{70000 + 37 * len(orders)}", "day": scene.day(plan, 0),
             "status": "placed", "total": best["price"] + fee,
             "delivery": "express" if express else "standard", "address": address["text"],
             "voucher": ""}  # fmt: skip
    deliver = scene.say("by express" if express else "by standard delivery",
                        "加急配送" if express else "标准配送")  # fmt: skip
    by_category = in_turn(
        opened("shop"), pressed("shop", "search"), filled("shop", "search", best["title"]),
        to_entry(f"{best['title']}, {best['variant']}"), tapped("shop", "to_cart"),
        opened("shop"), _cart(scene), tapped("shop", "checkout"), _delivery(scene, express),
        to_entry(f"{address['label']}: {address['text']}", "radio"), tapped("shop", "buy"),
        tapped("shop", "buy_now"))  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(
            f'Order one "{title}" in the shop: the cheapest of any brand and variant that has a '
            f"rating of at least {rating / 10:.1f} and is in stock. Have it sent to the address "
            f"{address['label']}, {deliver}, without a voucher.",
            f"在商城订购一件“{title}”：不限品牌和规格，选评分不低于{rating / 10:.1f}且"
            f"有货的最便宜的一款。寄到“{address['label']}”，{deliver}，不用优惠券。"),
        solver(best, address),
        changes=rows_together(
            row_added("shop.orders", order),
            row_added("shop.lines", {"order": {"row": order}, "product": best["id"], "count": 1,
                                     "price": best["price"], "returned": ""})),
        alternatives={"by_name": by_category},
        mutants={"dearer": solver(near, address), "first_address": solver(best, first),
                 "not_bought": solver(best, address, buy=False), "nothing": sold_out},
        turns=50,
    )  # fmt: skip


def _cart(scene: GuiScene) -> PhoneScript:
    """Open the cart, whose label shows the number of items in it."""
    names = tuple(f"{name} (1)" for name in _all(scene, "shop", "cart"))

    def solve(pilot: Any) -> Any:
        if pilot.has("button", names):
            yield from pilot.tap("button", names)
            return
        if not pilot.has("menuitem", names):
            yield from pilot.act("click", index=pilot._menu_button().index)
        if pilot.has("menuitem", names):
            yield from pilot.tap("menuitem", names)

    return solve


def _delivery(scene: GuiScene, express: bool) -> PhoneScript:
    cents = 990 if express else 390
    key = "express" if express else "standard"
    names = [f"{name} · {cents_text(cents, scene.language)}" for name in _all(scene, "shop", key)]
    return to_entry(names, "radio")


TEMPLATES = (_transfer, _standing, _dispute, _card, _add, _sum, _double, _return, _cheapest)
