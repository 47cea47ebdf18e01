"""Money across apps: bills, receipts, shares and refunds, with evidence in other apps."""

from hexathlon.tasks.gui.operations.finding import read, read_tab, read_thread
from hexathlon.tasks.gui.operations.money import (
    add_expense,
    add_standing_order,
    buy,
    change_expense,
    change_standing_order,
    delete_expense,
    dispute,
    note_entry,
    return_line,
    set_budget,
    transfer,
)
from hexathlon.tasks.gui.operations.operation import PhoneOperation, asking
from hexathlon.tasks.gui.operations.planning import add_task, finish_task
from hexathlon.tasks.gui.operations.writing import send_mail, send_message
from hexathlon.tasks.gui.templates.draft import GuiDraft, GuiTemplate, UserFact
from hexathlon.tasks.gui.templates.errand import Errand, errand
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import cents_text, plain_cents

__all__ = ["TEMPLATES"]


def _funded(e: Errand) -> PhoneRow:
    """Return the first account, with enough money for any task."""
    return e.put("bank.accounts", e.rows("bank.accounts")[0], balance=100 * e.number(3000, 6000))


@errand("accounts_cash_from_note", "medium", apps="notes expenses")
def cash_from_note(e: Errand) -> GuiDraft:
    """Record the lines of a note that exceed an amount as cash expenses."""
    note = e.notes(1)[0]
    things = e.sample(
        (
            (e.say("Stamps", "邮票"), "shopping"),
            (e.say("Taxi", "出租车"), "transport"),
            (e.say("Rolls", "面包"), "food"),
            (e.say("Locker", "寄存"), "travel"),
        ),
        4,
    )
    cents = e.sample(range(205, 2995, 10), 4)
    bound = sorted(cents)[1]
    lines = [f"{thing[0]} {plain_cents(cost)}" for thing, cost in zip(things, cents, strict=True)]
    e.put("notes.notes", note, text="\n".join(lines))
    kind, other = e.sample(("leisure", "shopping", "food"), 2)
    above = [(thing[0], cost) for thing, cost in zip(things, cents, strict=True) if cost > bound]
    least = things[cents.index(bound)][0]

    def record(title: str, cost: int, category: str = kind) -> PhoneOperation:
        return add_expense(title, cost, category, method="cash")

    shown = cents_text(bound, e.language)
    return e.task(
        (f'My note "{note["title"]}" lists what I paid in cash today. Record each line of more '
         f"than {shown} as an expense of today in the category {e.word('expenses', kind)}, with "
         "the line's word as the title.",
         f"笔记“{note['title']}”里列着我今天付的现金。请把超过{shown}的每一行记为今天的现金开支，"
         f"类别“{e.word('expenses', kind)}”，标题用该行的词。"),
        read("notes", note["title"]), *(record(*each) for each in above),
        wrong={"one_more": [record(*each) for each in (*above, (least, bound))],
               "category": [record(*each, other) for each in above]},
    )  # fmt: skip


@errand("accounts_split_dinner", "medium", apps="bank messages")
def split_dinner(e: Errand) -> GuiDraft:
    """Share a card payment equally and tell each friend the share."""
    entry, near = e.paid(2)
    people = e.people(2)
    firm = f"{entry['title']} {e.number(11, 99)}"
    share = 5 * e.number(160, 700)
    total = 3 * share
    e.need(abs(near["amount"]) != total)
    e.put("bank.entries", entry, title=firm, amount=-total)
    text = e.say(f"{firm}: {plain_cents(share)} each", f"{firm}：每人{plain_cents(share)}")
    half = e.say(
        f"{firm}: {plain_cents(total // 2)} each", f"{firm}：每人{plain_cents(total // 2)}"
    )
    row = {**entry, "title": firm, "amount": -total}
    noted = note_entry(row, e.say("shared by three", "三人平摊"))
    names = e.say(" and ".join(row["name"] for row in people),
                  "和".join(row["name"] for row in people))  # fmt: skip
    return e.task(
        (f"I paid at {firm} for {names} and myself. Message both what each of us three owes, in "
         f'the form "{firm}: 7.50 each", and give the payment in the bank the note '
         '"shared by three".',
         f"我在{firm}替{names}和自己付了款。请发信息告诉两人三人平摊后每人多少，"
         f"格式为“{firm}：每人7.50”，并给银行里的这笔付款加备注“三人平摊”。"),
        read("bank", firm), *(send_message(person, text) for person in people), noted,
        wrong={"by_two": [*(send_message(person, half) for person in people), noted],
               "other_entry": [*(send_message(person, text) for person in people),
                               note_entry(near, e.say("shared by three", "三人平摊"))]},
    )  # fmt: skip


