"""Jobs on the tracker, the contacts, the calendar and the spreadsheet."""

from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.source import Script
from hexathlon.tasks.web.pilot import Pilot
from hexathlon.tasks.web.templates.draft import Solver
from hexathlon.tasks.web.templates.sheet_pages import (
    ROWS_PER_PAGE,
    open_sheet,
    set_row,
    view_sheet,
)
from hexathlon.tasks.web.templates.shifts.records import (
    JobTarget,
    RecordJob,
    ShiftBench,
    Values,
    best_text,
    new_first,
    pages_of_list,
)
from hexathlon.tasks.web.world.sites.sheets.formulas import ref_of
from hexathlon.tasks.web.world.sites.tracker.vocabulary import (
    PRIORITIES,
    STATUSES,
    label_of,
)
from hexathlon.tasks.web.world.store import StoreRow
from hexathlon.tasks.web.world.words import wordings_of

__all__ = ["contact_notes", "event_notes", "in_contacts", "issue_people", "issue_priorities",
           "reorder_levels"]  # fmt: skip

_OPEN = STATUSES[:4]
_CONTACTS_PER_PAGE = 20
_NOTES = (
    "Framework contract until year-end|框架合同至年底",
    "Invoices by post only|发票仅限邮寄",
    "Ask for delivery notes|请索取送货单",
    "Discount agreed in spring|春季已商定折扣",
    "Calls only before noon|仅上午接听电话",
    "Orders through the portal|通过门户下单",
)
_EVENT_NOTES = (
    "Bring the signed copy|请带签字件",
    "Minutes by the youngest|由最年轻者记录",
    "Slides one day before|材料提前一天发出",
    "Laptops stay closed|请合上电脑",
    "Start with open points|先过未决事项",
    "Guests from the plant|有工厂来宾",
)


