"""Hard tasks on the mail site: a rule with exceptions, and a sum over files."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    changed,
    together,
)
from hexathlon.tasks.web.templates.mailbox import Mailbox, tick
from hexathlon.tasks.web.world.store import StoreRow

__all__ = ["TEMPLATES"]


class ClearFolder(WebTemplate):
    """Clear a folder by a retention rule whose exceptions are stated in two other places."""

    name: ClassVar[str] = "mail_clear_folder"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a folder of messages, a rule, and holds on companies."""
        box = Mailbox(scene, scene.plan("mail"))
        outside = box.outsiders(5)
        if len(outside) < 5:
            return None
        folder = scene.pick(box.store.rows("SELECT name FROM folders ORDER BY name"))["name"]
        held, released, plain, plain2, kept = outside
        (lawyer,) = box.colleagues(1)
        days = int(scene.rng.integers(150, 210))
        today = box.start.date()
        limit = today - timedelta(days=days)
        box.handbook(
            "keeping",
            scene.say("Keeping and deleting mail", "邮件的保存与删除"),
            scene.say(
                f"Mail in folders of one's own is deleted {days} days after it arrived; what is "
                f"exactly {days} days old stays one more day.\n"
                "Starred mail is never deleted; when its time is over it goes to the archive.\n"
                "Mail with an attachment whose name begins with contract- is kept: it goes to the "
                "archive when its time is over. Attachments of other kinds make no difference.\n"
                f"Mail from {kept['company']} stays in its folder whatever its age.\n"
                "A hold that the legal desk announces by mail goes before everything else: such "
                "mail stays where it is.",
                f"自建文件夹中的邮件在收到{days}天后删除；恰好{days}天的多留一天。\n加星标的邮件"
                "不删"
                "除，到期后归档。\n"
                "附件名以 contract- 开头的邮件须保存，到期后归档；其他附件不影响。\n来自"
                f"{kept['company']}的邮件无论多久都留在原文件夹。\n"
                "法务以邮件宣布的保全优先于以上各条：此类邮件留在原处。",
            ),
            box.ago(days=60),
        )
        box.add(
            lawyer,
            scene.say("Hold", "保全通知"),
            scene.say(
                f"Legal desk: please keep all mail from {held['company']} and from "
                f"{released['company']} unchanged until further notice.",
                f"法务：请将{held['company']}和{released['company']}的全部邮件保持不变，直至另行"
                "通知"
                "。",
            ),
            box.ago(days=45),
        )
        box.add(
            lawyer,
            scene.say("Re: Hold", "回复：保全通知"),
            scene.say(
                f"Legal desk: the matter with {released['company']} is closed; the hold on its "
                "mail "
                "is lifted.",
                f"法务：与{released['company']}的事项已结束，对其邮件的保全解除。",
            ),
            box.ago(days=12),
        )
        colleague = box.people[-1]
        box.add(
            colleague,
            scene.say("Mail from " + held["company"], held["company"] + "的邮件"),
            scene.say(
                f"I think mail from {held['company']} can go, too.",
                f"我觉得{held['company']}的邮件也可以删了。",
            ),
            box.ago(days=5),
        )
        fate: dict[int, str] = {}
        for k in range(24):
            who = scene.pick((held, held, released, released, plain, plain, plain2, kept))
            old = scene.rng.random() < 0.7
            age = (
                days
                if k == 0
                else days + 1
                if k == 1
                else int(
                    scene.rng.integers(days + 2, days + 120)
                    if old
                    else scene.rng.integers(20, days)
                )
            )
            star = int(scene.rng.random() < 0.2)
            file = scene.pick(("", "", "contract-", "quote-"))
            ref = f"{scene.rng.integers(100, 999)}"
            sent = box.ago(days=age)
            number = box.add(
                who,
                scene.say(f"Order {ref}", f"订单 {ref}"),
                scene.say("Please see below.", "请见下文。"),
                sent,
                folder=folder,
                starred=star,
                files={f"{file}{ref}.txt": ref} if file else {},
            )
            if sent.date() >= limit or who in (held, kept):
                fate[number] = folder
            else:
                fate[number] = "archive" if star or file == "contract-" else "trash"
        if box.store.value("SELECT count(*) FROM messages WHERE folder = ?", (folder,)):
            return None
        world = scene.store(box.plan, "mail")
        rows = world.rows(
            "SELECT id, CASE WHEN date(sent) >= ? OR sender IN (?, ?) THEN ? WHEN starred = 1 "
            "OR files "
            "LIKE 'contract-%' THEN 'archive' ELSE 'trash' END AS fate FROM messages WHERE "
            "folder = ?",
            (limit.isoformat(), held["email"], kept["email"], folder, folder),
        )
        if {row["id"]: row["fate"] for row in rows} != fate:
            return None
        groups = {
            kind: sorted(each for each in fate if fate[each] == kind)
            for kind in ("trash", "archive", folder)
        }
        if min(map(len, groups.values())) < 3:
            return None
        instruction = scene.say(
            f'Clear up the folder "{folder}" by the rules of the office handbook on keeping '
            "mail, with all that was announced about them. Touch nothing in other folders.",
            f"按办公手册关于邮件保存的规定及相关通知，整理文件夹“{folder}”。不要动其他文件夹。",
        )

        def solver(trash: Sequence[int], archive: Sequence[int]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("mail", "/handbook/keeping")
                yield from pilot.goto("mail", f"/search?q=from:{lawyer.email}")
                yield from tick(pilot, f"/folder?name={folder}", trash, "trash")
                yield from tick(pilot, f"/folder?name={folder}", archive, "archive")
                yield from pilot.finish()

            return solve

        def archive_first(pilot: Pilot) -> Script:
            yield from tick(pilot, f'/search?q=in:"{folder}"', groups["archive"], "archive")
            yield from tick(pilot, f'/search?q=in:"{folder}"', groups["trash"], "trash")
            yield from pilot.finish()

        trash, archive = groups["trash"], groups["archive"]
        edge = next(iter(fate))
        return WebDraft(
            box.plan,
            instruction,
            solver(trash, archive),
            changes=together(
                *(
                    changed("mail", "messages", each, folder=kind)
                    for each, kind in fate.items()
                    if kind != folder
                )
            ),
            alternatives={"archive_first": archive_first},
            mutants={
                "boundary_too": solver(
                    [*trash, edge] if fate[edge] == folder else trash[1:], archive
                ),
                "all_deleted": solver([*trash, *archive], []),
                "one_missed": solver(trash, archive[1:]),
            },
            turns=75,
        )


def _clear_invoices(box: Mailbox, contact: StoreRow) -> None:
    """Remove the initial content's invoices of a company: a reader would have to count them."""
    domain = contact["email"].partition("@")[2]
    box.edits.append(
        (
            "mail",
            "DELETE FROM messages WHERE sender LIKE ? AND "
            "(subject || body || files LIKE '%invoice%' OR subject || body LIKE '%发票%')",
            (f"%@{domain}",),
        )
    )


class OpenInvoices(WebTemplate):
    """Add up the invoices of a company: corrections, credit notes, copies and payments count."""

    name: ClassVar[str] = "mail_open_invoices"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw invoices as attachments, and later changes to some of them."""
        box = Mailbox(scene, scene.plan("mail"))
        outside = box.outsiders(2)
        if len(outside) < 2:
            return None
        seller, other = outside
        _clear_invoices(box, seller)
        payer = box.colleagues(1)[0]
        numbers = [f"{scene.rng.integers(100, 999)}-{k + 1:02d}" for k in range(8)]
        start, end = box.ago(days=120).date(), box.ago(days=25).date()
        amounts: dict[str, int] = {}
        days: dict[str, Any] = {}
        rows: list[tuple[str, str, int]] = []
        files: list[str] = []

        def invoice(ref: str, cents: int, dated: Any, age: float, title: str, version: str) -> None:
            file = f"{seller['email'].split('@')[1].split('.')[0]}-{ref}{version}.txt"
            text = scene.say(
                f"{title} {ref}\nDate: {dated}\nTotal: €{cents / 100:,.2f}\n",
                f"{title} {ref}\n日期：{dated}\n合计：€{cents / 100:,.2f}\n",
            )
            box.add(
                seller,
                f"{title} {ref}",
                scene.say("Please see the attachment.", "请见附件。"),
                box.ago(days=age),
                files={file: text},
            )
            files.append(file)

        bill, credit = scene.say("Invoice", "发票"), scene.say("Credit note", "贷项通知单")
        for k, ref in enumerate(numbers):
            age = 130 if k == 0 else 20 if k == 7 else int(scene.rng.integers(45, 115))
            dated = box.ago(days=age + (0 if k in (0, 7) else 1)).date()
            amounts[ref] = int(scene.rng.integers(20_000, 480_000))
            days[ref] = dated
            rows.append(("invoice", ref, amounts[ref]))
            invoice(ref, amounts[ref], dated, age, bill, "")
        corrected, credited, paid, copied = scene.sample(numbers[1:7], 4)
        new = amounts[corrected] - int(scene.rng.integers(1_000, 9_000))
        invoice(
            corrected, new, days[corrected], 40, scene.say("Corrected invoice", "更正发票"), "-b"
        )
        amounts[corrected] = new
        part = int(scene.rng.integers(2_000, 15_000))
        note = f"{scene.rng.integers(10, 99)}-C"
        box.add(
            seller,
            f"{credit} {note}",
            scene.say("Please see the attachment.", "请见附件。"),
            box.ago(days=35),
            files={
                f"credit-{note}.txt": scene.say(
                    f"Credit note {note} for invoice {credited}\nAmount: €{part / 100:,.2f}\n",
                    f"发票{credited}的贷项通知单 {note}\n金额：€{part / 100:,.2f}\n",
                )
            },
        )
        amounts[credited] -= part
        box.add(
            payer,
            scene.say("Payment run", "付款批次"),
            scene.say(
                f"Today we have paid invoice {paid} of {seller['company']} in full.",
                f"今天已全额支付{seller['company']}的发票{paid}。",
            ),
            box.ago(days=30),
        )
        invoice(
            copied,
            amounts[copied],
            days[copied],
            28,
            scene.say("Reminder, invoice", "催款：发票"),
            "-copy",
        )
        box.add(
            other,
            f"{bill} {numbers[3]}",
            scene.say("Please see the attachment.", "请见附件。"),
            box.ago(days=50),
            files={f"inv-{numbers[3]}.txt": f"{bill} {numbers[3]}\n€99.00\n"},
        )
        open_refs = [ref for ref in numbers if start <= days[ref] <= end and ref != paid]
        total = sum(amounts[ref] for ref in open_refs)
        by_hand = sum(cents for _, ref, cents in rows if ref in open_refs)
        by_hand += -part if credited in open_refs else 0
        by_hand += new - next(cents for _, ref, cents in rows if ref == corrected)
        if by_hand != total or len(open_refs) != 5:
            return None
        instruction = scene.say(
            f"How much do we still owe {seller['company']} for invoices dated from {start} to "
            f"{end}, both days included? A corrected invoice replaces the one with its number, "
            "credit notes reduce their invoice, copies and reminders add nothing, and invoices "
            f"that {payer.name} has reported as paid are settled. Answer with two values: the "
            "number of invoices that are still open, and the sum in euros with two decimals.",
            f"{start}至{end}（含首尾两日）开具的发票，我们还欠{seller['company']}多少？更正发票取"
            f"代同号发票，贷项通知单冲减对应发票，副本和催款不另计，{payer.name}报告已付的发票视"
            "为结清。请回答两个值：未结发票张数，以及以欧元计、保留两位小数的总额。",
        )
        naive = sum(cents for _, ref, cents in rows if start <= days[ref] <= end)

        def solver(count: int, cents: int, *, look: bool = True, by_search: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from pilot.goto(
                        "mail",
                        f"/search?q=from:{seller['email']}"
                        + (" has:attachment" if by_search else ""),
                    )
                    world = scene.store(box.plan, "mail")
                    for name in files:
                        number = world.value(
                            "SELECT id FROM _attachments WHERE filename = ?", (name,)
                        )
                        yield from pilot.goto("mail", f"/attachments/{number}")
                        yield from pilot.act("read_file", file=name)
                yield from pilot.finish("RETRIEVE", [count, f"{cents / 100:.2f}"])

            return solve

        world = scene.store(box.plan, "mail")
        ids = [
            world.value("SELECT id FROM _attachments WHERE filename = ?", (f"{name}",))
            for name in files
            if name.endswith("-b.txt") or numbers[1] in name
        ][:2]
        return WebDraft(
            box.plan,
            instruction,
            solver(5, total),
            answer=ExpectedAnswer(data=(5, f"{total / 100:.2f}")),
            evidence=tuple(rf"mail\.hexathlon\.test/attachments/{each}$" for each in ids),
            alternatives={"by_search": solver(5, total, by_search=True)},
            mutants={
                "all_of_period": solver(6, naive),
                "not_looked": solver(5, total, look=False),
                "no_credit": solver(5, total + part),
            },
            turns=60,
        )


TEMPLATES: tuple[WebTemplate, ...] = (ClearFolder(), OpenInvoices())
