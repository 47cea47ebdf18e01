"""Everyday tasks on the tracker: watching, the board, counting, filters, bulk changes."""

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
from hexathlon.tasks.web.world.sites.tracker.vocabulary import COMPONENTS, STATUSES, label_of
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES"]

_TRIES = 8
"""Number of draws in a world before a new world is used."""


_OPEN = "status NOT IN ('done', 'rejected')"


def unique_issues(store: SiteStore, where: str = "1") -> list[StoreRow]:
    """Return issues with unique titles."""
    return store.rows(
        f"SELECT * FROM issues WHERE {where} AND title IN (SELECT title FROM issues GROUP BY title "
        "HAVING count(*) = 1) ORDER BY number"
    )


class WatchIssue(WebTemplate):
    """Watch an issue."""

    name: ClassVar[str] = "tracker_watch"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an issue that the user does not watch."""
        plan = scene.plan("tracker")
        store = scene.store(plan, "tracker")
        person = scene.people(plan)[0].login
        held = {
            row["issue"]
            for row in store.rows("SELECT issue FROM watchers WHERE login = ?", (person,))
        }
        rows = [row for row in unique_issues(store) if row["number"] not in held]
        if len(rows) < 2:
            return None
        row, other = scene.sample(rows, 2)
        instruction = scene.say(f'Watch the issue "{row["title"]}".', f"关注问题“{row['title']}”。")

        def solver(*numbers: int) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for number in numbers:
                    yield from pilot.goto("tracker", f"/issues/{number}")
                    names = (*pilot.words("tracker", "watch"), *pilot.words("tracker", "unwatch"))
                    yield from pilot.click("button", names)
                yield from pilot.finish()

            return solve

        def by_search(pilot: Pilot) -> Script:
            yield from pilot.look()
            yield from pilot.fill(pilot.words("tracker", "search"), row["title"])
            yield from pilot.click("button", pilot.words("tracker", "filter"))
            yield from pilot.click("link", f"#{row['number']} {row['title']}")
            yield from pilot.click("button", pilot.words("tracker", "watch"))
            yield from pilot.finish()

        return WebDraft(
            plan, instruction, solver(row["number"]),
            changes=added("tracker", "watchers", {"issue": row["number"], "login": person}),
            alternatives={"by_search": by_search},
            mutants={"wrong_issue": solver(other["number"]),
                     "twice": solver(row["number"], row["number"]),
                     "another_too": solver(row["number"], other["number"])},
            turns=20,
        )  # fmt: skip


class MoveOnBoard(WebTemplate):
    """Move an issue to another column of the board."""

    name: ClassVar[str] = "tracker_board"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw an issue that the board shows."""
        plan = scene.plan("tracker")
        store = scene.store(plan, "tracker")
        rows = []
        for row in unique_issues(store, _OPEN):
            newer = store.value(
                "SELECT count(*) FROM issues WHERE project = ? AND status = ? AND number > ?",
                (row["project"], row["status"], row["number"]),
            )
            if newer < 30:
                rows.append(row)
        if len(rows) < 2:
            return None
        row, other = scene.sample(rows, 2)
        status = scene.pick([each for each in STATUSES[:4] if each != row["status"]])
        near = next(each for each in STATUSES[:4] if each not in (status, row["status"]))
        label = label_of(status, scene.language)
        instruction = scene.say(
            f'Move the issue "{row["title"]}" on the board of the project {row["project"]} to '
            f'"{label}".',
            f"在项目{row['project']}的看板上，把问题“{row['title']}”移到“{label}”。",
        )

        def solver(issue: StoreRow, to: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("tracker", f"/board?project={issue['project']}")
                yield from pilot.act(
                    "drag_and_drop",
                    from_bid=pilot.find("draggable", f"#{issue['number']}"),
                    to_bid=pilot.find("drop zone", label_of(to, pilot.language)),
                )
                yield from pilot.finish()

            return solve

        def by_form(pilot: Pilot) -> Script:
            yield from pilot.goto("tracker", f"/issues/{row['number']}")
            yield from pilot.select(pilot.words("tracker", "status"), label)
            yield from pilot.click("button", pilot.words("tracker", "save"))
            yield from pilot.finish()

        return WebDraft(
            plan, instruction, solver(row, status),
            changes=changed("tracker", "issues", row["number"], status=status),
            alternatives={"by_form": by_form},
            mutants={"wrong_column": solver(row, near), "stays": solver(row, row["status"]),
                     "wrong_issue": solver(other, status if other["status"] != status else near)},
            turns=20,
        )  # fmt: skip


class CountIssues(WebTemplate):
    """Count issues by several properties."""

    name: ClassVar[str] = "tracker_count"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a project, a component and a property of the priority or of the people."""
        drafts = (self._drawn(scene) for _ in range(_TRIES))
        return next((draft for draft in drafts if draft is not None), None)

    def _drawn(self, scene: WebScene) -> WebDraft | None:
        plan = scene.plan("tracker")
        store = scene.store(plan, "tracker")
        project = scene.pick(store.rows("SELECT * FROM projects ORDER BY key"))
        component = scene.pick(COMPONENTS)
        rows = store.rows(
            "SELECT * FROM issues WHERE project = ? AND component = ?", (project["key"], component)
        )
        unresolved = [row for row in rows if row["status"] not in ("done", "rejected")]
        if scene.level != "easy":
            if len(unresolved) < 4:
                return None
            # Otherwise the answer would nearly always be 1.
            some = scene.sample(unresolved, int(scene.rng.integers(2, len(unresolved))))
            sql = "UPDATE issues SET assignee = reporter WHERE number = ?"
            plan = plan.with_edits([("tracker", sql, (row["number"],)) for row in some])
            store = scene.store(plan, "tracker")
            unresolved = [
                store.row("SELECT * FROM issues WHERE number = ?", (row["number"],)) or {}
                for row in unresolved
            ]
        own = [row for row in unresolved if row["assignee"] == row["reporter"]]
        wanted = unresolved if scene.level == "easy" else own
        where = _OPEN + ("" if scene.level == "easy" else " AND assignee = reporter")
        count = store.value(
            f"SELECT count(*) FROM issues WHERE {where} AND project = ? AND component = ?",
            (project["key"], component),
        )
        if count != len(wanted) or not 1 <= count < len(rows) or len(unresolved) > 18:
            return None
        if scene.level != "easy" and count == len(unresolved):
            return None
        name = label_of(component, scene.language)
        if scene.level == "easy":
            instruction = scene.say(
                f'How many issues of the project {project["key"]} with the component "{name}" are '
                "neither done nor rejected? Answer with one number.",
                f"项目{project['key']}中组件为“{name}”的问题，有多少既未完成也未拒绝？只回答一个数字。",
            )
        else:
            instruction = scene.say(
                f'How many issues of the project {project["key"]} with the component "{name}", '
                "neither done nor rejected, are assigned to the very person who reported them? "
                "Answer with one number.",
                f"项目{project['key']}中组件为“{name}”、既未完成也未拒绝的问题里，"
                "有多少由报告人自己负责？只回答一个数字。",
            )
        listing = (rf"tracker\.hexathlon\.test/issues(/export)?\?.*(project={project['key']}"
                   rf"|component={component})",)  # fmt: skip

        def solver(value: int, *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                query = f"project={project['key']}&component={component}"
                yield from pilot.goto("tracker", f"/issues?{query}" if look else "/issues")
                for row in unresolved if look and scene.level != "easy" else ():
                    yield from pilot.goto("tracker", f"/issues/{row['number']}")
                yield from pilot.finish("RETRIEVE", [value])

            return solve

        def by_form(pilot: Pilot) -> Script:
            yield from pilot.look()
            yield from pilot.select(pilot.words("tracker", "project"), project["name"])
            yield from pilot.select(pilot.words("tracker", "component"), name)
            yield from pilot.click("button", pilot.words("tracker", "filter"))
            yield from pilot.finish("RETRIEVE", [count])

        return WebDraft(
            plan, instruction, solver(count), answer=ExpectedAnswer(data=(count,)),
            evidence=listing, alternatives={"by_form": by_form},
            mutants={"all": solver(len(rows)), "off_by_one": solver(count + 1),
                     "unseen": solver(count, look=False)},
            turns=40,
        )  # fmt: skip


class SaveFilter(WebTemplate):
    """Save a list filter under a name."""

    name: ClassVar[str] = "tracker_save_filter"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw conditions and a name."""
        plan = scene.plan("tracker")
        store = scene.store(plan, "tracker")
        project = scene.pick(store.rows("SELECT * FROM projects ORDER BY key"))
        status, priority = scene.pick(STATUSES[:4]), scene.pick(("p1", "p2"))
        component = scene.pick(COMPONENTS)
        say_of = [label_of(each, scene.language) for each in (status, priority, component)]
        query = f"project={project['key']}&status={status}&priority={priority}"
        parts = [f"status={status}", f"priority={priority}"]
        extra_en = extra_zh = ""
        if scene.level == "medium":
            query += f"&component={component}&sort=updated"
            parts += [f"component={component}", "sort=updated"]
            extra_en = f', component "{say_of[2]}", sorted by last update'
            extra_zh = f"、组件“{say_of[2]}”、按更新时间排序"
        name = scene.say(scene.pick(("Morning round", "Hot spots", "For the call")),
                         scene.pick(("晨会", "重点", "电话会议")))  # fmt: skip
        instruction = scene.say(
            f'Save a filter named "{name}" for the issues of the project {project["name"]} with '
            f'the status "{say_of[0]}" and the priority "{say_of[1]}"{extra_en}.',
            f"保存一个名为“{name}”的筛选：项目“{project['name']}”、状态“{say_of[0]}”、"
            f"优先级“{say_of[1]}”{extra_zh}。",
        )
        person = scene.people(plan)[0].login

        def save(pilot: Pilot, label: str) -> Script:
            yield from pilot.fill(pilot.words("tracker", "filter_name"), label)
            yield from pilot.click("button", pilot.words("tracker", "save_filter"))
            yield from pilot.finish()

        def solver(line: str, label: str = name) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("tracker", f"/issues?{line}")
                yield from save(pilot, label)

            return solve

        def by_form(pilot: Pilot) -> Script:
            yield from pilot.look()
            yield from pilot.select(pilot.words("tracker", "project"), project["name"])
            yield from pilot.select(pilot.words("tracker", "status"), say_of[0])
            yield from pilot.select(pilot.words("tracker", "priority"), say_of[1])
            if scene.level == "medium":
                yield from pilot.select(pilot.words("tracker", "component"), say_of[2])
                bid = pilot.find("combobox", pilot.words("tracker", "sort"))
                yield from pilot.act("select_option", bid=bid, options="updated")
            yield from pilot.click("button", pilot.words("tracker", "filter"))
            yield from save(pilot, name)

        return WebDraft(
            plan, instruction, solver(query),
            changes=added("tracker", "filters", {"owner": person, "name": name, "query": query}),
            alternatives={"by_form": by_form},
            mutants={"no_project": solver("&".join(parts)), "wrong_name": solver(query, name + "2"),
                     "one_missing": solver(query.rpartition("&")[0])},
            turns=24,
        )  # fmt: skip


class BulkAssign(WebTemplate):
    """Give every unassigned issue of a kind to one person and raise the low ones."""

    name: ClassVar[str] = "tracker_bulk_assign"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a project and a component with a few unassigned issues."""
        drafts = (self._drawn(scene) for _ in range(_TRIES))
        return next((draft for draft in drafts if draft is not None), None)

    def _drawn(self, scene: WebScene) -> WebDraft | None:
        plan = scene.plan("tracker")
        store = scene.store(plan, "tracker")
        project = scene.pick(store.rows("SELECT * FROM projects ORDER BY key"))
        component = scene.pick(COMPONENTS)
        rows = store.rows(
            f"SELECT * FROM issues WHERE project = ? AND component = ? AND assignee = '' AND {_OPEN} "
            "ORDER BY number",
            (project["key"], component),
        )
        low = [row for row in rows if row["priority"] == "p4"]
        others = store.rows("SELECT * FROM issues WHERE project = ? AND component = ? AND "
                            "assignee <> '' ORDER BY number", (project["key"], component))  # fmt: skip
        if not 2 <= len(rows) <= 7 or not low or not others:
            return None
        if not any(row["priority"] in ("p1", "p2") for row in rows):
            return None
        person = scene.pick(scene.people(plan)[1:])
        others = [row for row in others if row["assignee"] != person.login]
        if not others:
            return None
        name = label_of(component, scene.language)
        labels = [label_of(each, scene.language) for each in ("p4", "p3")]
        instruction = scene.say(
            f'In the project {project["name"]}, assign every issue of the component "{name}" that '
            f"is neither done nor rejected and has nobody assigned to {person.name}. Those among "
            f'them with the priority "{labels[0]}" get the priority "{labels[1]}" as well.',
            f"在项目“{project['name']}”中，把组件“{name}”下既未完成也未拒绝且无人负责的问题全部指派给{person.name}。"
            f"其中优先级为“{labels[0]}”的，同时改为“{labels[1]}”。",
        )

        def edit(pilot: Pilot, row: StoreRow, *, raised: bool) -> Script:
            yield from pilot.goto("tracker", f"/issues/{row['number']}")
            yield from pilot.select(pilot.words("tracker", "assignee"), person.name)
            if raised:
                yield from pilot.select(pilot.words("tracker", "priority"), labels[1])
            yield from pilot.click("button", pilot.words("tracker", "save"))

        def solver(chosen: list[StoreRow], raised: list[StoreRow]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for row in chosen:
                    yield from edit(pilot, row, raised=row in raised)
                yield from pilot.finish()

            return solve

        def by_bulk(pilot: Pilot) -> Script:
            query = f"project={project['key']}&component={component}"
            for group in (rows, low):
                left = {row["number"] for row in group}
                page = 1
                while left:
                    yield from pilot.goto("tracker", f"/issues?{query}&page={page}")
                    names = [each.format(number=number) for number in sorted(left)
                             for each in pilot.words("tracker", "select_issue")]  # fmt: skip
                    here = [each for each in names if f'checkbox "{each}"' in pilot.screen]
                    for each in here:
                        yield from pilot.click("checkbox", each)
                        left.discard(int(each.partition("#")[2]))
                    if here:
                        yield from pilot.click("disclosure", pilot.words("tracker", "bulk"))
                        if group is rows:
                            yield from pilot.select(
                                pilot.words("tracker", "set_assignee"), person.name
                            )
                        else:
                            yield from pilot.select(
                                pilot.words("tracker", "set_priority"), labels[1]
                            )
                        yield from pilot.click("button", pilot.words("tracker", "bulk"))
                    page += 1
            yield from pilot.finish()

        expected = [
            changed("tracker", "issues", row["number"], assignee=person.login,
                    **({"priority": "p3"} if row in low else {}))
            for row in rows
        ]  # fmt: skip
        return WebDraft(
            plan, instruction, solver(rows, low), changes=together(*expected),
            alternatives={"by_bulk": by_bulk},
            mutants={"one_missing": solver(rows[:-1], low), "not_raised": solver(rows, []),
                     "all_raised": solver(rows, rows),
                     "one_more": solver([*rows, others[0]], low)},
            turns=60,
        )  # fmt: skip


TEMPLATES: tuple[WebTemplate, ...] = (
    WatchIssue(), MoveOnBoard(), CountIssues(), SaveFilter(), BulkAssign(),
)  # fmt: skip
