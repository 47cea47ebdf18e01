"""Tasks on the spreadsheet: single cells, formulas, files and dashboards."""

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
)
from hexathlon.tasks.web.templates.sheet_pages import (
    cell_changes,
    open_sheet,
    set_cell,
    set_row,
    view_sheet,
)
from hexathlon.tasks.web.world.sites.sheets.formulas import ref_of
from hexathlon.tasks.web.world.sites.sheets.vocabulary import heading

__all__ = ["BUDGET", "TEMPLATES", "writer"]

BUDGET = "Team budget=团队预算"
_QUARTERS = ("q1", "q2", "q3", "q4")


def writer(sheet: int, values: dict[str, object]) -> Solver:
    """Return a script that fills cells on their own pages."""

    def solve(pilot: Pilot) -> Script:
        for ref, raw in values.items():
            yield from set_cell(pilot, sheet, ref, raw)
        yield from pilot.finish()

    return solve


class SetFigure(WebTemplate):
    """Change one figure of the budget."""

    name: ClassVar[str] = "sheets_set_figure"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a team, a quarter and a figure."""
        plan = scene.plan("sheets")
        sheet = open_sheet(scene.store(plan, "sheets"), BUDGET, "Budget", scene.language)
        if sheet is None:
            return None
        teams = sheet.rows()[:-1]
        (row, cells), (other, _) = scene.sample(teams, 2)
        quarter = int(scene.rng.integers(4))
        column, near = 3 + quarter, 3 + (quarter + 1) % 4
        figure = str(int(scene.rng.integers(30, 200)) * 100 + 10)
        label = heading(_QUARTERS[quarter], scene.language)
        instruction = scene.say(
            f'In the workbook "{sheet.book}", set the figure of {cells[0]} for {label} to {figure}.',
            f"在工作簿“{sheet.book}”中，把{cells[0]}的{label}数字改为{figure}。",
        )
        ref = ref_of(row, column)

        def by_row(pilot: Pilot) -> Script:
            yield from set_row(pilot, sheet.id, row, {ref: figure})
            yield from pilot.finish()

        return WebDraft(
            plan,
            instruction,
            writer(sheet.id, {ref: figure}),
            changes=cell_changes(sheet.id, {ref: figure}),
            alternatives={"by_row": by_row},
            mutants={
                "wrong_quarter": writer(sheet.id, {ref_of(row, near): figure}),
                "wrong_team": writer(sheet.id, {ref_of(other, column): figure}),
                "wrong_figure": writer(sheet.id, {ref: figure + "0"}),
                "both_quarters": writer(sheet.id, {ref: figure, ref_of(row, near): figure}),
            },
            turns=20,
        )


class ReadStock(WebTemplate):
    """State how many pieces of an item can still be sold, among items with similar names."""

    name: ClassVar[str] = "sheets_read_stock"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a row identified by its item and warehouse."""
        plan = scene.plan("sheets")
        sheet = open_sheet(scene.store(plan, "sheets"), "Stock=库存", "Stock", scene.language)
        if sheet is None:
            return None
        rows = [(row, c) for row, c in sheet.rows() if int(c[4]) > 0]
        row, cells = scene.pick(rows)
        if sum(c[1:3] == cells[1:3] for _, c in rows) != 1:
            return None
        free = int(cells[3]) - int(cells[4])
        if free in (int(cells[3]), int(cells[4]), int(cells[5])):
            return None
        instruction = scene.say(
            f'How many pieces of "{cells[1]}" in the warehouse {cells[2]} are not reserved? '
            f'Use the workbook "{sheet.book}" and answer with one number.',
            f"{cells[2]}仓库的“{cells[1]}”还有多少件未被预留？请查工作簿“{sheet.book}”，只回答一个数字。",
        )
        evidence = (rf"sheets\.hexathlon\.test/sheets/{sheet.id}([/?].*)?$",)

        def solver(value: int, *, look: bool = True, query: str = "") -> Solver:
            def solve(pilot: Pilot) -> Script:
                if look:
                    yield from view_sheet(pilot, sheet.id, query)
                else:
                    yield from pilot.look()
                yield from pilot.finish("RETRIEVE", [value])

            return solve

        return WebDraft(
            plan, instruction, solver(free, query=f"col=1&op=%3D&value={cells[0]}"),
            answer=ExpectedAnswer(data=(free,)), evidence=evidence,
            alternatives={"whole_grid": solver(free)},
            mutants={"on_hand": solver(int(cells[3])), "reserved": solver(int(cells[4])),
                     "off_by_one": solver(free + 1), "unseen": solver(free, look=False)},
            turns=20,
        )  # fmt: skip


