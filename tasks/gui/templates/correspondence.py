"""Work with email."""

from hexathlon.tasks.gui.operations.finding import found, tab
from hexathlon.tasks.gui.operations.operation import done, in_sequence
from hexathlon.tasks.gui.operations.writing import send_mail
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    row_changed,
    rows_together,
)
from hexathlon.tasks.gui.templates.people import unique_names
from hexathlon.tasks.gui.templates.scripts import (
    CONTACT_TEXTS,
    MAIL_TEXTS,
    answered,
    only_in,
    press,
    sent_mail,
    template,
)
from hexathlon.tasks.gui.world.kit.words import wordings
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES", "findable_mails"]


def findable_mails(scene: GuiScene, plan: PhonePlan, *folders: str) -> list[PhoneRow]:
    """Return emails from others whose subject no other email's subject contains."""
    rows = scene.rows(plan, "mail.mails")
    return [row for row in rows
            if row["folder"] in folders and row["name"]
            and only_in(rows, row["subject"], MAIL_TEXTS)]  # fmt: skip


@template("mail_send", "easy", "medium", apps=("mail", "contacts"))
def write_letter(scene: GuiScene) -> GuiDraft | None:
    """Write an email to a contact, whose address is in the contacts."""
    plan = scene.plan()
    people = [row for row in unique_names(scene.rows(plan, "contacts.contacts")) if row["email"]]
    one, two = scene.sample(people, 2)
    number = scene.number(3, 60)
    subject = scene.say(f"Stand {number}", f"{number}号摊位")
    body = scene.say(f"Please keep {number + 2} chairs for us.", f"请给我们留{number + 2}把椅子。")
    right = send_mail(one["email"], subject, body)
    look_up = found("contacts", one["name"])
    return GuiDraft(
        plan,
        scene.say(f'Write a mail to {one["name"]} with the subject "{subject}" and the text '
                  f'"{body}".',
                  f"给{one['name']}写一封邮件，主题“{subject}”，正文“{body}”。"),
        in_sequence(look_up, right, done),
        changes=sent_mail(scene, plan, one["email"], subject, body),
        alternatives={"directly": in_sequence(right, done)},
        mutants={"other_person": in_sequence(send_mail(two["email"], subject, body), done),
                 "draft": in_sequence(send_mail(one["email"], subject, body, send=False), done),
                 "no_text": in_sequence(send_mail(one["email"], subject, subject), done)},
        turns=40,
    )  # fmt: skip


@template("mail_draft", "easy", apps=("mail",))
def keep_draft(scene: GuiScene) -> GuiDraft | None:
    """Save an email as a draft."""
    plan = scene.plan()
    people = [row for row in unique_names(scene.rows(plan, "contacts.contacts")) if row["email"]]
    one, two = scene.sample(people, 2)
    subject = scene.say(f"Offer {scene.number(100, 999)}", f"报价{scene.number(100, 999)}")
    body = scene.say(f"We can do it for {scene.number(200, 900)}.",
                     f"我们可以做，价格{scene.number(200, 900)}元。")  # fmt: skip
    to = one["email"]
    return GuiDraft(
        plan,
        scene.say(f'Prepare a mail to {to} with the subject "{subject}" and the text "{body}", '
                  "but do not send it: keep it as a draft.",
                  f"准备一封给{to}的邮件，主题“{subject}”，正文“{body}”，先不要发送，存为草稿。"),
        in_sequence(send_mail(to, subject, body, send=False), done),
        changes=sent_mail(scene, plan, to, subject, body, folder="drafts"),
        alternatives={"twice": in_sequence(tab("mail", "folders"),
                                     send_mail(to, subject, body, send=False), done)},
        mutants={"sent": in_sequence(send_mail(to, subject, body), done),
                 "other_address": in_sequence(send_mail(two["email"], subject, body, send=False),
                                        done),
                 "nothing": done},
    )  # fmt: skip


