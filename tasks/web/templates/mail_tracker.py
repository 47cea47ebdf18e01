"""A hard task on mail and tracker: carry out the decisions of a conversation about issues."""

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
from hexathlon.tasks.web.templates.mailbox import Mailbox, reply
from hexathlon.tasks.web.world.sites.tracker.vocabulary import label_of

__all__ = ["TEMPLATES"]


class TriageByMail(WebTemplate):
    """Set priorities that a conversation has settled, under a project's rules, and confirm them."""

    name: ClassVar[str] = "mail_tracker_triage"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw issues, wishes, objections with and without authority, and a rule."""
        base = scene.plan("mail", "tracker")
        box = Mailbox(scene, base)
        tracker = scene.store(base, "tracker")
        project = scene.pick(tracker.rows("SELECT * FROM projects ORDER BY key"))
        rows = tracker.rows(
            "SELECT * FROM issues WHERE project = ? AND status IN ('open', 'progress', "
            "'review') AND "
            "title IN (SELECT title FROM issues GROUP BY title HAVING count(*) > 1) ORDER BY "
            "number",
            (project["key"],),
        )
        rows = [row for row in rows if row["priority"] != "p4"]
        critical = [row for row in rows if row["priority"] == "p1"]
        normal = [row for row in rows if row["priority"] in ("p2", "p3")]
        if len(critical) < 2 or len(normal) < 8:
            return None
        twice, allowed = scene.sample(critical, 2)
        owned = [row for row in normal if row["assignee"]]
        if not owned:
            return None
        extra = scene.pick(owned)
        others = scene.sample([row for row in normal if row is not extra], 7)
        struck, testing, objected, outsider = others[:4]
        plain = others[4:]
        lead, speaker, member = scene.sample(
            [person for person in box.people[1:] if person.login != project["lead"]], 3
        )
        names = {person.login: person for person in box.people}
        chief = names[project["lead"]]
        if chief == box.me:
            return None
        agent = speaker
        edits = [
            (
                "tracker",
                "UPDATE projects SET policy = ? WHERE key = ?",
                (
                    scene.say(
                        "Critical issues are postponed only if the project lead agrees by mail. "
                        "Issues in review or testing are never postponed. "
                        f"{lead.name} may keep an issue by mail; others may ask, but only the "
                        f"project lead and {lead.name} decide. Postponed means: priority Low, "
                        "everything else as it was.",
                        "“紧急”问题只有经项目负责人邮件同意才能推迟。处于“评审中”或“测试中”的问题"
                        f"不得推迟。{lead.name}可以用邮件保留问题；其他人可以提请求，但只有项目负责人和"
                        f"{lead.name}能决定。推迟是指：优先级改为“低”，其余不变。",
                    ),
                    project["key"],
                ),
            ),
            *(
                (
                    "tracker",
                    "UPDATE issues SET status = ? WHERE number = ?",
                    (status, row["number"]),
                )
                for row, status in (
                    (testing, "testing"),
                    (struck, "open"),
                    (extra, "open"),
                    (objected, "progress"),
                    (twice, "open"),
                    (allowed, "open"),
                    (outsider, "open"),
                    *((row, "open") for row in plain),
                )
            ),
        ]
        listed = [*plain, struck, testing, objected, twice, allowed]
        numbers = ", ".join(f"#{row['number']}" for row in scene.sample(listed, len(listed)))
        topic = scene.say(
            f"{project['name']}: what we postpone", f"{project['name']}：推迟哪些问题"
        )
        again = scene.say(f"Re: {topic}", f"回复：{topic}")
        thread = box.add(
            agent,
            topic,
            scene.say(f"My proposal for what we postpone: {numbers}.", f"我建议推迟：{numbers}。"),
            box.ago(days=6),
        )
        box.add(
            lead,
            again,
            scene.say(
                f"#{struck['number']} has to stay, I need it for the fair. What about the one "
                f'titled "{extra["title"]}" that '
                f"{names.get(extra['assignee'], agent).name if extra['assignee'] else 'nobody'} "
                "has?",
                f"#{struck['number']}必须保留，展会要用。另外标题为"
                f"“{extra['title']}”、负责人为"
                f"{names[extra['assignee']].name if extra['assignee'] else '无'}的"
                "那个呢？",
            ),
            box.ago(days=5),
            thread=thread,
        )
        box.add(
            chief,
            again,
            scene.say(
                f"The one with that title can wait; I mean #{extra['number']}. "
                f"#{allowed['number']} "
                "may wait too, although it is critical.",
                f"那个标题的可以推迟，我指#{extra['number']}。"
                f"#{allowed['number']}虽然紧急，也可以推迟。",
            ),
            box.ago(days=4),
            thread=thread,
        )
        box.add(
            member,
            again,
            scene.say(
                f"Please keep #{objected['number']}, and postpone #{outsider['number']} instead.",
                f"请保留#{objected['number']}，改为推迟#{outsider['number']}。",
            ),
            box.ago(days=3),
            thread=thread,
        )
        box.add(
            agent,
            again,
            scene.say(f"I count #{twice['number']} in, too.", f"我把#{twice['number']}也算上。"),
            box.ago(days=2.5),
            thread=thread,
        )
        box.add(
            chief,
            scene.say("Short note", "简短说明"),
            scene.say(
                f"About {project['name']}: on second thoughts #{plain[0]['number']} stays as it "
                "is.",
                f"关于{project['name']}：再想了想，#{plain[0]['number']}保持原样。",
            ),
            box.ago(days=1),
        )
        final = sorted(row["number"] for row in (*plain[1:], objected, extra, allowed))
        check = {row["number"] for row in listed} - {
            struck["number"],
            testing["number"],
            twice["number"],
            plain[0]["number"],
        } | {extra["number"]}
        if set(final) != check:
            return None
        plan = base.with_edits([*box.edits, *edits])
        low = label_of("p4", scene.language)
        shown = ", ".join(str(each) for each in final)
        text = scene.say(f"Postponed: {shown}", f"已推迟：{shown}")
        instruction = scene.say(
            f'The conversation "{topic}" and other mail about it settle which issues of the '
            f"project {project['name']} are postponed; the project's page in the tracker has "
            "the rules for that. Carry the result out in the tracker. Then reply to "
            f"the first message of the conversation, by {agent.name}, to its sender only, "
            'with exactly the text "Postponed: " and the numbers of all postponed issues in '
            'ascending order, separated by a comma and a blank, without #, such as "Postponed: '
            '7, 12, 31".',
            f"邮件会话“{topic}”及其他相关邮件决定了项目{project['name']}推迟哪些问题，规则见任务"
            f"系统的项目页。请在任务系统中执行结果，然后回复该会话的第一封邮件（{agent.name}的建"
            "议），只发给发件人，正文只写“已推迟：”和所有被推迟问题的编号，升序，以英文逗号加空"
            "格分隔，不带#，例如“已推迟：7, 12, 31”。",
        )

        def solver(issues: list[int], body: str = text, *, mail_first: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("mail", f"/threads/{thread}")
                yield from pilot.goto("tracker", f"/projects/{project['key']}")
                if mail_first:
                    yield from reply(pilot, thread, body)
                for number in issues:
                    yield from pilot.goto("tracker", f"/issues/{number}")
                    yield from pilot.select(pilot.words("tracker", "priority"), low)
                    yield from pilot.click("button", pilot.words("tracker", "save"))
                if not mail_first:
                    yield from reply(pilot, thread, body)
                yield from pilot.finish()

            return solve

        def said(issues: list[int]) -> str:
            listing = ", ".join(str(each) for each in sorted(issues))
            return scene.say(f"Postponed: {listing}", f"已推迟：{listing}")

        no_note = sorted([*final, plain[0]["number"]])
        no_rule = sorted([*final, testing["number"]])
        return WebDraft(
            plan,
            instruction,
            solver(final),
            changes=together(
                *(changed("tracker", "issues", each, priority="p4") for each in final),
                box.expected(box.sent([agent.email], text, thread=thread)),
            ),
            evidence=(
                rf"mail\.hexathlon\.test/threads/{thread}$",
                rf"tracker\.hexathlon\.test/projects/{project['key']}$",
            ),
            alternatives={"mail_first": solver(final, mail_first=True)},
            mutants={
                "note_overlooked": solver(no_note, said(no_note)),
                "rule_overlooked": solver(no_rule, said(no_rule)),
                "one_missed": solver(final[1:]),
                "not_told": solver(final, said(final[1:])),
            },
            turns=60,
        )


TEMPLATES: tuple[WebTemplate, ...] = (TriageByMail(),)
