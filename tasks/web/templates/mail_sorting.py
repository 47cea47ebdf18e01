"""Tasks on the mail site: forward the right version, and sort mail with a filter."""

from typing import ClassVar

from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Level
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import (
    ExpectedAnswer,
    Solver,
    WebDraft,
    WebScene,
    WebTemplate,
    added,
    changed,
    together,
)
from hexathlon.tasks.web.templates.mailbox import (
    Mailbox,
    forward,
    tick,
    words,
)

__all__ = ["TEMPLATES"]


class ForwardOffer(WebTemplate):
    """Forward an offer's newest version; in the twin it was withdrawn elsewhere."""

    name: ClassVar[str] = "mail_forward_offer"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an offer in two versions, another offer, and a withdrawal of one of them."""
        box = Mailbox(scene, scene.plan("mail"))
        outside = box.outsiders(2)
        if len(outside) < 2:
            return None
        seller, rival = outside
        (receiver,) = box.colleagues(1)
        place = scene.pick(
            (
                "North Hall|北厅",
                "South Hall|南厅",
                "Garden Wing|花园翼",
                "Harbour Office|港口办公室",
            )
        )
        hall = str(place.split("|")[scene.language == "zh"])
        refs = [f"OF-{n}" for n in scene.sample(range(210, 980), 2)]
        numbers = []
        days = (16.0, 14.0, 9.0)
        for (who, ref), age, version in zip(
            ((seller, refs[0]), (rival, refs[1]), (seller, refs[0])),
            days,
            (("first version", "初稿"), ("first version", "初稿"), ("second version", "第二版")),
            strict=True,
        ):
            file = f"{ref}-v{2 if age == 9.0 else 1}.txt"
            numbers.append(
                box.add(
                    who,
                    scene.say(
                        f"Offer {ref}: new floor for the {hall}, {version[0]}",
                        f"报价 {ref}：{hall}新地板，{version[1]}",
                    ),
                    scene.say(
                        "As discussed, please find our offer attached.", "如前所述，附上我方报价。"
                    ),
                    box.ago(days=age),
                    files={file: f"{ref} ({version[0]})\n"},
                )
            )
        gone = refs[1] if scene.feasible else refs[0]
        sender = rival if scene.feasible else seller
        other = seller if scene.feasible else rival
        notice = box.add(
            sender,
            scene.say("Material prices", "材料价格"),
            scene.say(
                f"The price of oak has doubled. We therefore withdraw offer {gone} with all its "
                "versions; a new one will take some weeks.",
                f"橡木价格翻倍，我方因此撤回报价{gone}的所有版本，新报价需数周。",
            ),
            box.ago(days=3),
        )
        idle = box.add(
            other,
            scene.say("Material prices", "材料价格"),
            scene.say(
                "The price of oak has doubled. Offers that are already out are not affected.",
                "橡木价格翻倍，已发出的报价不受影响。",
            ),
            box.ago(days=2.5),
        )
        note = scene.say("Please check by Friday.", "请周五前核对。")
        if scene.level == "easy":
            ask = scene.say(f"offer {refs[0]}", f"报价{refs[0]}")
        else:
            ask = scene.say(
                f"the offer of {seller['company']} for the {hall}",
                f"{seller['company']}对{hall}的报价",
            )
        instruction = scene.say(
            f"Forward the newest version of {ask} to {receiver.name} with exactly this text: "
            f"{note} If the offer has been withdrawn, forward nothing and report the number of "
            "the message that says so.",
            f"把{ask}的最新版本转发给{receiver.name}，正文只写：{note}如果该报价已被撤回，就不要"
            "转发，"
            "并报告撤回它的那封邮件的编号。",
        )
        right = numbers[2]

        def do(number: int, by_name: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if by_name:
                    yield from pilot.goto("mail", "/search?q=" + sender["email"])
                yield from pilot.goto("mail", f"/threads/{notice}")
                yield from forward(pilot, number, [receiver.email], note)
                yield from pilot.finish()

            return solve

        def report(number: int, looks: int = 0) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("mail", f"/threads/{looks or number}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(number))

            return solve

        evidence = (rf"mail\.hexathlon\.test/threads/{notice}$",)
        if scene.feasible:
            return WebDraft(
                box.plan,
                instruction,
                do(right),
                changes=box.expected(
                    box.sent(
                        [receiver.email],
                        note,
                        thread=right,
                        forwarded=right,
                        files=[f"{refs[0]}-v2.txt"],
                    )
                ),
                alternatives={"by_name": do(right, by_name=True)},
                mutants={
                    "old_version": do(numbers[0]),
                    "rival": do(numbers[1]),
                    "refuses": report(notice),
                },
            )

        def look_around(pilot: Pilot) -> Script:
            yield from pilot.goto("mail", f"/threads/{right}")
            yield from report(notice)(pilot)

        return WebDraft(
            box.plan,
            instruction,
            report(notice),
            evidence=evidence,
            answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(notice)),
            alternatives={"look_around": look_around},
            mutants={
                "does_it": do(right),
                "wrong_record": report(idle, looks=notice),
                "the_offer": report(right, looks=notice),
            },
        )


class SortWithFilter(WebTemplate):
    """Set up a filter; at the medium level it also meets an exception."""

    name: ClassVar[str] = "mail_filter"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a sender's domain, emails from it in the inbox, and a folder."""
        box = Mailbox(scene, scene.plan("mail"))
        outside = box.outsiders(3)
        if len(outside) < 3:
            return None
        folder = scene.pick(box.store.rows("SELECT name FROM folders ORDER BY name"))["name"]
        company, near = outside[0], outside[1]
        domain = company["email"].partition("@")[2]
        colleague = {"name": company["name"], "email": f"accounts@{domain}"}
        for k, age in enumerate(scene.sample(range(2, 40), 5)):
            number = f"{domain[:2].upper()}-{scene.rng.integers(100, 999)}"
            box.add(
                company if k % 2 else colleague,
                scene.say(f"Delivery note {number}", f"送货单 {number}"),
                scene.say("The goods have left our warehouse.", "货物已出库。"),
                box.ago(days=age),
                starred=int(k == 2),
            )
        box.add(
            near,
            scene.say(f"About {company['company']}", f"关于{company['company']}"),
            scene.say(f"Do you know {domain}?", f"您了解{domain}吗？"),
            box.ago(days=2),
        )
        medium = scene.level == "medium"
        instruction = scene.say(
            f'Set up a filter that moves mail from addresses at {domain} to the folder "{folder}".'
            + (
                " Let it also move what is in the inbox now, but starred messages must stay in the "
                "inbox."
                if medium
                else " Leave the messages that are already here where they are."
            ),
            f"建立一个过滤器，把来自{domain}的邮件移到文件夹“{folder}”。"
            + (
                "现在收件箱里的也要移过去，但加星标的邮件须留在收件箱。"
                if medium
                else "已有的邮件保持原位。"
            ),
        )
        world = scene.store(box.plan, "mail")
        rows = world.rows("SELECT * FROM messages WHERE folder = 'inbox' ORDER BY id")
        mine = [row for row in rows if row["sender"].endswith("@" + domain)]
        stars = [row for row in mine if row["starred"]]
        by_sql = world.rows(
            "SELECT id FROM messages WHERE folder = 'inbox' AND sender LIKE ? AND starred = 0",
            (f"%@{domain}",),
        )
        moved = sorted(row["id"] for row in mine if not row["starred"])
        if moved != sorted(row["id"] for row in by_sql) or not stars or len(moved) > 14:
            return None

        def make(pilot: Pilot, contains: str, existing: bool, target: str = folder) -> Script:
            yield from pilot.goto("mail", "/filters/new")
            yield from pilot.fill(words(pilot, "contains"), contains)
            move = next(each for each in words(pilot, "do_move") if _offered(pilot, each))
            yield from pilot.select(words(pilot, "filter_action"), move)
            yield from pilot.select(words(pilot, "target"), target)
            if existing:
                yield from pilot.click("checkbox", words(pilot, "existing"))
            yield from pilot.click("button", pilot.words("mail", "save"))

        def solver(contains: str, existing: bool, mend: bool) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from make(pilot, contains, existing)
                if mend:
                    numbers = [row["id"] for row in stars]
                    yield from tick(pilot, f"/search?q=is:starred from:{domain}", numbers, "inbox")
                yield from pilot.finish()

            return solve

        def by_hand(pilot: Pilot) -> Script:
            yield from make(pilot, domain if not medium else f"@{domain}", False)
            if medium:
                yield from tick(pilot, f"/search?q=in:inbox from:{domain}", moved, "move", folder)
            yield from pilot.finish()

        def deletes(pilot: Pilot) -> Script:
            yield from make(pilot, domain, medium)
            yield from tick(pilot, f"/search?q=from:{domain}", [moved[0]], "trash")
            yield from pilot.finish()

        expected = added(
            "mail",
            "filters",
            {
                "field": "sender",
                "contains": {"one_of": [domain, f"@{domain}"]},
                "action": "move",
                "target": folder,
            },
        )
        if medium:
            expected = together(
                expected, *(changed("mail", "messages", each, folder=folder) for each in moved)
            )
        return WebDraft(
            box.plan,
            instruction,
            solver(domain, medium, medium),
            changes=expected,
            alternatives={"by_hand": by_hand},
            mutants={
                "other_existing": solver(domain, not medium, False),
                "every_domain": solver(f"{domain} {near['email'].partition('@')[2]}", False, False),
                "wrong_domain": solver(near["email"].partition("@")[2], medium, False),
                "deletes_one": deletes,
            },
            turns=40,
        )


def _offered(pilot: Pilot, option: str) -> bool:
    return f" {option}," in pilot.screen


TEMPLATES: tuple[WebTemplate, ...] = (ForwardOffer(), SortWithFilter())