@template("mail_put_away", "easy", "medium", apps=("mail",))
def put_away(scene: GuiScene) -> GuiDraft | None:
    """Archive one email and, at `medium`, star another."""
    plan = scene.plan()
    mails = findable_mails(scene, plan, "inbox")
    if len(mails) < 3:
        return None
    one, two, near = scene.sample(mails, 3)
    if two["starred"]:
        return None
    medium = scene.level == "medium"

    def archive(row: PhoneRow) -> PhoneScript:
        return in_sequence(found("mail", row["subject"], row["name"]), press("mail", "archive_it"))

    def star(row: PhoneRow) -> PhoneScript:
        return in_sequence(found("mail", row["subject"], row["name"]), press("mail", "star"))

    more = [star(two)] if medium else []
    wish = scene.say(f', and star "{two["subject"]}" from {two["name"]}' if medium else "",
                     "" if not medium else
                     f"，并给{two['name']}的“{two['subject']}”加星标")  # fmt: skip
    changes = [row_changed("mail.mails", one["id"], folder="archive")]
    if medium:
        changes.append(row_changed("mail.mails", two["id"], starred=True))
    delete = in_sequence(found("mail", one["subject"], one["name"]), press("mail", "delete"))
    return GuiDraft(
        plan,
        scene.say(f'Archive the mail "{one["subject"]}" from {one["name"]}{wish}.',
                  f"把{one['name']}的邮件“{one['subject']}”归档{wish}。"),
        in_sequence(archive(one), *more, done), changes=rows_together(*changes),
        alternatives={"other_order": in_sequence(*more, archive(one), done)},
        mutants={"other": in_sequence(archive(near), *more, done),
                 "deleted": in_sequence(delete, *more, done),
                 "nothing": in_sequence(*more, done)},
        turns=40,
    )  # fmt: skip


@template("mail_amount", "easy", "medium", apps=("mail",))
def tell_amount(scene: GuiScene) -> GuiDraft | None:
    """Report the amount stated in an email, among emails with look-alike numbers."""
    plan = scene.plan()
    mails = findable_mails(scene, plan, "inbox", "archive")
    if len(mails) < 2:
        return None
    row, near = scene.sample(mails, 2)
    cents = scene.number(1000, 99000)
    amount, swapped = f"{cents / 100:.2f}", f"{(cents + 90) / 100:.2f}"
    discount = scene.number(2, 9)
    line = scene.say(f"Total {amount}, of which {discount}.00 for delivery.",
                     f"合计{amount}元，其中运费{discount}.00元。")  # fmt: skip
    plan = plan.with_edits(
        [
            ("mail.mails", "put", {**row, "body": f"{line}\n{row['body']}"}),
            ("mail.mails", "put", {**near, "body": line.replace(amount, swapped)}),
        ]
    )
    goods = f"{(cents - 100 * discount) / 100:.2f}"
    easy = scene.level == "easy"
    asked, wrong = (amount, goods) if easy else (goods, amount)
    look = found("mail", row["subject"], row["name"])
    return GuiDraft(
        plan,
        scene.say(f'How much does the mail "{row["subject"]}" from {row["name"]} ask for'
                  + (" in total?" if easy else " without the delivery?"),
                  f"{row['name']}的邮件“{row['subject']}”" + ("总共要付多少钱？" if easy
                                                            else "除运费外要付多少钱？")),
        in_sequence(look, answered(asked)),
        answer=GuiAnswer(data=(asked,)),
        alternatives={"at_once": answered(asked)},
        mutants={"other_part": in_sequence(look, answered(wrong)), "near": answered(swapped),
                 "silent": in_sequence(look, done)},
    )  # fmt: skip


