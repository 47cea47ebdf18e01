"""Work that combines the bank, expenses, photos, files, the shop and messages."""

from typing import Any

from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    PhoneScript,
    row_added,
    row_changed,
    rows_together,
)
from hexathlon.tasks.gui.templates.money import transfer_sent, transferred, unique_payees
from hexathlon.tasks.gui.templates.people import sent_message, unique_names, write_message
from hexathlon.tasks.gui.templates.scripts import template
from hexathlon.tasks.gui.templates.steps import (
    choosing,
    filled,
    in_turn,
    opened,
    pressed,
    sought,
    tapped,
    to_entry,
    to_tab,
    turned_down,
)
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import cents_text, plain_cents
from hexathlon.tasks.gui.world.system.plan import PhonePlan

__all__ = ["TEMPLATES"]


def _receipts(scene: GuiScene, plan: PhonePlan) -> list[tuple[PhoneRow, PhoneRow]]:
    """Return photos of receipts, each with the payment that it belongs to."""
    entries = [row for row in scene.rows(plan, "bank.entries") if row["kind"] == "card"]
    found = []
    for photo in scene.rows(plan, "gallery.photos"):
        if photo["kind"] != "receipt" or photo["trashed"]:
            continue
        firm, day, total = photo["lines"][0], photo["lines"][1], photo["lines"][-1].split()[-1]
        paid = [row for row in entries if row["title"] == firm and row["day"] == day
                and plain_cents(-row["amount"]) == total]  # fmt: skip
        if len(paid) == 1:
            found.append((photo, paid[0]))
    return found


def _to_expenses(
    scene: GuiScene, photo: PhoneRow, title: str, cents: int, category: str, day: str,
    *, save: bool = True,
) -> PhoneScript:  # fmt: skip
    """Share the photo of a receipt with the expenses and fill in the form."""
    return in_turn(
        sought("gallery", photo["name"], photo["name"]), pressed("gallery", "share"),
        tapped("expenses", "app_title", "item"), filled("expenses", "title", title),
        filled("expenses", "amount", plain_cents(cents)),
        choosing("expenses", "category", category),
        lambda pilot: pilot.pick_day(pilot.words("expenses", "day"), day),
        pressed("expenses", "save") if save else None, end=False,
    )  # fmt: skip


def _expense(photo: PhoneRow, title: str, cents: int, category: str, day: str) -> dict[str, Any]:
    return row_added("expenses.entries", {
        "title": title, "amount": cents, "category": category, "day": day, "method": "card",
        "note": "", "receipt": photo["name"]})  # fmt: skip


@template("receipt_into_expenses", "easy", "medium", apps=("gallery", "expenses", "bank"))
def _receipt(scene: GuiScene) -> GuiDraft | None:
    """Record the receipts of a shop as expenses, with their photos."""
    plan = scene.plan()
    pairs = _receipts(scene, plan)
    count = 2 if scene.level == "medium" else 1
    alone = [pair for pair in pairs if sum(
        each[1]["title"] == pair[1]["title"] for each in pairs) == 1]  # fmt: skip
    if len(alone) < count + 1:
        return None
    chosen = scene.sample(alone, count + 1)
    near = chosen.pop()
    category, wrong = scene.sample(("food", "groceries", "shopping", "travel"), 2)
    # The amounts come from the bank here, and from the lines of the receipts below.
    read = [round(sum(float(line.split()[-1]) for line in photo["lines"][2:-1]) * 100)
            for photo, _ in chosen]  # fmt: skip
    if read != [-entry["amount"] for _, entry in chosen]:
        return None

    def solver(pairs: list[tuple[PhoneRow, PhoneRow]], kind: str = category, more: int = 0,
               save: bool = True) -> PhoneScript:  # fmt: skip
        return in_turn(*(
            _to_expenses(scene, photo, entry["title"], more - entry["amount"], kind, entry["day"],
                         save=save)
            for photo, entry in pairs))  # fmt: skip

    by_firm = in_turn(*(
        in_turn(opened("gallery"), pressed("gallery", "search"),
                filled("gallery", "search", entry["title"]), to_entry(photo["name"]),
                pressed("gallery", "share"), tapped("expenses", "app_title", "item"),
                choosing("expenses", "category", category),
                filled("expenses", "amount", plain_cents(-entry["amount"])),
                (lambda day: lambda pilot: pilot.pick_day(
                    pilot.words("expenses", "day"), day))(entry["day"]),
                filled("expenses", "title", entry["title"]), pressed("expenses", "save"),
                end=False)
        for photo, entry in chosen))  # fmt: skip
    firms = scene.say(" and ".join(entry["title"] for _, entry in chosen),
                      "和".join(entry["title"] for _, entry in chosen))  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(
            f"I photographed the receipt of {firms}. Record it in the expenses: the firm's name as "
            "the title, the total, the day on the receipt, the category "
            f"{scene.word('expenses', category)}, paid by card, with the photo as the receipt."
            if count == 1 else
            f"I photographed the receipts of {firms}. Record each in the expenses: the firm's name "
            "as the title, the total, the day on the receipt, the category "
            f"{scene.word('expenses', category)}, paid by card, with its photo as the receipt.",
            f"我拍下了{firms}的收据。请{'分别' if count > 1 else ''}记入开支：名称写商家名，"
            f"金额写合计，日期按收据，类别“{scene.word('expenses', category)}”，刷卡付款，"
            "并附上照片作为收据。"),
        solver(chosen),
        changes=rows_together(*(_expense(photo, entry["title"], -entry["amount"], category,
                                         entry["day"]) for photo, entry in chosen)),
        alternatives={"by_firm": by_firm},
        mutants={"other_receipt": solver([*chosen[1:], near]),
                 "other_category": solver(chosen, wrong),
                 "other_amount": solver(chosen, more=100), "unsaved": solver(chosen, save=False)},
        turns=60 * count,
    )  # fmt: skip


