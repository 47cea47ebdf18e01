"""A hard task on the spreadsheet: requests in comments."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar, NamedTuple

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
from hexathlon.tasks.web.templates.sheet_pages import (
    cell_changes,
    cell_edit,
    comment_on,
    open_sheet,
    row_edits,
    set_cell,
    set_row,
    view_sheet,
)
from hexathlon.tasks.web.world.network import Edit, WorldPlan
from hexathlon.tasks.web.world.people import Person
from hexathlon.tasks.web.world.sites.sheets.formulas import parse_ref, ref_of
from hexathlon.tasks.web.world.store import SiteStore

__all__ = ["BUDGET_BOOK", "TEMPLATES"]

BUDGET_BOOK = "Team budget=团队预算"
_FIRST_COMMENT = 800
_ASKING = (
    ("Please set this to {}.", "请把这里改为{}。"),
    ("New figure: {}.", "新数字：{}。"),
    ("We need {} here.", "这里需要{}。"),
    ("This should read {}.", "此处应为{}。"),
)


class _Remark(NamedTuple):
    """One comment of a case."""

    who: str
    """`lead`, `deputy`, `stranger`, `finance`."""

    kind: str
    """`ask`, `withdraw` or `agree`."""

    change: int = 0
    """Difference from the current figure, in per cent."""

    days: int = 10
    """Age of the comment."""


_CASES: Mapping[str, tuple[_Remark, ...]] = {
    "lead": (_Remark("lead", "ask", 8),),
    "stranger": (_Remark("stranger", "ask", -12),),
    "deputy": (_Remark("deputy", "ask", 6, 9),),
    "deputy_outside": (_Remark("deputy", "ask", -9, 30),),
    "twice": (_Remark("lead", "ask", -15, 14), _Remark("lead", "ask", 5, 7)),
    "withdrawn": (
        _Remark("lead", "ask", 9, 15),
        _Remark("lead", "ask", -20, 8),
        _Remark("lead", "withdraw", 0, 6),
    ),
    "raise": (_Remark("lead", "ask", 60, 12),),
    "agreed": (_Remark("lead", "ask", 45, 13), _Remark("finance", "agree", 0, 5)),
    "agreed_by_other": (_Remark("lead", "ask", 52, 11), _Remark("stranger", "agree", 0, 4)),
    "agreed_before": (_Remark("finance", "agree", 0, 16), _Remark("lead", "ask", 48, 10)),
}
"""Comments on one cell, oldest first, keyed by case."""

_COUNTING = {"lead": 0, "deputy": 0, "twice": 1, "withdrawn": 0, "agreed": 0}
"""The valid comment of each case; the other cases have none."""


class ApplyRequests(WebTemplate):
    """Enter the figures of valid requests in comments, and resolve exactly those comments."""

    name: ClassVar[str] = "sheets_apply_requests"
    levels: ClassVar[tuple[Level, ...]] = ("medium",)

    def draw(self, scene: WebScene) -> WebDraft | None:
        """Draw one cell for every case."""
        plan = scene.plan("sheets")
        store = scene.store(plan, "sheets")
        sheet, leads, rules = (
            open_sheet(store, BUDGET_BOOK, name, scene.language)
            for name in ("Budget", "Leads", "Rules")
        )
        if sheet is None or leads is None or rules is None:
            return None
        hard = scene.demanding()
        cases = list(_CASES) if hard else ["lead", "stranger", "deputy", "deputy_outside", "twice"]
        if len(sheet.rows()) - 1 < len(cases):
            return None
        people = scene.people(plan)
        start = datetime.fromisoformat(plan.start)
        limit = int(scene.rng.integers(20, 40))
        rows = scene.sample(sheet.rows()[:-1], len(cases))
        refs = {
            case: ref_of(row, 3 + int(scene.rng.integers(4)))
            for case, (row, _) in zip(cases, rows, strict=True)
        }
        edits: list[Edit] = [
            ("sheets", "DELETE FROM comments WHERE sheet = ? AND ref = ?", (sheet.id, ref))
            for ref in refs.values()
        ]
        figures: dict[tuple[str, int], int] = {}
        numbers: dict[tuple[str, int], int] = {}
        remarks: list[tuple[int, str, str, str, str]] = []
        for case, (row, cells) in zip(cases, rows, strict=True):
            line = next(c for _, c in leads.rows() if c[0] == cells[0])
            span = [(start - timedelta(days=days)).date().isoformat() for days in (20, 3)]
            edits += [
                cell_edit(leads.id, f"{column}{leads_row(leads.rows(), cells[0])}", day)
                for column, day in zip("DE", span, strict=True)
            ]
            taken = {line[1], line[2], people[1].name}
            stranger = next(each for each in people[4:] if each.name not in taken)
            logins = {person.name: person.login for person in people}
            authors = {
                "lead": logins[line[1]],
                "deputy": logins[line[2]],
                "stranger": stranger.login,
                "finance": people[1].login,
            }
            place = parse_ref(refs[case])
            assert place is not None and place[0] == row
            now = int(cells[place[1] - 1])
            for i, remark in enumerate(_CASES[case]):
                figure = round(now * (100 + remark.change) / 100 / 5) * 5 + 5
                at = start - timedelta(days=remark.days, minutes=int(scene.rng.integers(5, 500)))
                figures[case, i] = figure
                body = _body(scene, remark, figure)
                remarks.append((0, refs[case], authors[remark.who], body, at.isoformat(" ")))
                numbers[case, i] = len(remarks) - 1
        order = sorted(range(len(remarks)), key=lambda i: remarks[i][4])
        ids = {index: _FIRST_COMMENT + place for place, index in enumerate(order)}
        numbers = {key: ids[index] for key, index in numbers.items()}
        edits += [
            comment_on(ids[i], sheet.id, ref, author, body, at)
            for i, (_, ref, author, body, at) in enumerate(remarks)
        ]
        edits += _request_rules(scene, rules.id, people, limit, hard=hard)
        plan = plan.with_edits(edits)
        counting = {case: which for case, which in _COUNTING.items() if case in cases}
        if not _agrees(scene.store(plan, "sheets"), sheet.id, leads.id, plan, people, limit,
                       {numbers[each] for each in counting.items()}, hard=hard):  # fmt: skip
            return None
        instruction = scene.say(
            f"Work through the open requests for new figures in the comments on the sheet "
            f'"{sheet.name}" of the workbook "{sheet.book}". The workbook\'s rules say which '
            "requests count. Enter every figure that counts, mark exactly the comments whose "
            "figure you entered as resolved, and leave everything else as it is.",
            f"请处理工作簿“{sheet.book}”的“{sheet.name}”上批注中要求更改数字的未解决请求。哪些请求有效，见工作簿的规定。"
            "请填入每个有效的数字，仅把已填入数字的那些批注标为已解决，其他一律不动。",
        )

        def solver(chosen: Mapping[str, int], *, resolve: bool = True) -> Solver:
            def solve(pilot: Pilot) -> Script:
                yield from view_sheet(pilot, rules.id)
                yield from view_sheet(pilot, leads.id)
                for page in (1, 2):
                    yield from pilot.goto("sheets", f"/sheets/{sheet.id}/comments?page={page}")
                for case, which in chosen.items():
                    yield from set_cell(pilot, sheet.id, refs[case], figures[case, which])
                    if resolve:
                        yield from pilot.click(
                            "button", pilot.words("sheets", "resolve"), nth=which
                        )
                yield from pilot.finish()

            return solve

        def by_rows(pilot: Pilot) -> Script:
            for case, which in counting.items():
                row = int(refs[case][1:])
                yield from set_row(pilot, sheet.id, row, {refs[case]: figures[case, which]})
                yield from pilot.goto("sheets", f"/sheets/{sheet.id}/cells/{refs[case]}")
                yield from pilot.click("button", pilot.words("sheets", "resolve"), nth=which)
            yield from pilot.finish()

        mutants: dict[str, Solver] = {
            f"also_{case}": solver({**counting, case: 0})
            for case in cases
            if case not in counting and case != "agreed_before"
        }
        mutants |= {
            "first_of_two": solver({**counting, "twice": 0}),
            "unresolved": solver(counting, resolve=False),
            "one_missing": solver(dict(list(counting.items())[:-1])),
        }
        if hard:
            mutants["withdrawn_one"] = solver({**counting, "withdrawn": 1})
        return WebDraft(
            plan, instruction, solver(counting),
            changes=together(
                cell_changes(sheet.id, {refs[case]: figures[case, which]
                                        for case, which in counting.items()}),
                *(changed("sheets", "comments", numbers[each], resolved=1)
                  for each in counting.items()),
            ),
            alternatives={"by_rows": by_rows}, mutants=mutants, turns=70 if hard else 50,
        )  # fmt: skip


def leads_row(rows: Sequence[tuple[int, list[str]]], team: str) -> int:
    """Return the row of a team on the sheet of leads."""
    return next(row for row, cells in rows if cells[0] == team)


def _body(scene: WebScene, remark: _Remark, figure: int) -> str:
    if remark.kind == "withdraw":
        return scene.say(
            "Please ignore my last comment on this cell.", "请忽略我在此单元格的上一条批注。"
        )
    if remark.kind == "agree":
        return scene.say("Agreed.", "同意。")
    return str(scene.say(*scene.pick(_ASKING))).format(figure)


def _request_rules(
    scene: WebScene, sheet: int, people: Sequence[Person], limit: int, *, hard: bool
) -> list[Edit]:
    """Write the rules for requests."""
    day = (datetime.fromisoformat("2026-01-01")).date().isoformat()
    finance, say = people[1].name, scene.say
    lines = [
        say(
            "A request for a new figure counts if it comes from the team's lead, or from the "
            "deputy on a day within the deputy's dates (sheet Leads, both days included).",
            "更改数字的请求，由团队主管提出，或由代理人在代理期间（见主管表，含首尾）提出，方为有效。",
        ),
        say(
            "Of several requests for one cell that count, only the latest is carried out.",
            "同一单元格有多个有效请求时，只执行最新的一个。",
        ),
    ]
    if hard:
        lines += [
            say(
                "A request that its author has withdrawn does not count; an earlier one of the "
                "same author stands again.",
                "提出人撤回的请求无效；其更早的请求恢复有效。",
            ),
            say(
                f"A request that raises the present figure by more than {limit} per cent counts "
                f"only if {finance} has agreed to it in a later comment on the same cell.",
                f"使现有数字提高超过{limit}%的请求，须由{finance}事后在同一单元格批注同意，方为有效。",
            ),
        ]
    return [
        edit
        for i, line in enumerate(lines, 1)
        for edit in row_edits(sheet, i + 1, (i, day, finance, line))
    ]


def _agrees(
    store: SiteStore, sheet: int, leads: int, plan: WorldPlan, people: Sequence[Person],
    limit: int, expected: set[int], *, hard: bool,
) -> bool:  # fmt: skip
    """Whether the rules, applied to the comments as stored, choose the expected ones."""
    login_of = {person.name: person.login for person in people}

    def cell(number: int, ref: str) -> str:
        return str(store.value("SELECT raw FROM cells WHERE id = ?", (f"{number}!{ref}",)) or "")

    team_rows = {
        row["raw"]: row["row"]
        for row in store.rows(
            "SELECT raw, row FROM cells WHERE sheet = ? AND col = 1 AND row > 1", (leads,)
        )
    }
    comments = store.rows(
        "SELECT * FROM comments WHERE sheet = ? AND resolved = 0 AND id >= ? ORDER BY created",
        (sheet, _FIRST_COMMENT),
    )
    chosen = set()
    for ref in {row["ref"] for row in comments}:
        line = team_rows[cell(sheet, f"A{ref[1:]}")]
        lead, deputy = login_of[cell(leads, f"B{line}")], login_of[cell(leads, f"C{line}")]
        first, last = cell(leads, f"D{line}"), cell(leads, f"E{line}")
        standing: list[dict[str, Any]] = []
        for row in (each for each in comments if each["ref"] == ref):
            digits = "".join(letter for letter in row["body"] if letter.isdigit())
            right = row["author"] == lead or (
                row["author"] == deputy and first <= row["created"][:10] <= last
            )
            if digits and right:
                raised = int(digits) > int(cell(sheet, ref)) * (100 + limit) / 100
                standing.append({"id": row["id"], "by": row["author"], "waits": hard and raised})
            elif digits:
                continue
            elif row["author"] == people[1].login:
                standing = [{**each, "waits": False} for each in standing]
            elif standing and standing[-1]["by"] == row["author"] and right:
                standing.pop()
        valid = [each for each in standing if not each["waits"]]
        if valid:
            chosen.add(valid[-1]["id"])
    return chosen == expected


TEMPLATES: tuple[WebTemplate, ...] = (ApplyRequests(),)