@errand("accounts_reminder_paid", "easy", "medium", apps="mail bank")
def reminder_paid(e: Errand) -> GuiDraft:
    """Pay an invoice with the fee that a later reminder adds."""
    invoice, reminder = e.mails(2)
    payee, near = e.payees(2)
    _funded(e)
    number, cents = e.number(10000, 99999), 10 * e.number(300, 4000)
    fee = 100 * e.number(3, 12)
    e.put("mail.mails", invoice, body=e.say(
        f"Invoice {number}: {plain_cents(cents)}, payable to {payee['name']}.",
        f"{number}号账单：{plain_cents(cents)}元，收款方{payee['name']}。"))  # fmt: skip
    hard = e.level == "medium"
    last = e.day(e.number(2, 6)) if hard and e.number(0, 1) else e.day(-e.number(1, 4))
    e.put("mail.mails", reminder, body=e.say(
        f"Invoice {number} is open. From the day after {e.day_words(last)} we add "
        f"{plain_cents(fee)}.",
        f"{number}号账单未付。{e.day_words(last)}次日起加收{plain_cents(fee)}元。"))  # fmt: skip
    due = cents + (fee if last < e.today else 0)
    other = cents + (0 if last < e.today else fee)
    return e.task(
        (f"Pay invoice {number} today: my mail says to whom, and what it costs by now. The "
         "reference is the number of the invoice.",
         f"请今天支付{number}号账单：邮件里写了收款方，以及到今天应付的金额。附言写账单号。"),
        read("mail", str(number), invoice["name"]), read("mail", str(number), reminder["name"]),
        transfer(payee, due, str(number)),
        wrong={"other_sum": [transfer(payee, other, str(number))],
               "other_payee": [transfer(near, due, str(number))],
               "no_number": [transfer(payee, due, str(number)[:-1])]},
    )  # fmt: skip


@errand("accounts_rent_raised", "medium", apps="messages bank")
def rent_raised(e: Errand) -> GuiDraft:
    """Change a standing order by the amount that a message announces."""
    thread = e.thread()
    payees = {row["id"]: row for row in e.rows("bank.payees")}
    orders = e.choose(e.rows("bank.standing"), 2)
    e.need(orders[0]["payee"] != orders[1]["payee"])
    order, near = orders
    payee, other = payees[order["payee"]], payees[near["payee"]]
    more = 50 * e.number(3, 40)
    e.tell(thread, e.say(f"{payee['name']} costs us {plain_cents(more)} more a month from now on.",
                         f"从现在起，{payee['name']}每月多收{plain_cents(more)}元。"))  # fmt: skip
    return e.task(
        (f"{thread['name']} writes that {payee['name']} has become dearer. Raise my standing order "
         "accordingly; nothing else about it changes.",
         f"{thread['name']}来信说{payee['name']}涨价了。请相应提高定期转账的金额，其他不变。"),
        read_thread(thread["name"]),
        change_standing_order(order, payee, order["amount"] + more),
        wrong={"increase_only": [change_standing_order(order, payee, more)],
               "other_order": [change_standing_order(near, other, near["amount"] + more)],
               "lowered": [change_standing_order(order, payee, order["amount"] + 2 * more)]},
    )  # fmt: skip


@errand("accounts_wrong_amount", "medium", apps="bank expenses")
def wrong_amount(e: Errand) -> GuiDraft:
    """Correct an expense by the amount that the bank has booked."""
    entry, near = e.paid(2)
    firm = f"{entry['title']} {e.number(11, 99)}"
    charged = -entry["amount"]
    typed = charged + e.pick((-90, 90, 180, 270))
    e.need(typed > 200 and not any(abs(typed - row["amount"]) < 1
                                   for row in e.rows("expenses.entries")))  # fmt: skip
    e.put("bank.entries", entry, title=firm)
    expense = e.put("expenses.entries", None, title=firm, amount=typed, category="shopping",
                    day=entry["day"], method="card", note="", receipt="")  # fmt: skip
    return e.task(
        (f"I mistyped the amount when I recorded {firm} in the expenses. Correct it by the bank, "
         f'and note "checked" there.',
         f"我在开支里把{firm}的金额输错了。请按银行的记录更正，并在备注里写“已核对”。"),
        read("bank", firm),
        change_expense(expense, amount=charged, note=e.say("checked", "已核对")),
        wrong={"no_note": [change_expense(expense, amount=charged)],
               "near": [change_expense(expense, amount=-near["amount"],
                                       note=e.say("checked", "已核对"))],
               "deleted": [delete_expense(expense)]},
    )  # fmt: skip