@template("mail_signature", "easy", apps=("mail",))
def set_signature(scene: GuiScene) -> GuiDraft | None:
    """Change the signature and switch it on."""
    plan = scene.plan()
    sign = plan.table("mail.prefs")["sign"]["value"]
    text = scene.say(f"Yours, room {scene.number(2, 80)}", f"{scene.number(2, 80)}室 敬上")

    def solver(written: str, *, switch: bool, save: str = "save") -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from pilot.open("mail")
            yield from pilot.press("mail", "settings")
            if switch:
                yield from pilot.tap("switch", pilot.words("mail", "sign"))
            yield from pilot.tap_entry(pilot.words("mail", "signature"))
            yield from pilot.fill(pilot.words("mail", "signature"), written)
            yield from pilot.tap("button", pilot.words("mail", save))
            yield from pilot.done()

        return run

    changes = [row_changed("mail.prefs", "signature", value=text)]
    if not sign:
        changes.append(row_changed("mail.prefs", "sign", value=True))
    return GuiDraft(
        plan,
        scene.say(f'Every mail that I send shall end with "{text}".',
                  f"我发出的每封邮件都要以“{text}”结尾。"),
        solver(text, switch=not sign), changes=rows_together(*changes),
        alternatives={"same": in_sequence(tab("mail", "inbox"), solver(text, switch=not sign))},
        mutants={"switch": solver(text, switch=sign), "text": solver(text + ".", switch=not sign),
                 "cancelled": solver(text, switch=not sign, save="cancel")},
    )  # fmt: skip


@template("mail_forward", "medium", apps=("mail", "contacts"))
def pass_on(scene: GuiScene) -> GuiDraft | None:
    """Forward an email with its attachment to the contact who lives at a given address."""
    plan = scene.plan()
    rows = scene.rows(plan, "contacts.contacts")
    people = [row for row in unique_names(rows) if row["email"] and row["address"]
              and only_in(rows, row["address"], CONTACT_TEXTS)]  # fmt: skip
    mails = [row for row in findable_mails(scene, plan, "inbox", "archive") if row["file"]]
    if len(people) < 2 or not mails:
        return None
    one, two = scene.sample(people, 2)
    mail = scene.pick(mails)
    more = bool(scene.number(0, 1))
    days = scene.number(2, 28)
    line = scene.say(f"Please answer within {days} days.", f"请在{days}天内答复。")
    quote = wordings("mail", "quoted", scene.language)[0].format(
        sender=f"{mail['name']} <{mail['address']}>", subject=mail["subject"], text=mail["body"]
    )
    body = f"{line}\n\n{quote}" if more else quote

    def forward(to: str, text: str = line, key: str = "forward") -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from found("mail", mail["subject"], mail["name"])(pilot)
            yield from pilot.tap("button", pilot.words("mail", key))
            yield from pilot.fill(pilot.words("mail", "to"), to)
            if more or key == "reply":
                yield from pilot.fill(pilot.words("mail", "text"), text)
            yield from pilot.press("mail", "send")
            yield from pilot.done()

        return run

    subject = mail["subject"] if mail["subject"].startswith("Fwd: ") else f"Fwd: {mail['subject']}"
    wish = scene.say(f' Put the line "{line}" above it.' if more else "",
                     f"并在原文上方加一行“{line}”。" if more else "")  # fmt: skip
    look = found("contacts", one["address"], one["name"])
    return GuiDraft(
        plan,
        scene.say(f'Forward the mail "{mail["subject"]}" with its attachment to the contact who '
                  f"lives at {one['address']}.{wish}",
                  f"把邮件“{mail['subject']}”连同附件转发给住在{one['address']}的联系人。{wish}"),
        in_sequence(look, forward(one["email"])),
        changes=sent_mail(scene, plan, one["email"], subject, body, file=mail["file"]),
        alternatives={"at_once": forward(one["email"])},
        mutants={"other_person": forward(two["email"]),
                 "reply": forward(one["email"], key="reply"),
                 "anew": in_sequence(
                     send_mail(one["email"], subject, body.replace("\n", " ")), done)},
        turns=50,
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (
    write_letter, keep_draft, put_away, tell_amount, set_signature, pass_on,
)  # fmt: skip