@template("receipt_against_bank", "medium", apps=("gallery", "bank", "messages"), twins=True)
def _against(scene: GuiScene) -> GuiDraft | None:
    """Compare a receipt with the amount charged; dispute an overcharge and tell a contact."""
    plan = scene.plan()
    pairs = _receipts(scene, plan)
    people = unique_names(scene.rows(plan, "contacts.contacts"))
    if len(pairs) < 2:
        return None
    (photo, entry), (_, near) = scene.sample(pairs, 2)
    contact, other = scene.sample(people, 2)
    more = 10 * scene.number(11, 90)
    # A branch of the firm, where the phone's owner has paid once.
    firm, total = f"{entry['title']} {scene.number(11, 99)}", -entry["amount"]
    charged = total + more if scene.feasible else total
    entry = {**entry, "title": firm, "amount": -charged}
    plan = plan.with_edits(
        [
            ("bank.entries", "put", entry),
            ("gallery.photos", "put", {"id": photo["id"], "lines": [firm, *photo["lines"][1:]]}),
        ]
    )
    text = f"{firm}: {plain_cents(more)}"

    def solver(of: PhoneRow = entry, to: PhoneRow = contact, said: str = text,
               tell: bool = True) -> PhoneScript:  # fmt: skip
        return in_turn(
            opened("gallery"), pressed("gallery", "search"), filled("gallery", "search", firm),
            to_entry(photo["name"]), sought("bank", of["title"], of["title"]),
            tapped("bank", "dispute"), choosing("bank", "reason", "reason_amount"),
            tapped("bank", "send_dispute"),
            (lambda pilot: write_message(pilot, to["name"], said)) if tell else None)  # fmt: skip

    message_first = in_turn(
        lambda pilot: write_message(pilot, contact["name"], text),
        sought("bank", firm, firm), tapped("bank", "dispute"),
        choosing("bank", "reason", "reason_amount"), tapped("bank", "send_dispute"))  # fmt: skip
    same = plain_cents(charged)
    refused = in_turn(sought("bank", firm, firm), turned_down(same), end=False)
    refused_otherwise = in_turn(opened("gallery"), turned_down(cents_text(charged, scene.language)),
                                end=False)  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(
            f"I think that {firm} charged my card more than my receipt says; the receipt is among "
            f"my photos. If so, dispute the payment because of its amount, and send "
            f'{contact["name"]} the firm and by how much it was too much, in this form: '
            f'"{firm}: 1.20". If the amounts are the same, the record is that amount.',
            f"我觉得{firm}刷卡扣的钱比收据上多，收据在我的照片里。如果确实如此，"
            f"请以金额不对为由对这笔付款提出异议，并把商家名和多扣的数额发给{contact['name']}，"
            f"格式为“{firm}: 1.20”。如果金额一致，record写该金额。"),
        solver() if scene.feasible else refused,
        changes=rows_together(row_changed("bank.entries", entry["id"], disputed="amount"),
                              sent_message(scene, plan, contact, text)) if scene.feasible else {},
        answer=GuiAnswer() if scene.feasible else GuiAnswer("infeasible", None, same),
        alternatives={"other_way": message_first if scene.feasible else refused_otherwise},
        mutants={"other_payment": solver(near),
                 "unread": in_turn(opened("bank"), turned_down(firm), end=False),
                 "other_person": solver(to=other), "untold": solver(tell=False),
                 "whole_amount": solver(said=f"{firm}: {plain_cents(charged)}"),
                 "wrong_side": refused if scene.feasible else solver()},
        turns=70,
    )  # fmt: skip


