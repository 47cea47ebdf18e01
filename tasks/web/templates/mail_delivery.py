"""Tasks on the mail site: deliveries that fail and addresses that have changed."""

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
    changed,
    together,
)
from hexathlon.tasks.web.templates.mailbox import Mailbox, compose, words

__all__ = ["TEMPLATES"]


class FailedDelivery(WebTemplate):
    """Write to several people; one has a new address and one cannot be reached at first."""

    name: ClassVar[str] = "mail_failed_delivery"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a list of people, changes to it, changed addresses and a busy server."""
        hard = scene.demanding()
        box = Mailbox(scene, scene.plan("mail"))
        outside = box.outsiders(9, apart=False)
        if len(outside) < 9:
            return None
        guests = outside[: 6 if hard else 3]
        moved, busy, struck = guests[0], guests[1], guests[2]
        newcomer = outside[6]
        host = box.colleagues(1)[0]
        topic = scene.pick(
            (
                "Suppliers' day|供应商日",
                "Safety briefing|安全说明会",
                "Winter fair|冬季展会",
                "Factory tour|工厂参观",
            )
        )
        topic = topic.split("|")[scene.language == "zh"]
        login = moved["email"].partition("@")[0]
        first_new = f"{login}@{outside[7]['email'].partition('@')[2]}"
        final = (
            f"{login}.{scene.rng.integers(11, 99)}@{outside[8]['email'].partition('@')[2]}"
            if hard
            else first_new
        )
        lines = [f"{row['name']}, {row['company']}" for row in guests]
        box.add(
            host,
            scene.say(f"{topic}: who comes", f"{topic}：来宾名单"),
            scene.say("The list of guests is attached.", "来宾名单见附件。"),
            box.ago(days=20),
            files={"guests.txt": "\n".join(lines) + "\n"},
        )
        final_guests = list(guests)
        if hard:
            box.add(
                host,
                scene.say(f"{topic}: one change", f"{topic}：一处变动"),
                scene.say(
                    f"{struck['name']} does not come. {newcomer['name']} of "
                    f"{newcomer['company']} comes instead.",
                    f"{struck['name']}不来了，由{newcomer['company']}的{newcomer['name']}代替。",
                ),
                box.ago(days=12),
            )
            final_guests = [row for row in guests if row is not struck] + [newcomer]
        box.add(
            moved,
            scene.say("Goodbye and hello", "告别与问候"),
            scene.say(
                f"I am changing employers. From today you reach me at {first_new}; the old "
                "address is switched off.",
                f"我换了单位，即日起请用{first_new}联系我，旧邮箱已停用。",
            ),
            box.ago(days=9),
        )
        box.insert("_dead", address=moved["email"])
        known = {row["email"] for row in box.store.rows("SELECT email FROM contacts")}
        if first_new in known or final in known:
            return None
        if hard:
            later = {"name": moved["name"], "email": final}
            box.add(
                later,
                scene.say("Please note", "请注意"),
                scene.say(
                    "My probation ended sooner than planned. I have moved on and now use "
                    f"{final} only.",
                    f"试用期提前结束，我又换了单位，现在只用{final}。",
                ),
                box.ago(days=3),
            )
            box.insert("_dead", address=first_new)
            namesake = {"name": guests[3]["name"], "email": f"office.{outside[7]['email']}"}
            box.contact(namesake, outside[7]["company"], outside[7]["role"])
        box.insert("_faults", address=busy["email"])
        at = box.ago(days=-int(scene.rng.integers(12, 30))).date()
        subject = scene.say(f"{topic}: date", f"{topic}：日期")
        text = scene.say(f"We look forward to seeing you on {at}.", f"期待{at}与您见面。")
        instruction = scene.say(
            f'Write one message to all guests of {host.name}\'s list for "{topic}" as it now '
            f'stands, all of them in the field for recipients. Subject: "{subject}". Text, '
            "exactly: "
            f"{text} Make sure that it reaches everybody. If a guest has a new address, also "
            "put it "
            "into the contact book.",
            f"给{host.name}的“{topic}”来宾名单上现有的全部来宾发一封邮件，都写在收件人栏。主题："
            f"“{subject}”。"
            f"正文只写：{text}请确认所有人都能收到。若有来宾换了地址，也请更新通讯录。",
        )
        right = [final if row is moved else row["email"] for row in final_guests]
        number = moved["id"]

        def contact(pilot: Pilot, address: str) -> Script:
            yield from pilot.goto("mail", f"/contacts/{number}")
            yield from pilot.fill(words(pilot, "contact_email"), address)
            yield from pilot.click("button", pilot.words("mail", "save"))

        def solver(to: Sequence[str], address: str = final, *, again: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from compose(pilot, to, subject, text)
                yield from contact(pilot, address)
                if again:
                    yield from pilot.goto("mail", "/failed")
                    yield from pilot.click("button", words(pilot, "mend"))
                    yield from pilot.fill(words(pilot, "to"), ", ".join(to))
                    yield from pilot.click("button", words(pilot, "send"))
                yield from pilot.finish()

            return solve

        def from_old(pilot: Pilot) -> Script:
            yield from contact(pilot, final)
            old = [moved["email"] if each == final else each for each in right]
            yield from compose(pilot, old, subject, text)
            for _ in range(2):
                for _ in range(4):
                    yield from pilot.look()
                yield from pilot.goto("mail", "/failed")
                yield from pilot.click("button", words(pilot, "mend"))
                yield from pilot.fill(words(pilot, "to"), ", ".join(right))
                yield from pilot.click("button", words(pilot, "send"))
                yield from pilot.goto("mail", "/failed")
                if not any(f'"{each}"' in pilot.screen for each in words(pilot, "mend")):
                    for _ in range(4):
                        yield from pilot.look()
                    yield from pilot.goto("mail", "/failed")
                    if not any(f'"{each}"' in pilot.screen for each in words(pilot, "mend")):
                        break
            yield from pilot.finish()

        return WebDraft(
            box.plan,
            instruction,
            solver(right),
            changes=together(
                box.expected(box.sent(right, text, subject=subject)),
                changed("mail", "contacts", number, email=final),
            ),
            alternatives={"from_old_address": from_old},
            mutants={
                "does_not_look": solver(right, again=False),
                "one_missing": solver(right[:-1]),
                "old_contact": solver(right, moved["email"]),
                "outdated_list": solver([*right[:-1], struck["email"] if hard else right[0]]),
            },
            turns=70 if hard else 40,
        )


TEMPLATES: tuple[WebTemplate, ...] = (FailedDelivery(),)