@errand("accounts_late_refund", "medium", apps="shop bank mail", twins=True)
def late_refund(e: Errand) -> GuiDraft:
    """Chase a refund by mail, unless the bank shows that it has arrived."""
    order = e.choose([row for row in e.rows("shop.orders") if row["status"] == "delivered"], 1)[0]
    mail = e.mails(1)[0]
    cents = 10 * e.number(120, 900)
    other = f"M-{e.number(10000, 99999)}"
    back = other if e.feasible else order["number"]
    e.put("bank.entries", None, account=1, day=e.day(-e.number(2, 9)), kind="transfer", card=0,
          title=e.say("Marlo Shop", "马洛商城"), amount=cents, note="", disputed="", category="",
          reference=e.say(f"Refund {back}", f"退款{back}"))  # fmt: skip
    task = e.tasks(1)[0]
    subject = e.say(f"Order {order['number']}", f"订单{order['number']}")
    body = e.say("Where is my refund?", "我的退款到哪了？")
    send = send_mail(mail["address"], subject, body)
    return e.task(
        (f"Has the refund for my order {order['number']} arrived in the bank? If not, mail "
         f'{mail["address"]} with the subject "{subject}" and the text "{body}", and tick off the '
         f'task "{task["title"]}". If it has, the record is the amount that came.',
         f"订单{order['number']}的退款到账了吗？如果没有，请给{mail['address']}发邮件，主题“{subject}”，"
         f"正文“{body}”，并把任务“{task['title']}”标为完成。如果到了，record写到账金额。"),
        read_tab("bank", "accounts"),
        send, finish_task(task["title"]),
        record=plain_cents(cents), other_record=plain_cents(order["total"]),
        wrong={"draft": [send_mail(mail["address"], subject, body, send=False),
                         finish_task(task["title"])]} if e.feasible else {},
    )  # fmt: skip


@errand("accounts_tenth_saved", "medium", apps="bank notes")
def tenth_saved(e: Errand) -> GuiDraft:
    """Pay a share of the last income to a payee, with the reference from a note."""
    _funded(e)
    incomes = sorted((row for row in e.rows("bank.entries") if row["kind"] == "salary"),
                     key=lambda row: row["day"])  # fmt: skip
    e.need(incomes)
    pay = incomes[-1]
    payee, near = e.payees(2)
    percent = e.pick((3, 4, 6))
    note = e.notes(1)[0]
    code = f"{e.pick('ABCD')}{e.number(100, 999)}"
    e.put("notes.notes", note, text=e.say(f"Reference for {payee['name']}: {code}",
                                          f"{payee['name']}的附言：{code}"))  # fmt: skip
    cents = pay["amount"] * percent // 100
    return e.task(
        (f"Send {payee['name']} {percent} % of my last salary, to the cent. A note has the "
         "reference to use for it.",
         f"把我上一笔工资的{percent}%转给{payee['name']}，精确到分。附言在我的一条笔记里。"),
        read("notes", payee["name"], note["title"]),
        read("bank", str(pay["reference"]), pay["title"]), transfer(payee, cents, code),
        wrong={"other_payee": [transfer(near, cents, code)],
               "tenfold": [transfer(payee, cents * 2, code)],
               "no_code": [transfer(payee, cents, payee["name"])]},
    )  # fmt: skip