def issue_priorities(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Set the priority of issues."""
    return _issues(bench, sizes, "priority")


def issue_people(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Assign issues to somebody else."""
    return _issues(bench, sizes, "assignee")


def _issues(bench: ShiftBench, sizes: range, column: str) -> RecordJob | None:
    scene, names = bench.scene, _names(bench)
    pool = PRIORITIES if column == "priority" else tuple(names)
    rows = _cluster(bench, sizes, column, len(pool) - 2)
    if rows is None:
        return None
    first, held = rows[0], {row[column] for row in rows}
    values = new_first(scene.sample(pool, len(pool)), held)
    shown = (
        names
        if column == "assignee"
        else {each: label_of(each, scene.language) for each in PRIORITIES}
    )

    def write(pilot: Pilot, target: JobTarget, values: Values) -> Script:
        yield from pilot.goto("tracker", f"/issues/{target.key}")
        value = values[column]
        option = shown[value] if value else _none_shown(pilot)
        yield from pilot.select(pilot.words("tracker", column), option, nth=0)
        yield from pilot.click("button", pilot.words("tracker", "save"))

    which = _which(bench, first)
    options = [shown[each] for each in values[:-1]]
    if column == "priority":
        wishes = [bench.say(f"Set the priority of {which} to {each}.",
                            f"请把{which}的优先级设为“{each}”。") for each in options]  # fmt: skip
        mends = [
            bench.say(f"the priority should be {each}", f"优先级应为“{each}”") for each in options
        ]
    else:
        wishes = [
            bench.say(f"Assign {which} to {each}.", f"请把{which}指派给{each}。")
            for each in options
        ]
        mends = [
            bench.say(f"they should be assigned to {each}", f"应指派给{each}") for each in options
        ]
    trait = "assignee" if column == "priority" else "priority"
    return RecordJob(
        "tracker", "issues", bench.say("issue", "问题"), _project_group(bench, first), tuple(wishes),
        tuple(mends),
        tuple(JobTarget(row["number"], f"#{row['number']}", {column: row[column]},
                        tuple({column: each} for each in values),
                        _trait(bench, row, trait, names)) for row in rows),
        _finder(first), write, key_column="number",
        shown_in=f"{first['project']} {first['status']} {first['component']}",
    )  # fmt: skip


def _cluster(
    bench: ShiftBench, sizes: range, column: str = "number", most: int = 99
) -> list[StoreRow] | None:
    """Return issues of one project, status and component with few different values."""
    marks = ", ".join("?" * len(_OPEN))
    rows = bench.rows("tracker", f"SELECT * FROM issues WHERE status IN ({marks})", _OPEN)
    for found in bench.clusters(rows, ("project", "status", "component"), sizes):
        first, keys = found[0], [row["number"] for row in found]
        again = bench.rows(
            "tracker",
            "SELECT number FROM issues WHERE project = ? AND status = ? AND component = ?",
            (first["project"], first["status"], first["component"]),
        )
        group = ("tracker", _project_group(bench, first))
        if (
            group not in bench.groups
            and len({row[column] for row in found}) <= most
            and bench.free("tracker", "issues", keys)
            and {row["number"] for row in again} == set(keys)
        ):
            return found
    return None


def _names(bench: ShiftBench) -> dict[str, str]:
    return {person.login: person.name for person in bench.scene.people(bench.plan)}


def _which(bench: ShiftBench, row: StoreRow) -> str:
    status, component = (
        label_of(row[name], bench.scene.language) for name in ("status", "component")
    )
    return bench.say(
        f'the issues of the project {row["project"]} with the component "{component}" and the '
        f'status "{status}"',
        f"项目{row['project']}中组件为“{component}”、状态为“{status}”的问题",
    )


def _project_group(bench: ShiftBench, row: StoreRow) -> str:
    return bench.say(f"issues of the project {row['project']}", f"项目{row['project']}的问题")


def _trait(bench: ShiftBench, row: StoreRow, column: str, names: dict[str, str]) -> str:
    if column == "priority":
        label = label_of(row["priority"], bench.scene.language)
        return bench.say(f'those with the priority "{label}"', f"优先级为“{label}”的那些")
    if not row["assignee"]:
        return bench.say("those that are assigned to nobody", "未指派给任何人的那些")
    name = names[row["assignee"]]
    return bench.say(f"those that are assigned to {name}", f"指派给{name}的那些")


def _finder(row: StoreRow) -> Solver:
    query = urlencode({name: row[name] for name in ("project", "status", "component")})

    def find(pilot: Pilot) -> Script:
        yield from pilot.goto("tracker", f"/issues?{query}")

    return find


def _none_shown(pilot: Pilot) -> str:
    """Return the wording of an empty choice that the screen shows."""
    return next(each for each in pilot.words("tracker", "none") if f" {each}," in pilot.screen)


def reorder_levels(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Raise reorder levels by a percentage, rounded up to a multiple of five."""
    scene = bench.scene
    sheet = open_sheet(
        scene.store(bench.plan, "sheets"), "Stock and orders=库存与订购", "Stock", scene.language
    )
    if sheet is None:
        return None
    rows = [
        {"row": number, "sku": cells[0], "warehouse": cells[2], "level": int(cells[5]),
         "pack": cells[6], "supplier": cells[7]}
        for number, cells in sheet.rows() if cells[0]
    ]  # fmt: skip
    shares = scene.sample((20, 40, 60, 90), 4)
    for found in bench.clusters(rows, ("supplier", "warehouse"), sizes):
        supplier, warehouse = found[0]["supplier"], found[0]["warehouse"]
        group = bench.say(f"goods of the supplier {supplier}", f"供应商{supplier}的货品")
        keys = [sheet.key(row["row"], 6) for row in found]
        again = bench.rows(
            "sheets",
            "SELECT a.row FROM cells a JOIN cells b ON b.sheet = a.sheet AND b.row = a.row AND "
            "b.col = 3 WHERE a.sheet = ? AND a.col = 8 AND a.raw = ? AND b.raw = ?",
            (sheet.id, supplier, warehouse),
        )
        raised = [[_raised(row["level"], share) for share in shares] for row in found]
        distinct = all(
            len({row["level"], *values}) == 5 for row, values in zip(found, raised, strict=True)
        )
        if (
            ("sheets", group) in bench.groups
            or not bench.free("sheets", "cells", keys)
            or {row["row"] for row in again} != {row["row"] for row in found}
            or not distinct
        ):
            continue

        pages = pages_of_list(sum(row["supplier"] == supplier for row in rows), ROWS_PER_PAGE)

        def find(pilot: Pilot, who: str = supplier, pages: range = pages) -> Script:
            for page in pages:
                query = {"col": 8, "op": "=", "value": who, "page": page}
                yield from view_sheet(pilot, sheet.id, urlencode(query))

        def write(pilot: Pilot, target: JobTarget, values: Values) -> Script:
            row = int(target.key.partition("!")[2][1:])
            yield from set_row(pilot, sheet.id, row, {ref_of(row, 6): values["raw"]})

        return RecordJob(
            "sheets", "cells", bench.say("good", "货品"), group,
            tuple(
                bench.say(
                    f"On the sheet {sheet.name} of the workbook {sheet.book}, set the reorder level "
                    f"of the goods of the supplier {supplier} in the warehouse {warehouse} to {share} "
                    "per cent above its value of this morning, each rounded up to the next multiple "
                    "of 5 (a multiple of 5 stays). The number of a good is its SKU.",
                    f"在工作簿“{sheet.book}”的“{sheet.name}”中，把{warehouse}仓库中由{supplier}供应的货品的"
                    f"补货线设为比今早的值高{share}%，各自向上取整到5的倍数（恰为5的倍数则不再取整）。货品编号即货号。",
                )
                for share in shares[:-1]
            ),
            tuple(
                bench.say(
                    f"the levels should be {share} per cent above this morning's, rounded in the "
                    "same way",
                    f"补货线应比今早的值高{share}%，取整方式相同",
                )
                for share in shares[:-1]
            ),
            tuple(
                JobTarget(key, row["sku"], {"raw": str(row["level"])},
                          tuple({"raw": str(each)} for each in values),
                          bench.say(f"those with a pack size of {row['pack']}",
                                    f"包装数为{row['pack']}的那些"), row["level"])
                for key, row, values in zip(keys, found, raised, strict=True)
            ),
            find, write, looks=len(pages), shown_in=f"levels {supplier}", limit=lambda bound: best_text(
                bench, ("reorder levels of this morning", "今早的补货线"), (f"{bound}", f"{bound}")),
        )  # fmt: skip
    return None


def _raised(level: int, per_cent: int) -> int:
    return -(-level * (100 + per_cent) // 500) * 5


def contact_notes(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Write a note into contacts; some have another one."""
    scene = bench.scene
    rows = bench.rows(
        "mail",
        "SELECT * FROM contacts WHERE name IN (SELECT name FROM contacts GROUP BY name "
        "HAVING count(*) = 1) AND company NOT IN ('In-house', '本公司') ORDER BY id",
    )
    everybody = bench.rows("mail", "SELECT id, company, role FROM contacts")
    for found in bench.clusters(rows, ("company", "role"), sizes):
        company, role = found[0]["company"], found[0]["role"]
        keys = [row["id"] for row in found]
        group = bench.say(f"contacts of the company {company}", f"公司为“{company}”的联系人")
        same = [row["id"] for row in everybody if (row["company"], row["role"]) == (company, role)]
        if (("mail", group) in bench.groups or not bench.free("mail", "contacts", keys)
                or sorted(same) != sorted(keys)):  # fmt: skip
            continue
        texts = [bench.say(*each.split("|")) for each in scene.sample(_NOTES, 6)]
        targets = []
        for place, row in enumerate(scene.sample(found, len(found))):
            note = texts[4 + place % 2] if place % 3 < 2 else ""
            bench.edit("mail", "UPDATE contacts SET note = ? WHERE id = ?", note, row["id"])
            trait = bench.say(f'those whose note was "{note}" this morning' if note
                              else "those that had no note this morning",
                              f"今早备注为“{note}”的那些" if note else "今早没有备注的那些")  # fmt: skip
            targets.append(JobTarget(row["id"], f"#{row['id']}", {"note": note},
                                     tuple({"note": each} for each in texts[:4]), trait))  # fmt: skip

        find, opening, looks = in_contacts(bench, company)

        def write(pilot: Pilot, target: JobTarget, values: Values) -> Script:
            yield from pilot.goto("mail", f"/contacts/{target.key}")
            yield from pilot.fill(pilot.words("mail", "contact_note"), values["note"])
            yield from pilot.click("button", pilot.words("mail", "save"))

        return RecordJob(
            "mail", "contacts", bench.say("contact", "联系人"), group,
            tuple(
                bench.say(
                    f'Set the note of the contacts of the company {company} with the role "{role}" '
                    f'to "{text}"; a note that is there is replaced.',
                    f"请把{company}公司职务为“{role}”的联系人的备注设为“{text}”，已有备注一律替换。",
                )
                for text in texts[:3]
            ),
            _note_mends(bench, texts[:3]),
            tuple(sorted(targets, key=lambda each: int(each.key))), find, write, looks=looks,
            opening=opening,
        )  # fmt: skip
    return None


def in_contacts(
    bench: ShiftBench, company: str
) -> tuple[Solver, Callable[[Pilot, JobTarget], Script], int]:
    """Return scripts that look up a company's contacts, and the pages of the list."""
    rows = bench.rows("mail", "SELECT id, name FROM contacts WHERE company LIKE ? OR email LIKE ? "
                      "OR name LIKE ? ORDER BY name, id", (f"%{company}%",) * 3)  # fmt: skip
    pages = pages_of_list(len(rows), _CONTACTS_PER_PAGE)
    places = {
        row["id"]: (row["name"], place // _CONTACTS_PER_PAGE + 1) for place, row in enumerate(rows)
    }

    def show(pilot: Pilot, page: int) -> Script:
        yield from pilot.goto("mail", f"/contacts?{urlencode({'q': company, 'page': page})}")

    def find(pilot: Pilot) -> Script:
        for page in pages:
            yield from show(pilot, page)

    def opening(pilot: Pilot, target: JobTarget) -> Script:
        name, page = places[target.key]
        yield from show(pilot, page)
        yield from pilot.click("link", name)

    return find, opening, len(pages)


def event_notes(bench: ShiftBench, sizes: range) -> RecordJob | None:
    """Write a note into events that the user organises; some have another one."""
    scene, me = bench.scene, bench.scene.people(bench.plan)[0].login
    rows = bench.rows(
        "calendar", "SELECT * FROM events WHERE organiser = ? AND status = 'planned' AND "
        "date(start) > ? ORDER BY id", (me, bench.today))  # fmt: skip
    rooms = {row["code"]: row["name"] for row in bench.rows("calendar", "SELECT * FROM _rooms")}
    for found in bench.clusters(rows, ("title",), sizes):
        title, keys = found[0]["title"], [row["id"] for row in found]
        group = bench.say(f'events with the title "{title}"', f"标题为“{title}”的日程")
        again = bench.rows(
            "calendar", "SELECT id FROM events WHERE title = ? AND organiser = ? AND start > ? AND "
            "status = 'planned'", (title, me, f"{bench.today} 23:59"))  # fmt: skip
        if (("calendar", group) in bench.groups or not bench.free("calendar", "events", keys)
                or any(row["series"] for row in found)
                or {row["id"] for row in again} != set(keys)):  # fmt: skip
            continue
        texts = [bench.say(*each.split("|")) for each in scene.sample(_EVENT_NOTES, 6)]
        targets = []
        for place, row in enumerate(found):
            note = texts[4 + place % 2] if place % 3 < 2 else ""
            bench.edit("calendar", "UPDATE events SET note = ? WHERE id = ?", note, row["id"])
            room = rooms.get(row["room"], "")
            trait = bench.say(
                f"those in the room {room}" if room else "those without a room",
                f"在会议室{room}的那些" if room else "没有会议室的那些",
            )
            targets.append(JobTarget(row["id"], f"#{row['id']}", {"note": note},
                                     tuple({"note": each} for each in texts[:4]), trait))  # fmt: skip

        def find(pilot: Pilot, name: str = title) -> Script:
            yield from pilot.goto("calendar", f"/list?{urlencode({'q': name})}")

        def write(pilot: Pilot, target: JobTarget, values: Values) -> Script:
            yield from pilot.goto("calendar", f"/events/{target.key}")
            yield from pilot.fill(pilot.words("calendar", "note"), values["note"])
            yield from pilot.click("button", pilot.words("calendar", "save"))

        return RecordJob(
            "calendar", "events", bench.say("event", "日程"), group,
            tuple(
                bench.say(
                    f'Set the note of the planned events with the title "{title}" that the user '
                    f'organises and that take place after today to "{text}"; a note that is there '
                    "is replaced. Planned are those that are not cancelled: their pages say "
                    f"{_planned_words('en')}.",
                    f"请把用户组织的、已计划的、今天之后的、标题为“{title}”的日程的备注设为“{text}”，已有备注一律替换。"
                    f"已计划指未取消，日程页面显示为{_planned_words('zh')}。",
                )
                for text in texts[:3]
            ),
            _note_mends(bench, texts[:3]),
            tuple(targets), find, write,
        )  # fmt: skip
    return None


def _planned_words(language: Language) -> str:
    """Return, in quotation marks, the words with which looks state that an event is planned."""
    words = wordings_of("calendar", "status_planned", language)
    if language == "zh":
        return "、".join(f"“{each}”" for each in words[:-1]) + f"或“{words[-1]}”"
    return ", ".join(f'"{each}"' for each in words[:-1]) + f' or "{words[-1]}"'


def _note_mends(bench: ShiftBench, texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(bench.say(f'the note should be "{text}"', f"备注应为“{text}”") for text in texts)
