"""Tasks on the mail site: work on many messages, and with files."""

from collections.abc import Sequence
from typing import ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
)
from hexathlon.tasks.web.templates.mailbox import Mailbox, reply, tick, words

__all__ = ["TEMPLATES"]


class LabelMany(WebTemplate):
    """Label every message of a sender with an attachment that is older than a day."""

    name: ClassVar[str] = "mail_label_many"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a sender with many messages, and a day near some of them."""
        box = Mailbox(scene, scene.plan("mail"))
        outside = box.outsiders(2)
        if len(outside) < 2:
            return None
        sender, other = outside
        label = scene.pick(box.store.rows("SELECT name FROM labels ORDER BY name"))["name"]
        hard = scene.demanding()
        cut = int(scene.rng.integers(50, 90))
        day = box.ago(days=cut).date()
        namesake = {"name": sender["name"], "email": f"archive.{other['email']}"}
        ages = [
            cut + 0.0,
            *(float(each) for each in scene.sample(range(10, 200), 14 if hard else 9)),
        ]
        for k, age in enumerate(ages):
            ref = f"{scene.rng.integers(1000, 9999)}"
            files = {f"report-{ref}.txt": f"Report {ref}\n"} if k % 3 != 2 else {}
            who = namesake if k in (3, 4) else sender
            folder = ("inbox", "archive", "trash" if k == 6 else "inbox")[k % 3]
            box.add(
                who,
                scene.say(f"Monthly report {ref}", f"月报 {ref}"),
                scene.say("The report of last month.", "上个月的报告。"),
                box.ago(days=age),
                files=files,
                folder=folder,
            )
        extra = (
            scene.say(
                " Take the label off every other message that has it.",
                "并从其他所有邮件上去掉该标签。",
            )
            if hard
            else ""
        )
        instruction = scene.say(
            f'Add the label "{label}" to every message from {sender["name"]} ({sender["email"]}) '
            f"that has an attachment and arrived before {day}, wherever it is except in spam and "
            f"trash.{extra}",
            f"给{sender['name']}（{sender['email']}）在{day}之前发来的所有带附件的邮件加上标签"
            f"“{label}”，"
            f"垃圾邮件和已删除里的除外。{extra}",
        )
        world = scene.store(box.plan, "mail")
        rows = world.rows("SELECT * FROM messages ORDER BY id")
        tags = world.rows("SELECT * FROM tagged WHERE label = ? ORDER BY id", (label,))
        mine = {
            row["id"]
            for row in rows
            if row["sender"] == sender["email"]
            and row["files"]
            and row["sent"][:10] < day.isoformat()
            and row["folder"] not in ("spam", "trash")
        }
        by_sql = world.rows(
            "SELECT id FROM messages WHERE sender = ? AND files != '' AND date(sent) < ? AND "
            "folder NOT IN ('spam', 'trash')",
            (sender["email"], day.isoformat()),
        )
        if mine != {row["id"] for row in by_sql} or len(mine) < 3:
            return None
        tagged = {tag["message"]: tag["id"] for tag in tags}
        off = {message: key for message, key in tagged.items() if message not in mine}
        if hard and not 2 <= len(off) <= 40:
            return None
        edge = next(
            row["id"]
            for row in rows
            if row["sent"][:10] == day.isoformat() and row["sender"] == sender["email"]
        )
        query = f"/search?q=from:{sender['email']} has:attachment before:{day}"
        new = sorted(mine - set(tagged))
        if len(new) < 3:
            return None

        def solver(targets: Sequence[int], *, clear: bool = hard, path: str = query) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from tick(pilot, path, targets, "label", label)
                if clear:
                    yield from tick(
                        pilot, f"/search?q=label:{label}", _shown(off, rows), "unlabel", label
                    )
                    hidden = set(off) - set(_shown(off, rows))
                    for folder in ("spam", "trash"):
                        here = [
                            row["id"]
                            for row in rows
                            if row["id"] in hidden and row["folder"] == folder
                        ]
                        if here:
                            yield from tick(
                                pilot,
                                f"/search?q=label:{label} in:{folder}",
                                here,
                                "unlabel",
                                label,
                            )
                yield from pilot.finish()

            return solve

        mutants = {
            "boundary_too": solver([*new, edge], path=f"/search?q=from:{sender['email']}"),
            "one_missed": solver(new[1:]),
            "uncleared" if hard else "cleared": solver(new, clear=not hard),
        }
        expected = added("mail", "tagged", *({"message": each, "label": label} for each in new))
        if hard:
            expected["mail"]["tagged"]["removed"] = sorted(off.values())
        elif not off:
            mutants["cleared"] = solver(new[:-1])
        return WebDraft(
            box.plan,
            instruction,
            solver(new),
            changes=expected,
            alternatives={"by_sender": solver(new, path=f"/search?q=from:{sender['email']}")},
            mutants=mutants,
            turns=80 if hard else 40,
        )


class SignedUpload(WebTemplate):
    """Reply with the right one of several files."""

    name: ClassVar[str] = "mail_signed_file"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a request, and scans, one of which is signed and has the right number."""
        number = f"{scene.rng.integers(10_000, 99_999)}"
        near = number[:3] + number[4] + number[3] if number[3] != number[4] else number[:-1] + "0"
        if near == number:
            return None
        names = [f"scan-{k:03d}.txt" for k in scene.sample(range(1, 90), 4)]
        yes, no = scene.say("Signed: yes", "已签字：是"), scene.say("Signed: no", "已签字：否")
        title = scene.say("Delivery contract", "供货合同")
        texts = [
            f"{title} {number}\n{yes}\n",
            f"{title} {number}\n{no}\n",
            f"{title} {near}\n{yes}\n",
            f"{title} {near}\n{no}\n",
        ]
        box = Mailbox(scene, scene.plan("mail", files=dict(sorted(zip(names, texts, strict=True)))))
        outside = box.outsiders(2)
        if len(outside) < 2:
            return None
        asker, other = outside
        thread = box.add(
            asker,
            scene.say("Contract, signature missing", "合同缺签字"),
            scene.say(
                f"We still need the signed copy of contract {number}. Please send it as a reply.",
                f"我们还需要合同{number}的签字版，请回信附上。",
            ),
            box.ago(days=2),
        )
        decoy = box.add(
            other,
            scene.say("Contract, signature missing", "合同缺签字"),
            scene.say(
                f"Contract {near} is not signed yet, as far as we know. There is no hurry.",
                f"据我们所知合同{near}尚未签字，不急。",
            ),
            box.ago(days=1),
        )
        text = scene.say("Here is the signed copy.", "附上签字版。")
        instruction = scene.say(
            f"Send {asker['name']} of {asker['company']} the file that the mail asks for, as a "
            f"reply with exactly this text: {text} The scans are among your files.",
            f"按{asker['company']}的{asker['name']}来信的要求回信并附上文件，正文只写：{text}扫描"
            "件在您的文件中。",
        )

        def solver(message: int, file: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("mail", f"/threads/{message}")
                yield from pilot.act("read_file", file=file)
                yield from reply(pilot, message, text, file=file)
                yield from pilot.finish()

            return solve

        def by_draft(pilot: Pilot) -> Script:
            yield from pilot.goto("mail", f"/threads/{thread}")
            yield from reply(pilot, thread, text, file=names[0], button="save_draft")
            yield from pilot.click("button", words(pilot, "send"))
            yield from pilot.finish()

        return WebDraft(
            box.plan,
            instruction,
            solver(thread, names[0]),
            changes=box.expected(box.sent([asker["email"]], text, thread=thread, files=names[:1])),
            alternatives={"by_draft": by_draft},
            mutants={
                "unsigned": solver(thread, names[1]),
                "near_number": solver(thread, names[2]),
                "wrong_mail": solver(decoy, names[0]),
            },
        )


def _shown(off: dict[int, int], rows: Sequence[dict[str, object]]) -> list[int]:
    hidden = ("spam", "trash")
    return [int(str(row["id"])) for row in rows if row["id"] in off and row["folder"] not in hidden]


TEMPLATES: tuple[WebTemplate, ...] = (LabelMany(), SignedUpload())
