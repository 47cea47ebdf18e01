"""Tasks on the tracker."""

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
)
from hexathlon.tasks.web.world.sites.tracker.vocabulary import label_of

__all__ = ["TEMPLATES"]


class SetPriority(WebTemplate):
    """Change one field of one issue."""

    name: ClassVar[str] = "tracker_set_priority"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an issue with a unique title."""
        plan = scene.plan("tracker")
        store = scene.store(plan, "tracker")
        rows = store.rows("SELECT * FROM issues GROUP BY title HAVING count(*) = 1 ORDER BY number")
        if not rows:
            return None
        row = scene.pick(rows)
        priority = scene.pick(
            [each for each in ("p1", "p2", "p3", "p4") if each != row["priority"]]
        )
        label = label_of(priority, scene.language)
        instruction = scene.say(
            f'Set the priority of the issue "{row["title"]}" to {label}.',
            f"把问题“{row['title']}”的优先级改为“{label}”。",
        )
        other = scene.pick([each for each in rows if each["number"] != row["number"]])

        def solver(number: int, value: str, *, also_status: bool = False) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("tracker", f"/issues/{number}")
                yield from pilot.select(pilot.words("tracker", "priority"), value)
                if also_status:
                    status = pilot.words("tracker", "status")
                    yield from pilot.select(
                        status,
                        label_of("review" if row["status"] != "review" else "open", pilot.language),
                    )
                yield from pilot.click("button", pilot.words("tracker", "save"))
                yield from pilot.finish()

            return solve

        def by_list(pilot: Pilot) -> Script:
            yield from pilot.look()
            yield from pilot.fill(pilot.words("tracker", "search"), row["title"])
            yield from pilot.click("button", pilot.words("tracker", "filter"))
            yield from pilot.click("link", f"#{row['number']} {row['title']}")
            yield from pilot.select(pilot.words("tracker", "priority"), label)
            yield from pilot.click("button", pilot.words("tracker", "save"))
            yield from pilot.finish()

        wrong = label_of("p4" if priority != "p4" else "p1", scene.language)
        return WebDraft(
            plan,
            instruction,
            solver(row["number"], label),
            changes=changed("tracker", "issues", row["number"], priority=priority),
            alternatives={"by_list": by_list},
            mutants={
                "wrong_value": solver(row["number"], wrong),
                "wrong_issue": solver(other["number"], label),
                "status_too": solver(row["number"], label, also_status=True),
            },
            turns=20,
        )


class CloseUnlessBlocked(WebTemplate):
    """Close an issue; in the twin an open issue blocks it, as a link or the attempt shows."""

    name: ClassVar[str] = "tracker_close"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an open issue with a link; whether the linked one is open decides."""
        plan = scene.plan("tracker")
        store = scene.store(plan, "tracker")
        rows = store.rows(
            "SELECT * FROM issues WHERE status IN ('open', 'progress', 'testing') "
            "GROUP BY title HAVING count(*) = 1 ORDER BY number"
        )
        if len(rows) < 4:
            return None
        row, blocker, other, third = scene.sample(rows, 4)
        status = "done" if scene.feasible else "progress"
        plan = plan.with_edits(
            [
                ("tracker", "UPDATE issues SET status = ? WHERE number = ?",
                 (status, blocker["number"])),
                ("tracker", "INSERT INTO links (issue, kind, other) VALUES (?, 'blocked_by', ?)",
                 (row["number"], blocker["number"])),
                ("tracker", "INSERT INTO links (issue, kind, other) VALUES (?, 'relates', ?)",
                 (row["number"], third["number"])),
            ]
        )  # fmt: skip
        remark = scene.say(
            "Checked with support, nothing is left to do.", "已与支持团队确认，没有遗留问题。"
        )
        instruction = scene.say(
            f'Add the comment "{remark}" to the issue "{row["title"]}" and then close it as done. '
            "If it cannot be closed, leave no comment and report the issue that stands in the way.",
            f"给问题“{row['title']}”添加评论“{remark}”，然后以“已完成”关闭它。"
            "如果无法关闭，就不要留下评论，并报告挡住它的那个问题的编号。",
        )

        def commented(pilot: Pilot, number: int) -> Script:
            yield from pilot.goto("tracker", f"/issues/{number}")
            yield from pilot.fill(pilot.words("tracker", "comment"), remark)
            yield from pilot.click("button", pilot.words("tracker", "add_comment"))

        def close(pilot: Pilot, number: int) -> Script:
            yield from pilot.goto("tracker", f"/issues/{number}")
            yield from pilot.click("button", pilot.words("tracker", "close_issue"))
            yield from pilot.click("button", pilot.words("tracker", "close_issue"))

        def do(pilot: Pilot) -> Script:
            yield from commented(pilot, row["number"])
            yield from close(pilot, row["number"])
            yield from pilot.finish()

        def report(record: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("tracker", f"/issues/{row['number']}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(record))

            return solve

        def other_issue(pilot: Pilot) -> Script:
            yield from commented(pilot, other["number"])
            yield from close(pilot, other["number"])
            yield from pilot.finish()

        def try_first(pilot: Pilot) -> Script:
            yield from close(pilot, row["number"])
            if scene.feasible:
                yield from commented(pilot, row["number"])
                yield from pilot.finish()
            else:
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", f"#{blocker['number']}")

        evidence = (rf"tracker\.hexathlon\.test/issues/{row['number']}$",)
        person = scene.people(plan)[0].login
        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(blocker["number"]),
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(blocker["number"])),
                evidence=evidence,
                alternatives={"try_first": try_first},
                mutants={
                    "does_it": do,
                    "wrong_record": report(third["number"]),
                    "own_record": report(row["number"]),
                },
            )
        expected = {
            "tracker": {
                "issues": {"changed": [[row["number"], {"status": "done"}]]},
                **added(
                    "tracker",
                    "comments",
                    {"issue": row["number"], "author": person, "body": remark},
                )["tracker"],
            }
        }
        return WebDraft(
            plan, instruction, do, changes=expected, evidence=evidence,
            alternatives={"try_first": try_first},
            mutants={"refuses": report(blocker["number"]), "other_issue": other_issue,
                     "comment_only": lambda pilot: commented(pilot, row["number"])},
        )  # fmt: skip


TEMPLATES: tuple[WebTemplate, ...] = (SetPriority(), CloseUnlessBlocked())
