"""A hard task on the tracker: closing a milestone."""

from collections.abc import Mapping, Sequence
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
from hexathlon.tasks.web.templates.tracker_rules import issue_edit, rule_edits
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.sites.tracker.vocabulary import label_of
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES"]

_DONE = ("done", "rejected")


class CloseMilestone(WebTemplate):
    """Empty and close a milestone; in the twin a critical issue keeps it open."""

    name: ClassVar[str] = "tracker_close_milestone"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a milestone with issues of every kind."""
        plan = scene.plan("tracker")
        store = scene.store(plan, "tracker")
        hard = scene.demanding()
        project = scene.pick(store.rows("SELECT * FROM projects ORDER BY key"))
        stones = store.rows(
            "SELECT * FROM milestones WHERE project = ? AND state = 'open' ORDER BY due",
            (project["key"],),
        )
        if len(stones) < 3:
            return None
        stone, after = stones[0], stones[1]
        rows = store.rows(
            "SELECT * FROM issues WHERE milestone = ? ORDER BY number", (stone["id"],)
        )
        specs = [("open", "p2", "api"), ("progress", "p3", "sync"), ("testing", "p3", "search"),
                 ("open", "p1", "login"), ("done", "p2", "api"), ("rejected", "p1", "sync")]  # fmt: skip
        if hard:
            specs += [
                ("open", "p4", "charts"),
                ("review", "p2", "billing"),
                ("testing", "p4", "export"),
                ("progress", "p2", "billing"),
            ]
        if len(rows) < len(specs):
            return None
        chosen = scene.sample(rows, len(specs))
        kept = [row["number"] for row in chosen]
        marks = ", ".join("?" * len(kept))
        edits: list[Edit] = [
            (
                "tracker",
                f"UPDATE issues SET milestone = 0 WHERE milestone = ? AND number NOT IN ({marks})",
                (stone["id"], *kept),
            )
        ]
        for row, (status, priority, component) in zip(chosen, specs, strict=True):
            edits.append(
                issue_edit(row["number"], status=status, priority=priority, component=component)
            )
        critical = chosen[3]
        edits.append(issue_edit(critical["number"], status="done" if scene.feasible else "open"))
        head, say = scene.people(plan)[1].login, scene.say
        lines = [
            ("", "2025-01-15", head, say(
                "Before a milestone is closed, its unresolved issues move to the project's next "
                "open milestone by due date; then it is closed.",
                "关闭里程碑之前，其未解决的问题移至该项目按截止日期排列的下一个进行中的里程碑，然后将其关闭。")),
            ("", "2025-01-15", head, say(
                "Issues in testing do not move: they are set to done.",
                "测试中的问题不移动，而是设为已完成。")),
        ]  # fmt: skip
        if hard:
            lines += [
                (project["key"], "2025-07-01", head, say(
                    "In this project, low priority issues lose their milestone instead of moving; "
                    "this goes before all other rules.",
                    "在本项目中，低优先级问题不移动，而是清除里程碑；此条优先于其他规则。")),
                (project["key"], "2025-10-01", head, say(
                    "Billing issues of this project skip one milestone: they move to the one after "
                    "the next.", "本项目的计费问题跳过一个里程碑，移至再下一个。")),
            ]  # fmt: skip
        plan = plan.with_edits([*edits, *rule_edits(90, lines)])
        store = scene.store(plan, "tracker")
        right = _moves(store, stone, stones, hard=hard)
        expected: dict[int, dict[str, Any]] = {}
        for row, (status, priority, component) in zip(chosen, specs, strict=True):
            if row is critical or status in _DONE:
                continue
            if hard and priority == "p4":
                expected[row["number"]] = {"milestone": 0}
            elif status == "testing":
                expected[row["number"]] = {"status": "done"}
            else:
                place = 2 if hard and component == "billing" else 1
                expected[row["number"]] = {"milestone": stones[place]["id"]}
        if scene.feasible and right != expected:
            return None
        stone_names = {row["id"]: row["name"] for row in stones}
        instruction = scene.say(
            f'Close the milestone "{stone["name"]}" of the project {project["name"]} as the '
            "tracker's rules say, with everything they ask for beforehand. If it cannot be closed, "
            "change nothing and report the number of the issue that prevents it.",
            f"请按系统中的规则关闭项目“{project['name']}”的里程碑“{stone['name']}”，并先完成规则要求的一切。"
            "如果无法关闭，则不要更改任何内容，并报告妨碍关闭的问题编号。",
        )
        evidence = (rf"tracker\.hexathlon\.test/(milestones/{stone['id']}|issues)",)

        def solver(moves: Mapping[int, Mapping[str, Any]], *, close: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("tracker", "/rules")
                yield from pilot.goto("tracker", f"/projects/{project['key']}")
                yield from pilot.goto("tracker", f"/milestones/{stone['id']}")
                for number, values in moves.items():
                    yield from pilot.goto("tracker", f"/issues/{number}")
                    if "status" in values:
                        yield from pilot.select(
                            pilot.words("tracker", "status"), label_of("done", pilot.language)
                        )
                    elif values["milestone"]:
                        yield from pilot.select(
                            pilot.words("tracker", "milestone"), stone_names[values["milestone"]]
                        )
                    else:
                        bid = pilot.find("combobox", pilot.words("tracker", "milestone"))
                        yield from pilot.act("select_option", bid=bid, options="0")
                    yield from pilot.click("button", pilot.words("tracker", "save"))
                if close:
                    yield from pilot.goto("tracker", f"/milestones/{stone['id']}")
                    for _ in range(2):
                        yield from pilot.click("button", pilot.words("tracker", "close_milestone"))
                yield from pilot.finish()

            return solve

        def report(number: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("tracker", f"/milestones/{stone['id']}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", f"#{number}")

            return solve

        def attempt(pilot: Pilot) -> Script:
            if scene.feasible:
                yield from solver(dict(reversed(expected.items())))(pilot)
                return
            yield from pilot.goto("tracker", f"/milestones/{stone['id']}")
            for _ in range(2):
                yield from pilot.click("button", pilot.words("tracker", "close_milestone"))
            yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(critical["number"]))

        all_move = {number: {"milestone": after["id"]} for number in expected}
        mutants: dict[str, Solver] = {
            "all_move": solver(all_move),
            "not_closed": solver(expected, close=False),
            "one_missing": solver(dict(list(expected.items())[1:])),
            "wrong_record": report(chosen[0]["number"]),
        }
        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(critical["number"]),
                evidence=evidence,
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(critical["number"])),
                alternatives={"attempt": attempt},
                mutants=mutants,
                turns=60,
            )
        return WebDraft(
            plan,
            instruction,
            solver(expected),
            evidence=evidence,
            changes=together(
                *(
                    changed("tracker", "issues", number, **values)
                    for number, values in expected.items()
                ),
                changed("tracker", "milestones", stone["id"], state="closed"),
            ),
            alternatives={"attempt": attempt},
            mutants={**mutants, "refuses": report(critical["number"]), "only_close": solver({})},
            turns=60,
        )


def _moves(
    store: SiteStore, stone: StoreRow, stones: Sequence[StoreRow], *, hard: bool
) -> dict[int, dict[str, Any]]:
    """Return the changes that follow from the rules, from the issues as stored."""
    rows = store.rows(
        "SELECT number, CASE WHEN :hard AND priority = 'p4' THEN 'drop' WHEN status = 'testing' "
        "THEN 'finish' WHEN :hard AND component = 'billing' THEN 'skip' ELSE 'move' END AS act "
        "FROM issues WHERE milestone = :stone AND status NOT IN ('done', 'rejected')",
        {"hard": int(hard), "stone": stone["id"]},
    )
    outcome: Mapping[str, dict[str, Any]] = {
        "drop": {"milestone": 0},
        "finish": {"status": "done"},
        "skip": {"milestone": stones[2]["id"]},
        "move": {"milestone": stones[1]["id"]},
    }
    return {row["number"]: outcome[row["act"]] for row in rows}


TEMPLATES: tuple[WebTemplate, ...] = (CloseMilestone(),)