@errand("accounts_budget_by_spending", "medium", apps="expenses messages")
def budget_by_spending(e: Errand) -> GuiDraft:
    """Set the budget of the dearest category of a month to what was spent, and report it."""
    month = e.day(-32)[:7]
    sums: dict[str, int] = {}
    for row in e.rows("expenses.entries"):
        if row["day"][:7] == month:
            sums[row["category"]] = sums.get(row["category"], 0) + row["amount"]
    order = sorted(sums, key=lambda name: -sums[name])
    e.need(len(order) >= 3 and sums[order[0]] != sums[order[1]])
    person = e.people(1)[0]
    best, second = order[:2]
    shown = [f"{e.word('expenses', name)} {plain_cents(sums[name])}" for name in order[:2]]
    year, number = month.split("-")
    spoken = (f"{number}/{year}", f"{year}年{int(number)}月")
    return e.task(
        (f"In which category did my expenses add up to most in {spoken[0]}? Set its budget to that "
         f'sum and message {person["name"]} both, in the form "{shown[1].split()[0]} 12.30".',
         f"{spoken[1]}我在哪个类别上的开支最多？请把该类别的预算设为这个总额，并发信息告诉"
         f"{person['name']}，格式为“{shown[1].split()[0]} 12.30”。"),
        read_tab("expenses", "tab_sums"), set_budget(best, sums[best]),
        send_message(person, shown[0]),
        wrong={"second": [set_budget(second, sums[second]), send_message(person, shown[1])],
               "mixed": [set_budget(second, sums[best]), send_message(person, shown[0])]},
    )  # fmt: skip


@errand("accounts_return_and_claim", "medium", apps="shop bank tasks")
def return_and_claim(e: Errand) -> GuiDraft:
    """Return an item and claim the payment of its order."""
    goods = e.plan.table("shop.products")
    lines = e.rows("shop.lines")
    orders = [row for row in e.rows("shop.orders") if row["status"] == "delivered"
              and sum(line["order"] == row["id"] for line in lines) >= 2]  # fmt: skip
    order = e.choose(orders, 1)[0]
    line, near = e.choose([row for row in lines if row["order"] == order["id"]], 2)
    entries = [row for row in e.rows("bank.entries") if row["reference"] == order["number"]]
    e.need(len(entries) == 1 and sum(abs(row["amount"]) == order["total"]
                                     for row in e.rows("bank.entries")) == 1)  # fmt: skip
    title = e.say(f"Post parcel {order['number']}", f"寄回{order['number']}")
    due = e.day(e.number(2, 12))
    back = return_line(order, line, goods[line["product"]], "broken")
    claim = dispute(entries[0], "returned")
    product = goods[line["product"]]
    return e.task(
        (f"The {product['title']}, {product['variant']} of my order {order['number']} arrived "
         "damaged. Return it, dispute the order's payment in the bank because I send the goods "
         f'back, and add the task "{title}", due on {e.day_words(due)}.',
         f"订单{order['number']}里的{product['title']}, {product['variant']}到货时已损坏。请退货，"
         f"在银行对该订单的付款以“已退货”提出异议，并新建任务“{title}”，截止{e.day_words(due)}。"),
        back, claim, add_task(title=title, due=due),
        wrong={"other_item": [return_line(order, near, goods[near["product"]], "broken"), claim,
                              add_task(title=title, due=due)],
               "other_reason": [back, dispute(entries[0], "amount"),
                                add_task(title=title, due=due)]},
    )  # fmt: skip


@errand("accounts_shopping_note", "medium", apps="notes shop")
def shopping_note(e: Errand) -> GuiDraft:
    """Buy what a note asks for: the cheapest variant above a rating, to a given address."""
    e.drop("shop.cart", *e.rows("shop.cart"))
    products = e.rows("shop.products")
    kinds = sorted({row["title"].removeprefix(row["brand"]).strip() for row in products})
    rating = e.number(34, 41)
    chosen, decoys = [], []
    for kind in e.sample(kinds, len(kinds)):
        kin = [row for row in products if row["title"] == f"{row['brand']} {kind}"]
        fits = sorted((row for row in kin if row["stock"] >= 2 and row["rating"] >= rating),
                      key=lambda row: row["price"])  # fmt: skip
        lowest = min(kin, key=lambda row: row["price"], default=None)
        if len(fits) >= 2 and fits[0]["price"] < fits[1]["price"] and lowest is not fits[0]:
            chosen.append((kind, fits[0]))
            decoys.append(lowest if lowest is not None and lowest["stock"] else fits[1])
        if len(chosen) == 2:
            break
    e.need(len(chosen) == 2)
    addresses = e.rows("shop.addresses")
    note = e.notes(1)[0]
    lines = [e.say(f"1 {chosen[0][0]}", f"{chosen[0][0]} 1件"),
             e.say(f"2 {chosen[1][0]}", f"{chosen[1][0]} 2件")]  # fmt: skip
    e.put("notes.notes", note, text="\n".join(lines))
    items = [(chosen[0][1], 1), (chosen[1][1], 2)]
    home = addresses[1]
    return e.task(
        (f'Order what is on my note "{note["title"]}", in one order, by standard delivery to the '
         f"address {home['label']}: of each kind the cheapest item in stock that has at least "
         f"{rating / 10:.1f} stars.",
         f"请按笔记“{note['title']}”在商城下一个订单，标准配送到“{home['label']}”："
         f"每种都买有货且评分不低于{rating / 10:.1f}的最便宜的那款。"),
        read("notes", note["title"]), read("shop", chosen[0][0], f"{chosen[0][1]['title']}, "
                                           f"{chosen[0][1]['variant']}"),
        buy(items, home),
        wrong={"first_address": [buy(items, addresses[0])],
               "cheapest": [buy([(decoys[0], 1), items[1]], home)],
               "one_each": [buy([items[0], (items[1][0], 1)], home)]},
        turns=90,
    )  # fmt: skip


