"""Tasks on the spreadsheet: totals, files and dashboards."""

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
    new_cells,
    open_sheet,
    set_cell,
    set_row,
    view_sheet,
)
from hexathlon.tasks.web.templates.sheets import BUDGET, writer
from hexathlon.tasks.web.world.sites.sheets.formulas import ref_of
from hexathlon.tasks.web.world.sites.sheets.vocabulary import said

__all__ = ["TEMPLATES"]


class FixTotal(WebTemplate):
    """Correct totals whose ranges are too short."""

    name: ClassVar[str] = "sheets_fix_total"
    levels: ClassVar[tuple[Level, ...]] = ("easy", "medium")

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Shorten the range of one total, or of two and of one row's total."""
        plan = scene.plan("sheets")
        store = scene.store(plan, "sheets")
        sheet = open_sheet(store, BUDGET, "Budget", scene.language)
        if sheet is None:
            return None
        total = sheet.last
        wrong = [int(i) for i in scene.rng.permutation(4)[: 1 if scene.level == "easy" else 2]]
        values = {
            f"{'CDEF'[i]}{total}": f"=SUM({'CDEF'[i]}2:{'CDEF'[i]}{total - 1})" for i in wrong
        }
        cut = [int(scene.rng.integers(1, 4)) for _ in wrong]
        edits = [
            cell_edit(
                sheet.id,
                f"{'CDEF'[i]}{total}",
                f"=SUM({'CDEF'[i]}2:{'CDEF'[i]}{total - 1 - short})",
            )
            for i, short in zip(wrong, cut, strict=True)
        ]
        if scene.level != "easy":  # one total counts a row twice instead
            column = next("CDEF"[i] for i in range(4) if i not in wrong)
            row = int(scene.rng.integers(2, total - 1))
            edits.append(
                cell_edit(
                    sheet.id,
                    f"{column}{total}",
                    f"=SUM({column}2:{column}{total - 1})+{column}{row}",
                )
            )
            values[f"{column}{total}"] = f"=SUM({column}2:{column}{total - 1})"
        plan = plan.with_edits(edits)
        instruction = scene.say(
            f'In the workbook "{sheet.book}", some formulas in the last row do not add exactly the '
            "figures of all teams. Correct those, and only those; write each as =SUM(first:last) "
            "over all teams.",
            f"工作簿“{sheet.book}”最后一行中，有些公式并没有恰好加总所有团队的数字。"
            "请只更正这些公式，写成 =SUM(首个:末个)，覆盖所有团队。",
        )

        def with_look(pilot: Pilot) -> Script:
            yield from view_sheet(pilot, sheet.id, "formulas=1&page=9")
            yield from set_row(pilot, sheet.id, total, dict(values))
            yield from pilot.finish()

        first = next(iter(values))
        column = first[0]
        return WebDraft(
            plan,
            instruction,
            writer(sheet.id, dict(values)),
            changes=cell_changes(sheet.id, values),
            alternatives={"in_row": with_look},
            mutants={
                "off_by_one": writer(
                    sheet.id, {**values, first: f"=SUM({column}2:{column}{total - 2})"}
                ),
                "includes_itself": writer(
                    sheet.id, {**values, first: f"=SUM({column}2:{column}{total})"}
                ),
                "number_instead": writer(sheet.id, {**values, first: "123"}),
                "nothing": writer(sheet.id, {}),
            },
            turns=30,
        )


