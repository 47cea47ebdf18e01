"""Hard tasks on the tracker: merging, handing over and releasing by rules with exceptions."""

from collections.abc import Sequence
from datetime import datetime, timedelta
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
    added,
    changed,
    together,
)
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES", "assign", "issue_edit", "rule_edits"]


def rule_edits(first: int, lines: Sequence[tuple[str, str, str, str]]) -> list[Edit]:
    """Return the edits that add rules: project, date, who decided, text."""
    sql = "INSERT INTO rules (id, project, since, decided, body) VALUES (?, ?, ?, ?, ?)"
    return [("tracker", sql, (first + i, *line)) for i, line in enumerate(lines)]


def issue_edit(number: int, **values: Any) -> Edit:
    """Return the edit that sets fields of an issue."""
    names = ", ".join(f"{name} = ?" for name in values)
    return ("tracker", f"UPDATE issues SET {names} WHERE number = ?", (*values.values(), number))


def assign(pilot: Pilot, number: int, person: str) -> Script:
    """Assign an issue on its page."""
    yield from pilot.goto("tracker", f"/issues/{number}")
    yield from pilot.select(pilot.words("tracker", "assignee"), person)
    yield from pilot.click("button", pilot.words("tracker", "save"))


def merge(pilot: Pilot, number: int, target: int) -> Script:
    """Merge an issue into another."""
    yield from pilot.goto("tracker", f"/issues/{number}")
    yield from pilot.click("button", pilot.words("tracker", "merge"))
    yield from pilot.fill(pilot.words("tracker", "merge_target"), str(target))
    yield from pilot.click("button", pilot.words("tracker", "merge"))


