"""A hard task on the spreadsheet: undoing one person's entries."""

from collections.abc import Mapping
from datetime import datetime, timedelta
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
)
from hexathlon.tasks.web.templates.sheet_pages import (
    cell_changes,
    cell_edit,
    open_sheet,
    set_cell,
    set_row,
)
from hexathlon.tasks.web.templates.sheets_requests import BUDGET_BOOK
from hexathlon.tasks.web.world.network import Edit
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.sites.sheets.formulas import parse_ref, ref_of
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["TEMPLATES"]


class UndoOldList(WebTemplate):
    """Undo one person's entries from an old list, but nothing that others have done since."""

    name: ClassVar[str] = "sheets_undo_entries"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)
    twins: ClassVar[bool] = True
    refusal: ClassVar[str] = "PERMISSION_DENIED_ERROR"

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a day's versions; in the twin a protection covers one of the cells."""
        plan = scene.plan("sheets")
        store = scene.store(plan, "sheets")
        sheet = open_sheet(store, BUDGET_BOOK, "Budget", scene.language)
        if sheet is None:
            return None
        known = {
            row["ref"]
            for row in store.rows(
                "SELECT ref FROM _version_cells c JOIN _versions v ON v.id = c.version WHERE sheet = ?",
                (sheet.id,),
            )
        }
        free = [
            ref_of(row, column)
            for row, _ in sheet.rows()[:-1]
            for column in range(3, 7)
            if ref_of(row, column) not in known
        ]
        if len(free) < 14:
            return None
        refs = dict(zip(("again", "theirs", "undone", "plain", "second", "third", "label",
                         "next_day", "near"), scene.sample(free, 9), strict=True))  # fmt: skip
        people = scene.people(plan)
        person, other, third = scene.sample(people[2:9], 3)
        day = datetime.fromisoformat(plan.start) - timedelta(days=5)
        label = scene.say("from the list", "按清单录入")
        before = {name: int(sheet.cells[parse_ref(ref) or (0, 0)]) for name, ref in refs.items()}
        now = dict(before)
        edits: list[Edit] = []
        number = 900

        def version(hours: float, author: Person, text: str, values: Mapping[str, int]) -> None:
            nonlocal number
            number += 1
            at = (day.replace(hour=0) + timedelta(hours=hours)).isoformat(" ", "seconds")
            edits.append(
                (
                    "sheets",
                    "INSERT INTO _versions (id, sheet, author, at, label) VALUES (?, ?, ?, ?, ?)",
                    (number, sheet.id, author.login, at, text),
                )
            )
            for name, value in values.items():
                edits.append(
                    (
                        "sheets",
                        "INSERT INTO _version_cells (version, ref, before, after) "
                        "VALUES (?, ?, ?, ?)",
                        (number, refs[name], str(now[name]), str(value)),
                    )
                )
                now[name] = value

        def moved(*names: str) -> dict[str, int]:
            return {name: now[name] + 5 * int(scene.rng.integers(21, 90)) for name in names}

        hard = scene.demanding()
        version(9.2, person, label, moved("again", "theirs", "undone", "plain"))
        version(11.1, other, scene.say("correction", "更正"), moved("theirs"))
        if hard:
            version(14.4, person, label, moved("again", "second", "third"))
            version(15.7, person, scene.say("from the meeting", "按会议录入"), moved("label"))
            version(33.5, person, label, moved("next_day"))
        version(35.0, third, "", {"undone": before["undone"]})
        restored = ["again", "plain", *(["second", "third"] if hard else [])]
        wanted = {refs[name]: str(before[name]) for name in restored}
        edits += [
            cell_edit(sheet.id, refs[name], str(value))
            for name, value in now.items()
            if value != before[name]
        ]
        guarded = refs["plain"] if not scene.feasible else refs["near"]
        sql = "INSERT INTO protections (id, sheet, area, editor, note) VALUES (?, ?, ?, ?, ?)"
        note = scene.say("Fixed with the auditors", "已与审计确认")
        binding, idle = (60 + int(i) for i in scene.rng.permutation(300)[:2])
        edits += [
            ("sheets", sql, (binding, sheet.id, f"{guarded}:{guarded}", third.login, note)),
            (
                "sheets",
                sql,
                (idle, sheet.id, f"{refs['undone']}:{refs['undone']}", other.login, note),
            ),
        ]
        plan = plan.with_edits(edits)
        if (
            _restorable(
                scene.store(plan, "sheets"), sheet.id, person.login, label, day.date().isoformat()
            )
            != wanted
        ):
            return None
        shown = day.date().isoformat()
        instruction = scene.say(
            f'On {shown}, {person.name} entered figures on the sheet "{sheet.name}" of the '
            f'workbook "{sheet.book}" from an outdated list; those versions carry the note '
            f'"{label}". Put every cell they changed back to what it held before the first of '
            "them, unless somebody else has changed the cell since. Leave everything else as it "
            "is. If a cell that you would have to put back is protected, so that the user may not "
            "change it, change nothing and report that the permission is missing "
            "(PERMISSION_DENIED_ERROR), with the number of the protection (such as PR-7).",
            f"{shown}，{person.name}在工作簿“{sheet.book}”的“{sheet.name}”上按过期清单录入了数字，这些版本的备注为"
            f"“{label}”。请把它们改动过的每个单元格恢复为其中第一个版本之前的内容，但此后被别人改过的单元格除外。"
            "其他一律不动。如果某个应恢复的单元格受保护、用户无权修改，则什么都不要改，并报告没有权限"
            "（PERMISSION_DENIED_ERROR），附上该保护的编号（如 PR-7）。",
        )
        evidence = (rf"sheets\.hexathlon\.test/sheets/{sheet.id}/(protected|cells|rows|history)",)

        def solver(values: Mapping[str, str]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("sheets", f"/sheets/{sheet.id}/history?author={person.login}")
                for each in range(901, number + 1):
                    yield from pilot.goto("sheets", f"/versions/{each}")
                for ref, raw in values.items():
                    yield from set_cell(pilot, sheet.id, ref, raw)
                yield from pilot.finish()

            return solve

        def report(record: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("sheets", f"/sheets/{sheet.id}/protected")
                yield from pilot.refuse("PERMISSION_DENIED_ERROR", record)

            return solve

        def backwards(pilot: Pilot) -> Script:
            if not scene.feasible:
                yield from pilot.goto("sheets", f"/sheets/{sheet.id}/cells/{refs['plain']}")
                yield from pilot.refuse("PERMISSION_DENIED_ERROR", f"PR-{binding}")
                return
            for ref, raw in reversed(wanted.items()):
                yield from set_row(pilot, sheet.id, int(ref[1:]), {ref: raw})
            yield from pilot.finish()

        def roll_back(pilot: Pilot) -> Script:
            yield from pilot.goto("sheets", "/versions/901")
            for _ in range(2):
                yield from pilot.click("button", pilot.words("sheets", "restore"))
            yield from pilot.finish()

        mutants: dict[str, Solver] = {
            "roll_back": roll_back,
            "wrong_record": report(f"PR-{idle}"),
            "theirs_too": solver({**wanted, refs["theirs"]: str(before["theirs"])}),
            "one_missing": solver(dict(list(wanted.items())[:-1])),
        }
        if hard:
            mutants["other_label"] = solver({**wanted, refs["label"]: str(before["label"])})
            mutants["next_day"] = solver({**wanted, refs["next_day"]: str(before["next_day"])})
        if not scene.feasible:
            return WebDraft(
                plan, instruction, report(f"PR-{binding}"), evidence=evidence,
                answer=ExpectedAnswer("PERMISSION_DENIED_ERROR", record=f"PR-{binding}"),
                alternatives={"own_page": backwards},
                mutants={**mutants, "what_works": solver(
                    {ref: raw for ref, raw in wanted.items() if ref != refs["plain"]})},
                turns=50,
            )  # fmt: skip
        return WebDraft(
            plan,
            instruction,
            solver(wanted),
            changes=cell_changes(sheet.id, wanted),
            evidence=evidence,
            alternatives={"backwards": backwards},
            mutants={**mutants, "refuses": report(f"PR-{binding}")},
            turns=50,
        )


def _restorable(store: SiteStore, sheet: int, login: str, label: str, day: str) -> dict[str, str]:
    """Return the cells to put back and what they held, from the versions as stored."""
    rows = store.rows(
        "SELECT c.ref, c.before, v.author, v.label, v.at FROM _version_cells c JOIN _versions v "
        "ON v.id = c.version WHERE v.sheet = ? ORDER BY v.at, c.id",
        (sheet,),
    )
    wanted: dict[str, str] = {}
    for row in rows:
        if row["author"] == login and row["label"] == label and row["at"].startswith(day):
            wanted.setdefault(row["ref"], row["before"])
        elif row["author"] != login:
            wanted.pop(row["ref"], None)
    return wanted


TEMPLATES: tuple[WebTemplate, ...] = (UndoOldList(),)