class ImportClaims(WebTemplate):
    """Import a file of claims without changing existing ones, then mark the new ones."""

    name: ClassVar[str] = "sheets_import"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw new claims and older versions of existing ones."""
        plan = scene.plan("sheets")
        sheet = open_sheet(
            scene.store(plan, "sheets"), "Expense claims=报销", "Claims", scene.language
        )
        if sheet is None:
            return None
        names = [sheet.cells[(1, column)] for column in range(1, 10)]
        known = [cells for _, cells in scene.sample(sheet.rows(), 3)]
        columns = (0, 1, 2, 3, 4, 5, 6, 8)
        lines = [[*cells[:5], f"{float(cells[5]) + 11:.2f}", *cells[6:9]] for cells in known]
        pattern = scene.sample(sheet.rows(), 4)
        number = 9_100 + int(scene.rng.integers(300))
        fresh = []
        for i, (_, cells) in enumerate(pattern):
            amount = f"{float(scene.rng.integers(1_000, 40_000)) / 100:.2f}"
            fresh.append([f"E{number + i}", *cells[1:5], amount, *cells[6:9]])
        order = [*fresh[:2], lines[0], fresh[2], *lines[1:], fresh[3]]
        text = "\n".join(",".join(each[i] for i in columns) for each in [names, *order]) + "\n"
        plan = scene.plan("sheets", files={"claims.csv": text})
        status = said("submitted=已提交", scene.language)
        instruction = scene.say(
            f'Your file claims.csv has claims for the workbook "{sheet.book}", sheet '
            f'"{sheet.name}". Add those that are not there yet; claims that are there already must '
            f'stay exactly as they are. Then enter "{status}" as the status of each claim you added.',
            f"您的文件 claims.csv 含有要录入工作簿“{sheet.book}”的“{sheet.name}”的单据。请添加其中尚不存在的；"
            f"已存在的必须保持原样。然后把所添加单据的状态填为“{status}”。",
        )
        first = sheet.last + 1
        values: dict[str, object] = {}
        for i, line in enumerate(fresh):
            values.update({ref_of(first + i, column + 1): line[column] for column in columns})
            values[ref_of(first + i, 8)] = status
        marks = {ref_of(first + i, 8): status for i in range(len(fresh))}

        def upload(pilot: Pilot, choice: str) -> Script:
            yield from pilot.goto("sheets", f"/sheets/{sheet.id}/import")
            yield from pilot.act("upload_file", bid=pilot.find("file"), file="claims.csv")
            yield from pilot.click("radio", pilot.words("sheets", choice))
            yield from pilot.click("button", pilot.words("sheets", "import"))

        def solver(choice: str, cells: dict[str, str]) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from upload(pilot, choice)
                for ref, raw in cells.items():
                    yield from set_cell(pilot, sheet.id, ref, raw)
                yield from pilot.finish()

            return solve

        def by_hand(pilot: Pilot) -> Script:
            for i in range(len(fresh)):
                row = {ref: raw for ref, raw in values.items() if ref[1:] == str(first + i)}
                yield from set_row(pilot, sheet.id, first + i, row)
            yield from pilot.finish()

        return WebDraft(
            plan,
            instruction,
            solver("known_skip", marks),
            changes=new_cells(sheet.id, values),
            alternatives={"by_hand": by_hand},
            mutants={
                "overwrites": solver("known_replace", marks),
                "appends": solver("known_append", marks),
                "no_status": solver("known_skip", {}),
                "one_status_missing": solver("known_skip", dict(list(marks.items())[:-1])),
            },
            turns=60,
        )


class BestMonth(WebTemplate):
    """Compare months on a dashboard whose period is reset whenever it is opened."""

    name: ClassVar[str] = "sheets_best_month"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw a region and five months; the best by turnover is not the best by orders."""
        plan = scene.plan("sheets")
        store = scene.store(plan, "sheets")
        sheet = open_sheet(store, "Sales=销售", "Orders", scene.language)
        board = store.row("SELECT * FROM dashboards ORDER BY id LIMIT 1")
        if sheet is None or board is None:
            return None
        months = sorted({cells[1][:7] for _, cells in sheet.rows()})[1:-1]
        region = scene.pick(sorted({cells[2] for _, cells in sheet.rows()}))
        turnover, orders = dict.fromkeys(months, 0), dict.fromkeys(months, 0)
        for _, cells in sheet.rows():
            if cells[1][:7] in months and cells[2] == region:
                cents = round(int(cells[5]) * int(cells[6]) * (100 - int(cells[7])))
                turnover[cells[1][:7]] += cents
                orders[cells[1][:7]] += 1
        best = max(months, key=lambda month: turnover[month])
        ranked = sorted(turnover.values())
        if ranked[-1] == ranked[-2] or max(months, key=lambda month: orders[month]) == best:
            return None
        instruction = scene.say(
            f'By the dashboard "{board["name"]}": in which month from {months[0]} to {months[-1]} '
            f"(both included) did {region} have the highest turnover, and how many orders did it "
            "have in that month? Answer with the month as YYYY-MM, then the number.",
            f"根据仪表盘“{board['name']}”：从{months[0]}到{months[-1]}（含首尾），{region}哪个月的销售额最高，"
            "该月有多少订单？请依次回答月份（YYYY-MM）和订单数。",
        )
        evidence = tuple(
            rf"sheets\.hexathlon\.test/(dashboards/{board['id']}\?.*period={month}|sheets/{sheet.id})"
            for month in months
        )

        def solver(month: str, count: int, seen: int = 99) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from pilot.goto("sheets", f"/dashboards/{board['id']}")
                for each in months[:seen]:
                    yield from pilot.select(pilot.words("sheets", "period"), each)
                    yield from pilot.select(pilot.words("sheets", "group"), region)
                    yield from pilot.click("button", pilot.words("sheets", "show"))
                yield from pilot.finish("RETRIEVE", [month, count])

            return solve

        def from_sheet(pilot: Pilot) -> Script:
            yield from view_sheet(pilot, sheet.id, "col=3&op=%3D&value=" + region)
            yield from pilot.finish("RETRIEVE", [best, orders[best]])

        busiest = max(months, key=lambda month: orders[month])
        return WebDraft(
            plan,
            instruction,
            solver(best, orders[best]),
            answer=ExpectedAnswer(data=(best, orders[best])),
            evidence=evidence,
            alternatives={"from_sheet": from_sheet},
            mutants={
                "most_orders": solver(busiest, orders[busiest]),
                "off_by_one": solver(best, orders[best] + 1),
                "unseen": solver(best, orders[best], seen=1),
            },
            turns=60,
        )


TEMPLATES: tuple[WebTemplate, ...] = (FixTotal(), ImportClaims(), BestMonth())