@errand("accounts_monthly_share", "medium", apps="messages bank")
def monthly_share(e: Errand) -> GuiDraft:
    """Create a standing order as a message proposes; only the user knows the day of the month."""
    thread = e.thread()
    payee, near = e.payees(2)
    cents, day = 50 * e.number(20, 300), e.number(3, 26)
    code = e.say(f"Club {e.number(100, 999)}", f"社团{e.number(100, 999)}")
    e.tell(
        thread,
        e.say(
            f"The fee is {plain_cents(cents)} a month to {payee['name']}; give "
            f'"{code}" as the reference.',
            f"会费每月{plain_cents(cents)}元，转给{payee['name']}，附言写“{code}”。",
        ),
    )
    return e.task(
        (f"{thread['name']} wrote what the club costs. Set up a standing order for it.",
         f"{thread['name']}来信写了社团的费用。请为此设一个定期转账。"),
        read_thread(thread["name"]), asking(e.say("On which day?", "每月几号？")),
        add_standing_order(payee, cents, code, day),
        facts=(UserFact(("day", "when", "date", "几号", "哪天", "日期", "什么时候"),
                        e.say(f"On day {day} of the month.", f"每月{day}号。")),),
        wrong={"other_day": [add_standing_order(payee, cents, code, day + 2)],
               "other_payee": [add_standing_order(near, cents, code, day)],
               "no_code": [add_standing_order(payee, cents, payee["name"], day)]},
    )  # fmt: skip


@errand("accounts_file_quote", "medium", apps="files bank messages")
def file_quote(e: Errand) -> GuiDraft:
    """Pay the deposit that a document asks for, and tell a contact the rest."""
    doc, near = e.files(2, "doc")
    payee, other = e.payees(2)
    person = e.people(1)[0]
    _funded(e)
    total, percent = 2000 * e.number(10, 60), e.pick((10, 15, 20, 30))
    code = f"Q-{e.number(1000, 9999)}"
    e.put("files.files", doc, text=e.say(
        f"Quote {code}\nTotal {plain_cents(total)}\nDeposit {percent} %, the rest on delivery",
        f"报价单 {code}\n合计 {plain_cents(total)}\n定金{percent}%，余款到货时付"))  # fmt: skip
    e.put(
        "files.files",
        near,
        text=e.say(
            f"Quote {code}, withdrawn\nTotal {plain_cents(total - 400)}",
            f"报价单 {code}，已作废\n合计 {plain_cents(total - 400)}",
        ),
    )
    deposit = total * percent // 100
    rest = plain_cents(total - deposit)
    text = e.say(f"Rest: {rest}", f"余款：{rest}")
    pay = transfer(payee, deposit, code)
    return e.task(
        (f'Pay {payee["name"]} the deposit that the file "{doc["name"]}" asks for, with the number '
         f'of the quote as the reference, and message {person["name"]} what remains, in the form '
         '"Rest: 12.30".',
         f"请按文件“{doc['name']}”向{payee['name']}支付定金，附言写报价单号，并发信息告诉"
         f"{person['name']}余款，格式为“余款：12.30”。"),
        read("files", doc["name"]), pay, send_message(person, text),
        wrong={"whole": [transfer(payee, total, code), send_message(person, text)],
               "other_payee": [transfer(other, deposit, code), send_message(person, text)],
               "deposit_told": [pay, send_message(
                   person, text.replace(rest, plain_cents(deposit)))]},
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (
    cash_from_note, split_dinner, reminder_paid, rent_raised, wrong_amount, late_refund,
    tenth_saved, budget_by_spending, return_and_claim, shopping_note, monthly_share, file_quote,
)  # fmt: skip
