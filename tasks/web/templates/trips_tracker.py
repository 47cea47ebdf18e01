"""Hard tasks across tracker and spreadsheet: a report, and assigning by capacity."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
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
from hexathlon.tasks.web.templates.maps import today_of
from hexathlon.tasks.web.templates.sheet_pages import (
    SheetContent,
    new_cells,
    open_sheet,
    row_edits,
    set_row,
    view_sheet,
)
from hexathlon.tasks.web.templates.tracker_rules import assign, issue_edit
from hexathlon.tasks.web.templates.trips import UNRESOLVED
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.site import password_of
from hexathlon.tasks.web.world.sites.sheets.vocabulary import heading
from hexathlon.tasks.web.world.sites.tracker.vocabulary import COMPONENTS
from hexathlon.tasks.web.world.sites.tracker.vocabulary import label_of as issue_label
from hexathlon.tasks.web.world.store import SiteStore, StoreRow

__all__ = ["TEMPLATES"]

_TRIES = 8
"""Number of draws in a world before a new world is used."""


class ComponentReport(WebTemplate):
    """Fill in a report sheet with counts from the tracker."""

    name: ClassVar[str] = "trips_component_report"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a project; the report lists components with unresolved issues, most first."""
        drafts = (self._drawn(scene) for _ in range(_TRIES))
        return next((draft for draft in drafts if draft is not None), None)

    def _drawn(self, scene: WebScene) -> WebDraft | None:
        plan = scene.plan("sheets", "tracker", signed_in=True)
        books, tracker = scene.store(plan, "sheets"), scene.store(plan, "tracker")
        sheet = open_sheet(books, "Crew plan=人员计划", "Report", scene.language)
        if sheet is None:
            return None
        project = scene.pick(tracker.rows("SELECT * FROM projects ORDER BY key"))
        limit = int(scene.rng.integers(30, 60))
        day = (today_of(plan) - timedelta(days=limit)).isoformat()
        rows = tracker.rows(
            "SELECT * FROM issues WHERE project = ? AND priority IN ('p1', 'p2')", (project["key"],)
        )
        tallies: dict[str, list[int]] = {each: [0, 0] for each in COMPONENTS}
        loose = dict.fromkeys(COMPONENTS, 0)
        for row in rows:
            stale = row["updated"][:10] < day
            loose[row["component"]] += row["status"] not in ("done", "rejected")
            if row["status"] not in ("done", "rejected") and stale:
                tallies[row["component"]][0] += 1
                tallies[row["component"]][1] += not row["assignee"]
        listed = sorted(
            ((each, count, free) for each, (count, free) in tallies.items() if count >= 2),
            key=lambda line: COMPONENTS.index(line[0]),
        )
        again = tracker.rows(
            f"SELECT component, count(*) AS count, sum(assignee = '') AS free FROM issues WHERE "
            f"project = ? AND priority IN ('p1', 'p2') AND {UNRESOLVED} AND date(updated) < ? "
            "GROUP BY component HAVING count(*) >= 2",
            (project["key"], day),
        )
        if {(r["component"], r["count"], r["free"]) for r in again} != set(listed):
            return None
        counts = [line[1] for line in listed]
        if not 3 <= len(listed) <= 6 or all(count == loose[each] for each, count, _ in listed):
            return None
        if not any(free for _, _, free in listed) or len(set(counts)) == 1:
            return None
        labels = [issue_label(each, scene.language) for each in ("p1", "p2")]
        names = [heading(each, scene.language) for each in ("component", "count", "note")]
        instruction = scene.say(
            f'Write into the sheet "{sheet.name}" of the workbook "{sheet.book}", from row 2 on '
            f"without gaps: for each component of the tracker's project {project['name']} with at "
            f'least two issues that are neither done nor rejected, have the priority "{labels[0]}" '
            f'or "{labels[1]}" and were last updated before {day}: the name of the component '
            f'("{names[0]}"), the number of these issues ("{names[1]}"), and how many of them have '
            f'nobody assigned ("{names[2]}", as a number, 0 too). Keep the order in which the '
            "tracker's filter lists the components.",
            f"请在工作簿“{sheet.book}”的“{sheet.name}”中从第2行起不留空行地填写：问题跟踪系统项目“{project['name']}”里，"
            f"既未完成也未拒绝、优先级为“{labels[0]}”或“{labels[1]}”、且最近更新早于{day}的问题不少于两个的每个组件："
            f"组件名（“{names[0]}”列）、此类问题数（“{names[1]}”列）、其中无人负责的数目（“{names[2]}”列，写数字，0也写）。"
            "按跟踪系统筛选框中组件的先后排列。",
        )
        lines = [(issue_label(each, scene.language), count, free) for each, count, free in listed]

        def solver(values: Sequence[tuple[str, int, int]], *, look: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for priority in ("p1", "p2") if look else ():
                    for status in ("open", "progress", "review", "testing"):
                        query = f"project={project['key']}&priority={priority}&status={status}"
                        yield from pilot.goto("tracker", f"/issues?{query}&sort=updated")
                yield from _fill_rows(pilot, sheet, values)
                yield from pilot.finish()

            return solve

        every = [(issue_label(each, scene.language), loose[each], free) for each, _, free in listed]
        cells = {
            f"{column}{row}": value
            for row, line in enumerate(lines, 2)
            for column, value in zip("ABC", line, strict=True)
        }
        name, count, free = lines[0]
        return WebDraft(
            plan,
            instruction,
            solver(lines),
            changes=new_cells(sheet.id, cells),
            alternatives={"straight": solver(lines, look=False)},
            mutants={
                "any_date": solver(every, look=False),
                "one_off": solver([(name, count + 1, free), *lines[1:]], look=False),
                "one_missing": solver(lines[:-1], look=False),
                "unsorted": solver([*lines[1:], lines[0]], look=False),
            },
            turns=80,
        )


def _fill_rows(pilot: Pilot, sheet: SheetContent, lines: Sequence[tuple[object, ...]]) -> Script:
    for row, line in enumerate(lines, 2):
        cells = {f"{column}{row}": value for column, value in zip("ABC", line, strict=False)}
        yield from set_row(pilot, sheet.id, row, cells)


class AssignByRoster(WebTemplate):
    """Assign critical issues to people whose roster allows it; the tracker's session expires."""

    name: ClassVar[str] = "trips_assign_by_roster"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw unassigned issues and people with fields, limits and absences."""
        plan = scene.plan("sheets", "tracker", session_actions=6)
        books, tracker = scene.store(plan, "sheets"), scene.store(plan, "tracker")
        sheet = open_sheet(books, "Crew plan=人员计划", "Roster", scene.language)
        if sheet is None:
            return None
        people = scene.people(plan)
        project = scene.pick(tracker.rows("SELECT * FROM projects ORDER BY key"))
        free = tracker.rows(
            f"SELECT * FROM issues WHERE project = ? AND {UNRESOLVED} AND "
            "priority <> 'p1' ORDER BY number",
            (project["key"],),
        )
        if len(free) < 6:
            return None
        chosen = scene.sample(free, 5)
        areas = scene.sample(list(COMPONENTS), 3)
        edits: list[Edit] = [
            (
                "tracker",
                "UPDATE issues SET priority = 'p2' WHERE project = ? AND priority = 'p1' "
                "AND assignee = ''",
                (project["key"],),
            )
        ]
        for i, row in enumerate(chosen):
            edits.append(issue_edit(row["number"], assignee="", priority="p1", status="open",
                                    component=areas[(0, 0, 1, 1, 2)[i]]))  # fmt: skip
        today = today_of(plan)
        fields = scene.sample(sheet.rows(), 7)
        away = [(today + timedelta(days=days)).isoformat() for days in (-3, 4, -9, -2)]
        loads = {person.name: int(tracker.value(
            f"SELECT count(*) FROM issues WHERE assignee = ? AND {UNRESOLVED}", (person.login,)))
            for person in people}  # fmt: skip
        # Per person: field, spare capacity, absence.
        setup = [(areas[0], 3, ""), (areas[0], 6, "now"), (areas[1], 1, ""), (areas[1], 4, "over"),
                 (areas[2], 2, ""), (areas[2], 0, ""), (areas[0], 1, "")]  # fmt: skip
        roster: list[tuple[str, str, int, bool]] = []
        for (row, cells), (area, left, absent) in zip(fields, setup, strict=True):
            limit = loads[cells[0]] + left
            label = issue_label(area, scene.language)
            roster.append((cells[0], area, left, absent == "now"))
            values = [cells[0], cells[1], label, limit]
            span = {"now": away[:2], "over": away[2:], "": ["", ""]}[absent]
            edits += row_edits(sheet.id, row, [*values, *span])
        plan = plan.with_edits(edits)
        right = _assignment(chosen, areas, roster)
        by_loads = _assignment_by_sheet(
            scene,
            plan_store=scene.store(plan, "sheets"),
            tracker=scene.store(plan, "tracker"),
            sheet=sheet.id,
            project=project["key"],
            today=today.isoformat(),
        )
        if right is None or by_loads != right:
            return None
        login_of = {person.name: person.login for person in people}
        user = people[0]
        label = issue_label("p1", scene.language)
        instruction = scene.say(
            f'Assign the unassigned "{label}" issues of the tracker\'s project {project["name"]} '
            "that are neither done nor rejected, oldest number first. Each goes to the person "
            f'whose field on the sheet "{sheet.name}" of the workbook "{sheet.book}" is the '
            "issue's component, who is not away today (both dates included), and who has the most "
            "room: their limit minus all their issues in the tracker that are neither done nor "
            "rejected, those you have just assigned included. Nobody may go over the limit. Change "
            f"nothing else. If you have to sign in: {user.login}, {password_of(user.login)}.",
            f"请把问题跟踪系统项目“{project['name']}”中既未完成也未拒绝、无人负责的“{label}”问题，按编号从小到大依次指派。"
            f"每个问题交给工作簿“{sheet.book}”的“{sheet.name}”中领域与其组件相同、今天未离开（含首尾两天）、"
            "且余量最大的人：余量为其上限减去其在系统中所有既未完成也未拒绝的问题数（包括刚刚指派的）。"
            f"任何人不得超过上限。不要改动其他内容。如需登录：{user.login}，{password_of(user.login)}。",
        )

        def signed_in(pilot: Pilot) -> Script:
            if "/sign-in" in pilot.screen.partition("Page:")[0]:
                yield from pilot.fill(pilot.words("tracker", "login"), user.login)
                yield from pilot.fill(pilot.words("tracker", "password"), password_of(user.login))
                yield from pilot.click("button", pilot.words("tracker", "sign_in"))

        def solver(owners: Mapping[int, str]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from view_sheet(pilot, sheet.id)
                yield from pilot.goto("tracker", "/people")
                yield from signed_in(pilot)
                query = f"project={project['key']}&priority=p1"
                yield from pilot.goto("tracker", f"/issues?{query}")
                yield from view_sheet(pilot, sheet.id, "page=2")
                for number, name in owners.items():
                    yield from pilot.goto("tracker", f"/issues/{number}")
                    yield from signed_in(pilot)
                    yield from assign(pilot, number, name)
                yield from pilot.finish()

            return solve

        def backwards(pilot: Pilot) -> Script:
            yield from solver(dict(reversed(right.items())))(pilot)

        numbers = list(right)
        absent = next(name for name, _, _, gone in roster if gone)
        third = next(number for number in numbers if right[number] != right[numbers[0]])
        same = {number: right[numbers[0]] for number in numbers[:1]}
        return WebDraft(
            plan, instruction, solver(right),
            changes=together(*(changed("tracker", "issues", number, assignee=login_of[name])
                               for number, name in right.items())),
            alternatives={"backwards": backwards},
            mutants={
                "absent": solver({**right, numbers[0]: absent}),
                "one_missing": solver(dict(list(right.items())[:-1])),
                "over_limit": solver({**right, numbers[-1]: roster[5][0]}),
                "first_only": solver(same),
                "swapped": solver({**right, numbers[0]: right[third], third: right[numbers[0]]}),
            },
            turns=60,
        )  # fmt: skip


def _assignment(
    issues: Sequence[StoreRow], areas: Sequence[str], roster: Sequence[tuple[str, str, int, bool]]
) -> dict[int, str] | None:
    """Return who gets which issue, from spare capacity; None if a tie or a limit decides."""
    left = {name: room for name, _, room, _ in roster}
    fields = dict(zip((row["number"] for row in issues), (0, 0, 1, 1, 2), strict=True))
    owners: dict[int, str] = {}
    for number in sorted(fields):
        able = [
            name for name, area, _, gone in roster if area == areas[fields[number]] and not gone
        ]
        able.sort(key=lambda name: -left[name])
        if not able or left[able[0]] < 1:
            return None
        if len(able) > 1 and left[able[0]] == left[able[1]]:
            return None
        owners[number] = able[0]
        left[able[0]] -= 1
    return owners


def _assignment_by_sheet(
    scene: WebScene,
    *,
    plan_store: SiteStore,
    tracker: SiteStore,
    sheet: int,
    project: str,
    today: str,
) -> dict[int, str]:
    """Return who gets which issue, from both sites as stored."""
    rows: dict[int, dict[int, str]] = {}
    for cell in plan_store.rows("SELECT * FROM cells WHERE sheet = ? AND row > 1", (sheet,)):
        rows.setdefault(cell["row"], {})[cell["col"]] = cell["raw"]
    logins = {row["name"]: row["login"] for row in tracker.rows("SELECT * FROM _accounts")}
    owners: dict[int, str] = {}
    for issue in tracker.rows(
        f"SELECT * FROM issues WHERE project = ? AND priority = 'p1' AND assignee = '' AND {UNRESOLVED} "
        "ORDER BY number",
        (project,),
    ):
        label = issue_label(issue["component"], scene.language)
        best, most = "", 0
        for cells in rows.values():
            if cells.get(3) != label or cells.get(5, "9") <= today <= cells.get(6, ""):
                continue
            busy = tracker.value(
                f"SELECT count(*) FROM issues WHERE assignee = ? AND {UNRESOLVED}",
                (logins[cells[1]],),
            )
            room = int(cells[4]) - busy - sum(name == cells[1] for name in owners.values())
            if room > most:
                best, most = cells[1], room
        owners[issue["number"]] = best
    return owners


TEMPLATES: tuple[WebTemplate, ...] = (ComponentReport(), AssignByRoster())