@template("file_price_paid", "medium", apps=("files", "bank"))
def _price(scene: GuiScene) -> GuiDraft | None:
    """Pay the price stated in a document, with its reference."""
    plan = scene.plan()
    payees = unique_payees(scene.rows(plan, "bank.payees"))
    payee, other = scene.sample(payees, 2)
    files = scene.rows(plan, "files.files")
    docs = [row for row in files if row["kind"] == "doc" and not row["trashed"]]
    if len(docs) < 2:
        return None
    doc, decoy = scene.sample(docs, 2)
    cents, agreed = 100 * scene.number(40, 180), 100 * scene.number(181, 260)
    rebate = 100 * scene.number(3, 12)
    code = scene.number(1000, 9999)
    word = scene.say("Roof estimate", "屋顶报价单")
    old, new = (scene.say(f"{word} {tail}.pdf", f"{word}{tail}.pdf")
                for tail in (scene.say("March", "初稿"), scene.say("April", "终稿")))  # fmt: skip
    lines = (
        scene.say(f"Price {plain_cents(agreed)}\nReference R-{code}\nReplaced by {new}",
                  f"价格 {plain_cents(agreed)}\n编号 R-{code}\n已由“{new}”取代"),
        scene.say(f"Price {plain_cents(cents)}\nLess {plain_cents(rebate)} for early payment\n"
                  f"Reference as before", f"价格 {plain_cents(cents)}\n"
                  f"提前付款减 {plain_cents(rebate)}\n编号同前"),
    )  # fmt: skip
    plan = plan.with_edits([
        ("files.files", "put", {**doc, "name": old, "text": lines[0], "kind": "doc"}),
        ("files.files", "put", {**decoy, "name": new, "text": lines[1], "kind": "doc"}),
        ("bank.accounts", "put", {"id": scene.rows(plan, "bank.accounts")[0]["id"],
                                  "balance": 100 * scene.number(900, 2000)}),
    ])  # fmt: skip
    due, reference = cents - rebate, f"R-{code}"

    def solver(to: PhoneRow = payee, amount: int = due, *, send: bool = True) -> PhoneScript:
        return in_turn(sought("files", word, old), sought("files", word, new),
                       transferred(to, amount, reference, send=send))  # fmt: skip

    return GuiDraft(
        plan,
        scene.say(
            f"Pay {payee['name']} what the valid roof estimate in my files asks if one pays early, "
            "from my first account; the transfer's reference is that of the estimate.",
            f"请从我的第一个账户付款给{payee['name']}：金额按文件里有效的屋顶报价单、"
            "并按提前付款计算；附言写报价单的编号。"),
        solver(), changes=transfer_sent(scene, plan, payee, due, reference),
        alternatives={"straight": in_turn(transferred(payee, due, reference))},
        mutants={"no_rebate": solver(amount=cents), "old_price": solver(amount=agreed - rebate),
                 "other_payee": solver(other), "not_sent": solver(send=False)},
        turns=60,
    )  # fmt: skip


@template("order_total_told", "medium", apps=("shop", "messages"))
def _told(scene: GuiScene) -> GuiDraft | None:
    """Send a contact the number and total of the most expensive delivered order."""
    plan = scene.plan()
    orders = [row for row in scene.rows(plan, "shop.orders") if row["status"] == "delivered"]
    orders.sort(key=lambda row: -int(row["total"]))
    if len(orders) < 2 or orders[0]["total"] == orders[1]["total"]:
        return None
    contact, other = scene.sample(unique_names(scene.rows(plan, "contacts.contacts")), 2)

    def said(row: PhoneRow) -> str:
        return f"{row['number']} {plain_cents(row['total'])}"

    text = said(orders[0])

    def solver(to: str = contact["name"], body: str = text) -> PhoneScript:
        return in_turn(opened("shop"), to_tab("shop", "orders"), to_entry(orders[0]["number"]),
                       lambda pilot: write_message(pilot, to, body))  # fmt: skip

    return GuiDraft(
        plan,
        scene.say(
            f"Of my shop orders that were delivered, send {contact['name']} number and total of "
            'the dearest one, in this form: "M-12345 67.80".',
            f"在我已送达的商城订单中，把最贵一单的订单号和合计发给{contact['name']}，"
            "格式为“M-12345 67.80”。"),
        solver(), changes=sent_message(scene, plan, contact, text),
        alternatives={"straight": in_turn(lambda pilot: write_message(
            pilot, contact["name"], text))},
        mutants={"other_person": solver(other["name"]), "next_order": solver(body=said(orders[1])),
                 "number_alone": solver(body=orders[0]["number"])},
        turns=40,
    )  # fmt: skip