class MergeDuplicates(WebTemplate):
    """Merge all issues about one reference into the right one; in the twin one cannot be merged."""

    name: ClassVar[str] = "tracker_merge"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    twins: ClassVar[bool] = True

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw issues of one project; in the twin one of them belongs to another project."""
        plan = scene.plan("tracker")
        store = scene.store(plan, "tracker")
        hard = scene.demanding()
        projects = [row["key"] for row in store.rows("SELECT key FROM projects ORDER BY key")]
        project, elsewhere = scene.sample(projects, 2)
        rows = store.rows("SELECT * FROM issues WHERE project = ? ORDER BY number", (project,))
        chosen = scene.sample(rows, 7 if hard else 5)
        blocker = scene.pick([row for row in rows if row not in chosen])
        code = int(scene.rng.integers(100, 1_000))
        reference, near = f"C-4{code}", f"C-7{code}"
        start = datetime.fromisoformat(plan.start)
        ages = sorted(
            (int(i) for i in 20 + scene.rng.permutation(150)[: len(chosen)]), reverse=True
        )
        # The oldest, a newer one in testing, a critical one (hard), plain ones, a blocked one (hard).
        statuses = ["open", "testing", "progress", "open", "done", "progress", "open"]
        texts = [
            scene.say(
                f"Reported by a customer, reference {reference}.", f"客户报告，参考号{reference}。"
            )
            if i < (6 if hard else 4)
            else scene.say(
                f"Reported by a customer, reference {near}.", f"客户报告，参考号{near}。"
            )
            for i in range(len(chosen))
        ]
        edits: list[Edit] = []
        for i, (row, age) in enumerate(zip(chosen, ages, strict=True)):
            edits.append(
                issue_edit(
                    row["number"],
                    status="open" if i == len(chosen) - 1 else statuses[i],
                    body=texts[i],
                    priority="p1" if hard and i == 2 else "p3",
                    created=(start - timedelta(days=age)).isoformat(" ", "seconds"),
                )
            )
            edits.append(("tracker", "DELETE FROM links WHERE issue = ?", (row["number"],)))
        odd = chosen[3]
        if not scene.feasible:
            edits.append(issue_edit(odd["number"], project=elsewhere))
        # The blocker is open in both variants of the task.
        edits.append(issue_edit(blocker["number"], status="open", body=""))
        if hard:
            edits.append(
                (
                    "tracker",
                    "INSERT INTO links (issue, kind, other) VALUES (?, 'blocked_by', ?)",
                    (chosen[5]["number"], blocker["number"]),
                )
            )
        head = scene.people(plan)[1].login
        say = scene.say
        lines = [
            ("", "2025-03-01", head, say(
                "Duplicates are merged into the oldest of them by creation time that is neither "
                "done nor rejected.", "重复问题并入其中创建时间最早且未完成未拒绝的那个。")),
            ("", "2025-05-01", head, say(
                "If one of the duplicates is in review or testing, it takes the place of the "
                "oldest.", "若其中某个处于评审或测试中，则以它代替最早的那个。")),
            ("", "2025-05-01", head, say(
                "Issues that are done or rejected are left as they are.",
                "已完成或已拒绝的问题保持不变。")),
        ]  # fmt: skip
        if hard:
            lines += [
                ("", "2025-09-01", head, say(
                    "A critical issue is never merged into another: it is the target, whatever "
                    "the other rules say.", "紧急问题绝不并入其他问题：无论其他规则如何，它都是合并目标。")),
                ("", "2025-09-01", head, say(
                    "A duplicate that is blocked by an unresolved issue stays on its own.",
                    "被未解决问题阻塞的重复问题单独保留。")),
            ]  # fmt: skip
        plan = plan.with_edits([*edits, *rule_edits(70, lines)])
        store = scene.store(plan, "tracker")
        target = chosen[2] if hard else chosen[1]
        victims = [chosen[0], chosen[1], chosen[3]] if hard else [chosen[0], chosen[2], chosen[3]]
        if _merge_plan(store, reference, hard=hard) != (
            target["number"],
            sorted(row["number"] for row in victims),
        ):
            return None
        instruction = scene.say(
            f"Several issues are about the customer reference {reference}, which stands in their "
            "descriptions. Merge the duplicates as the tracker's rules say. If one that would "
            "have to be merged cannot be merged into the right one, merge none and report its "
            "number.",
            f"有几个问题涉及客户参考号{reference}（见其描述）。请按系统中的规则合并重复问题。"
            "如果某个应合并的问题无法并入正确的目标，则一个都不合并，并报告它的编号。",
        )
        evidence = (r"tracker\.hexathlon\.test/rules", r"tracker\.hexathlon\.test/issues")

        def solver(into: StoreRow, items: Sequence[StoreRow], *, rules: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                if rules:
                    yield from pilot.goto("tracker", "/rules")
                    yield from pilot.goto("tracker", f"/issues?q={reference}")
                for row in items:
                    yield from merge(pilot, row["number"], into["number"])
                yield from pilot.finish()

            return solve

        def report(number: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("tracker", "/rules")
                for row in chosen:
                    yield from pilot.goto("tracker", f"/issues/{row['number']}")
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", f"#{number}")

            return solve

        def by_search(pilot: Pilot) -> Script:
            yield from pilot.goto("tracker", "/rules")
            yield from pilot.goto("tracker", "/issues")
            yield from pilot.fill(pilot.words("tracker", "search"), reference)
            yield from pilot.click("button", pilot.words("tracker", "filter"))
            if not scene.feasible:
                yield from pilot.refuse("ACTION_NOT_ALLOWED_ERROR", str(odd["number"]))
                return
            for row in reversed(victims):
                yield from merge(pilot, row["number"], target["number"])
            yield from pilot.finish()

        wrong_target = chosen[1] if hard else chosen[0]
        mutants: dict[str, Solver] = {
            "other_target": solver(
                wrong_target, [row for row in [*victims, target] if row is not wrong_target]
            ),
            "one_missing": solver(target, victims[:-1]),
            "wrong_record": report(chosen[0]["number"]),
            "near_reference": solver(target, [*victims, chosen[-1]]),
        }
        if hard:
            mutants["blocked_too"] = solver(target, [*victims, chosen[5]])
        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(odd["number"]),
                evidence=evidence,
                answer=ExpectedAnswer("ACTION_NOT_ALLOWED_ERROR", record=str(odd["number"])),
                alternatives={"by_search": by_search},
                mutants={**mutants, "what_works": solver(target, victims[:2])},
                turns=50,
            )
        known = _logins(store, target["number"])
        watchers = []
        for row in victims:
            for login in _logins(store, row["number"]):
                if login not in known:
                    known.append(login)
                    watchers.append({"issue": target["number"], "login": login})
        return WebDraft(
            plan, instruction, solver(target, victims), evidence=evidence,
            changes=together(
                *(changed("tracker", "issues", row["number"], status="rejected")
                  for row in victims),
                added("tracker", "links", *({"issue": row["number"], "kind": "duplicates",
                                             "other": target["number"]} for row in victims)),
                added("tracker", "watchers", *watchers),
            ),
            alternatives={"by_search": by_search},
            mutants={**mutants, "refuses": report(odd["number"])}, turns=50,
        )  # fmt: skip


def _logins(store: SiteStore, number: int) -> list[str]:
    rows = store.rows("SELECT login FROM watchers WHERE issue = ? ORDER BY id", (number,))
    return [row["login"] for row in rows]


def _merge_plan(store: SiteStore, reference: str, *, hard: bool) -> tuple[int, list[int]]:
    """Return the target and the issues to merge, from the issues as stored."""
    rows = store.rows(
        "SELECT i.*, (SELECT count(*) FROM links l JOIN issues b ON b.number = l.other WHERE "
        "l.issue = i.number AND l.kind = 'blocked_by' AND b.status NOT IN ('done', 'rejected')) "
        "AS waits FROM issues i WHERE body LIKE ? AND status NOT IN ('done', 'rejected')",
        (f"%{reference}%",),
    )
    ranks = sorted(
        rows,
        key=lambda row: (
            not (hard and row["priority"] == "p1"),
            row["status"] not in ("review", "testing"),
            row["created"],
        ),
    )
    target = ranks[0]
    return target["number"], sorted(
        row["number"] for row in ranks[1:] if not (hard and row["waits"])
    )


TEMPLATES: tuple[WebTemplate, ...] = (MergeDuplicates(),)