class LeaveComment(WebTemplate):
    """Leave a comment on a cell."""

    name: ClassVar[str] = "sheets_leave_comment"
    levels: ClassVar[tuple[Level, ...]] = ("tiny", "easy")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a cell and a text."""
        plan = scene.plan("sheets")
        sheet = open_sheet(scene.store(plan, "sheets"), "Stock=库存", "Stock", scene.language)
        if sheet is None:
            return None
        (row, cells), (other, _) = scene.sample(sheet.rows(), 2)
        text = scene.say(
            scene.pick(("Recount on Monday", "Supplier informed", "Shelf label is wrong")),
            scene.pick(("周一重新盘点", "已通知供应商", "货架标签有误")),
        )
        column = scene.pick((4, 5))
        label = heading(("hand", "reserved")[column - 4], scene.language)
        instruction = scene.say(
            f'In the workbook "{sheet.book}", comment "{text}" on the cell "{label}" of the item '
            f"with SKU {cells[0]}.",
            f"在工作簿“{sheet.book}”中，给货号{cells[0]}的“{label}”单元格添加批注“{text}”。",
        )

        def solver(place: str, body: str, *, times: int = 1) -> Solver:
            def solve(pilot: Pilot) -> Script:
                for _ in range(times):
                    yield from pilot.goto("sheets", f"/sheets/{sheet.id}/cells/{place}")
                    yield from pilot.fill(pilot.words("sheets", "comment"), body)
                    yield from pilot.click("button", pilot.words("sheets", "add_comment"))
                yield from pilot.finish()

            return solve

        def from_grid(pilot: Pilot) -> Script:
            yield from view_sheet(pilot, sheet.id, f"col=1&op=%3D&value={cells[0]}")
            yield from pilot.fill(pilot.words("sheets", "cell"), ref_of(row, column))
            yield from pilot.click("button", pilot.words("sheets", "go_to_cell"))
            yield from pilot.fill(pilot.words("sheets", "comment"), text)
            yield from pilot.click("button", pilot.words("sheets", "add_comment"))
            yield from pilot.finish()

        person = scene.people(plan)[0].login
        return WebDraft(
            plan, instruction, solver(ref_of(row, column), text),
            changes=added("sheets", "comments", {
                "sheet": sheet.id, "ref": ref_of(row, column), "author": person, "body": text,
                "resolved": 0}),
            alternatives={"from_grid": from_grid},
            mutants={
                "wrong_row": solver(ref_of(other, column), text),
                "wrong_column": solver(ref_of(row, 9 - column), text),
                "twice": solver(ref_of(row, column), text, times=2),
            },
            turns=20,
        )  # fmt: skip


class ChangeUnlessProtected(WebTemplate):
    """Change figures of a team; in the twin one of them is in a range protected by others."""

    name: ClassVar[str] = "sheets_protected"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")
    twins: ClassVar[bool] = True
    refusal: ClassVar[str] = "PERMISSION_DENIED_ERROR"

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a team; a protection covers one of its cells or those of its neighbour."""
        plan = scene.plan("sheets")
        store = scene.store(plan, "sheets")
        sheet = open_sheet(store, BUDGET, "Budget", scene.language)
        if sheet is None or sheet.last < 8:
            return None
        row = int(scene.rng.integers(4, sheet.last - 2))
        name = sheet.cells[(row, 1)]
        columns = sorted(int(i) for i in 3 + scene.rng.permutation(4)[:2])
        figures = {
            ref_of(row, column): str(int(scene.rng.integers(30, 300)) * 50 + 5)
            for column in columns
        }
        top = row + 1 if scene.feasible else row
        people = scene.people(plan)
        holder = scene.pick(people[2:8]).login
        letter = "CDEF"[columns[1] - 3]
        sql = "INSERT INTO protections (id, sheet, area, editor, note) VALUES (?, ?, ?, ?, ?)"
        note = scene.say("Under review", "审核中")
        idle, binding = (40 + int(i) for i in scene.rng.permutation(300)[:2])
        decoy = "CDEF"[next(c for c in range(3, 7) if c not in columns) - 3]
        plan = plan.with_edits([
            ("sheets", sql, (idle, sheet.id, f"{decoy}{row - 2}:{decoy}{row}", holder, note)),
            ("sheets", sql, (binding, sheet.id, f"{letter}{top}:{letter}{row + 2}", holder, note)),
        ])  # fmt: skip
        parts = [
            f"{heading(_QUARTERS[column - 3], scene.language)} {figure}"
            for column, figure in zip(columns, figures.values(), strict=True)
        ]
        instruction = scene.say(
            f'In the workbook "{sheet.book}", enter these figures for {name}: {", ".join(parts)}. '
            "If one of them cannot be entered, leave both as they are and report the number of "
            "the protection (such as PR-7) that prevents it.",
            f"在工作簿“{sheet.book}”中为{name}填入：{'，'.join(parts)}。"
            "如果其中一个无法填写，则两个都保持原样，并报告阻止修改的保护编号（如 PR-7）。",
        )
        evidence = (rf"sheets\.hexathlon\.test/sheets/{sheet.id}/",)

        def report(record: str) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("sheets", f"/sheets/{sheet.id}/protected")
                yield from pilot.refuse("PERMISSION_DENIED_ERROR", record)

            return solve

        def try_row(pilot: Pilot) -> Script:
            yield from set_row(pilot, sheet.id, row, dict(figures))
            if pilot.shows(f"PR-{binding}"):
                yield from pilot.refuse("PERMISSION_DENIED_ERROR", f"PR-{binding}")
            else:
                yield from pilot.finish()

        refs = list(figures)
        mutants: dict[str, Solver] = {
            "first_only": writer(sheet.id, {refs[0]: figures[refs[0]]}),
            "wrong_record": report(f"PR-{idle}"),
            "neighbour": writer(
                sheet.id,
                {
                    ref_of(row - 1, column): figure
                    for column, figure in zip(columns, figures.values(), strict=True)
                },
            ),
        }
        if not scene.feasible:
            return WebDraft(
                plan,
                instruction,
                report(f"PR-{binding}"),
                answer=ExpectedAnswer("PERMISSION_DENIED_ERROR", record=f"PR-{binding}"),
                evidence=evidence,
                alternatives={"try_row": try_row},
                mutants={**mutants, "finishes": writer(sheet.id, {})},
                turns=24,
            )
        return WebDraft(
            plan,
            instruction,
            writer(sheet.id, dict(figures)),
            evidence=evidence,
            changes=cell_changes(sheet.id, figures),
            alternatives={"try_row": try_row},
            mutants={**mutants, "refuses": report(f"PR-{binding}")},
            turns=24,
        )


TEMPLATES: tuple[WebTemplate, ...] = (
    SetFigure(),
    ReadStock(),
    LeaveComment(),
    ChangeUnlessProtected(),
)