@template("bank_into_expenses", "medium", apps=("bank", "expenses"))
def _from_bank(scene: GuiScene) -> GuiDraft | None:
    """Record a card payment as an expense."""
    plan = scene.plan()
    paid = [row for row in scene.rows(plan, "bank.entries") if row["kind"] == "card"]
    row, near = scene.sample(paid, 2)
    # A branch of the firm, where the phone's owner has paid once.
    row = {**row, "title": f"{row['title']} {scene.number(11, 99)}"}
    plan = plan.with_edits([("bank.entries", "put", row)])
    category, wrong = scene.sample(("food", "groceries", "leisure", "health"), 2)
    note = scene.say(f"Project {scene.number(11, 99)}", f"项目{scene.number(11, 99)}")

    def solver(of: PhoneRow, kind: str = category, *, save: bool = True) -> PhoneScript:
        return in_turn(
            sought("bank", of["title"], of["title"]), pressed("bank", "as_expense"),
            choosing("expenses", "category", kind), filled("expenses", "note", note),
            pressed("expenses", "save") if save else None)  # fmt: skip

    by_hand = in_turn(
        opened("expenses"), lambda pilot: pilot.create("expenses", "new_entry"),
        filled("expenses", "title", row["title"]),
        filled("expenses", "amount", plain_cents(-row["amount"])),
        choosing("expenses", "category", category),
        lambda pilot: pilot.pick_day(pilot.words("expenses", "day"), row["day"]),
        filled("expenses", "note", note), pressed("expenses", "save"))  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(
            f"Add my card payment at {row['title']} to the expenses, with the firm's name, day and "
            f"amount as the bank has them, in the category {scene.word('expenses', category)} and "
            f'with the note "{note}".',
            f"把我在{row['title']}的刷卡付款记入开支：商家名、日期和金额与银行一致，"
            f"类别“{scene.word('expenses', category)}”，备注“{note}”。"),
        solver(row),
        changes=row_added("expenses.entries", {
            "title": row["title"], "amount": -row["amount"], "category": category,
            "day": row["day"], "method": "card", "note": note, "receipt": ""}),
        alternatives={"by_hand": by_hand},
        mutants={"other_payment": solver(near), "other_category": solver(row, wrong),
                 "unsaved": solver(row, save=False)},
        turns=50,
    )  # fmt: skip


@template("playlist_into_note", "medium", apps=("music", "notes"))
def _shared_list(scene: GuiScene) -> GuiDraft | None:
    """Share the songs of a playlist to a note."""
    plan = scene.plan()
    lists = scene.rows(plan, "music.playlists")
    row, near = scene.sample(lists, 2)
    songs = {song["id"]: song for song in scene.rows(plan, "music.songs")}
    entries = [each for each in scene.rows(plan, "music.entries") if each["playlist"] == row["id"]]
    entries.sort(key=lambda each: int(each["place"]))
    text = "\n".join(f"{songs[each['song']]['title']} – {songs[each['song']]['artist']}"
                     for each in entries)  # fmt: skip
    title = scene.say(f"Songs {scene.number(11, 99)}", f"曲目{scene.number(11, 99)}")

    def solver(of: PhoneRow, name: str = title, *, save: bool = True,
               first: bool = False) -> PhoneScript:  # fmt: skip
        return in_turn(
            opened("messages") if first else None, opened("music"), to_tab("music", "playlists"),
            to_entry(of["name"]), pressed("music", "share"), tapped("notes", "app_title", "item"),
            filled("notes", "title", name), pressed("notes", "save") if save else None)  # fmt: skip

    return GuiDraft(
        plan,
        scene.say(f'Share my playlist "{row["name"]}" to the notes, under the title "{title}".',
                  f"把歌单“{row['name']}”分享到笔记，标题写“{title}”。"),
        solver(row),
        changes=row_added("notes.notes", {"title": title, "text": text, "label": "",
                                          "pinned": False, "archived": False}),
        alternatives={"after_a_look": solver(row, first=True)},
        mutants={"other_list": solver(near), "other_title": solver(row, row["name"]),
                 "unsaved": solver(row, save=False)},
        turns=40,
    )  # fmt: skip


TEMPLATES = (_receipt, _against, _price, _told, _from_bank, _shared_list)
