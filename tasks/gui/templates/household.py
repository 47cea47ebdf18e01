"""Work with tasks and calls."""

from typing import Any

from hexathlon.tasks.gui.operations.finding import found, tab
from hexathlon.tasks.gui.operations.operation import done, in_sequence
from hexathlon.tasks.gui.operations.planning import add_task
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.draft import (
    GuiDraft,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    row_added,
    row_changed,
    row_removed,
    rows_together,
)
from hexathlon.tasks.gui.templates.people import unique_names
from hexathlon.tasks.gui.templates.scripts import only_in, press, template
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES", "findable_tasks", "new_task"]


def findable_tasks(scene: GuiScene, plan: PhonePlan) -> list[PhoneRow]:
    """Return open tasks whose title no other task contains."""
    rows = scene.rows(plan, "tasks.tasks")
    return [
        row
        for row in rows
        if not row["done"]
        and only_in(rows, row["title"], ("title",))
        and not any(row["title"] in each["title"] for each in scene.rows(plan, "tasks.steps"))
    ]


def new_task(**facts: Any) -> dict[str, Any]:
    """Expect a new task; fields not given are empty."""
    usual = {"due": "", "time": "", "priority": "", "note": "", "flagged": False, "done": False}
    return row_added("tasks.tasks", {**usual, **facts})


def first_list(scene: GuiScene, plan: PhonePlan) -> PhoneRow:
    """Return the list that new tasks belong to."""
    return min(scene.rows(plan, "tasks.lists"), key=lambda row: row["place"])


# Tasks -----------------------------------------------------------------------------------------


@template("tasks_add", "easy", "medium", apps=("tasks",))
def task_added(scene: GuiScene) -> GuiDraft | None:
    """Create a task in a list, with a due date and, at `medium`, a time and a priority."""
    plan = scene.plan()
    lists = scene.rows(plan, "tasks.lists")
    within, near = scene.sample(lists, 2)
    title = scene.say(f"Wash van {scene.number(2, 90)}", f"清洗{scene.number(2, 90)}号货车")
    day = scene.day(plan, scene.number(2, 40))
    facts = {"title": title, "list": within["name"], "due": day}
    more = ""
    if scene.level == "medium":
        facts |= {"time": f"{scene.number(8, 20):02d}:{scene.number(0, 11) * 5:02d}",
                  "priority": scene.pick(("high", "low"))}  # fmt: skip
        level = scene.word("tasks", facts["priority"])
        more = scene.say(f" at {facts['time']}, priority {level}",
                         f" {facts['time']}，优先级{level}")  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(f'Add the task "{title}" to the list {within["name"]}, due on '
                  f"{scene.day_words(day)}{more}.",
                  f"在清单“{within['name']}”中添加任务“{title}”，截止{scene.day_words(day)}{more}。"),
        in_sequence(add_task(**facts), done),
        changes=new_task(**{**facts, "list": within["id"]}),
        alternatives={"backwards": in_sequence(add_task(**dict(reversed(facts.items()))), done)},
        mutants={"other_list": in_sequence(add_task(**{**facts, "list": near["name"]}), done),
                 "other_day": in_sequence(add_task(**{**facts, "due": scene.day(plan, 1)}), done),
                 "title": in_sequence(add_task(**{**facts, "title": f"{title}0"}), done)},
        turns=50,
    )  # fmt: skip


@template("tasks_finish", "easy", "medium", apps=("tasks",))
def finish_tasks(scene: GuiScene) -> GuiDraft | None:
    """Tick one task off; at `medium`, also flag a second and delete a third."""
    plan = scene.plan()
    rows = [row for row in findable_tasks(scene, plan) if not row["flagged"]]
    if len(rows) < 4:
        return None
    one, two, three, near = scene.sample(rows, 4)
    if any(step["task"] == three["id"] for step in scene.rows(plan, "tasks.steps")):
        return None
    medium = scene.level == "medium"

    def tick(row: PhoneRow) -> PhoneScript:
        return in_sequence(found("tasks", row["title"]),
                     lambda pilot: pilot.tap("checkbox", row["title"]))  # fmt: skip

    def by_row(pilot: PhonePilot) -> Script:
        yield from pilot.open("tasks")
        yield from pilot.press("tasks", "search")
        yield from pilot.fill(pilot.words("tasks", "search"), one["title"])
        name = pilot.words("tasks", "done_task")[0].format(name=one["title"])
        yield from pilot.tap("checkbox", name)

    flag = in_sequence(found("tasks", two["title"]), press("tasks", "flag"))
    delete = in_sequence(found("tasks", three["title"]), press("tasks", "delete"),
                   lambda pilot: pilot.tap("button", pilot.words("tasks", "delete")))  # fmt: skip
    rest = in_sequence(flag, delete) if medium else in_sequence()
    more = scene.say(
        f', flag "{two["title"]}" and delete "{three["title"]}"' if medium else "",
        f"，给“{two['title']}”标旗，并删除“{three['title']}”" if medium else "",
    )
    changes = [row_changed("tasks.tasks", one["id"], done=True)]
    if medium:
        changes += [row_changed("tasks.tasks", two["id"], flagged=True),
                    row_removed("tasks.tasks", three["id"])]  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(f'Tick off "{one["title"]}"{more}.', f"把“{one['title']}”标为完成{more}。"),
        in_sequence(tick(one), rest, done), changes=rows_together(*changes),
        alternatives={"in_list": in_sequence(rest, by_row, done)},
        mutants={"other": in_sequence(tick(near), rest, done),
                 "twice": in_sequence(tick(one), by_row, rest, done),
                 "rest_only": in_sequence(rest, done)},
        turns=60,
    )  # fmt: skip


@template("tasks_steps", "medium", apps=("tasks",))
def split_task(scene: GuiScene) -> GuiDraft | None:
    """Add steps to a task and move it to another list; sometimes also finish its first step."""
    plan = scene.plan()
    taken = {row["task"] for row in scene.rows(plan, "tasks.steps")}
    rows = [row for row in findable_tasks(scene, plan) if row["id"] not in taken]
    if len(rows) < 2:
        return None
    row, near = scene.sample(rows, 2)
    within = scene.pick([each for each in scene.rows(plan, "tasks.lists")
                         if each["id"] not in (row["list"], near["list"])])  # fmt: skip
    number = scene.number(2, 60)
    texts = [scene.say(f"Call depot {number}", f"给{number}号仓库打电话"),
             scene.say(f"Note price {number}", f"记下{number}号价格"),
             scene.say(f"Reserve slot {number}", f"预留{number}号时段")]  # fmt: skip
    more = bool(scene.number(0, 1))

    def add(title: str, names: list[str], *, move: bool = True) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from found("tasks", title)(pilot)
            for name in names:
                boxes = [each for each in pilot.elements() if each.role == "textbox"]
                yield from pilot.act("input_text", text=name, index=boxes[0].index,
                                     clear_text=True)  # fmt: skip
                yield from pilot.act("keyboard_enter")
            if more:
                yield from pilot.tap_entry(names[0])
            if move:
                yield from pilot.press("tasks", "move")
                yield from pilot.tap_entry(within["name"])
            yield from pilot.done()

        return run

    shown = scene.say(", ".join(f'"{text}"' for text in texts),
                      "".join(f"“{text}”" for text in texts))  # fmt: skip
    wish = scene.say(" The first of them is done already." if more else "",
                     "其中第一步已经完成。" if more else "")  # fmt: skip
    added = [{"task": row["id"], "title": text, "done": more and place == 0}
             for place, text in enumerate(texts)]  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(f'Give the task "{row["title"]}" the steps {shown}, and move it to the list '
                  f"{within['name']}.{wish}",
                  f"给任务“{row['title']}”添加步骤{shown}，并移到清单“{within['name']}”。{wish}"),
        add(row["title"], texts),
        changes=rows_together(row_added("tasks.steps", *added),
                              row_changed("tasks.tasks", row["id"], list=within["id"])),
        alternatives={"looked": in_sequence(tab("tasks", "flagged"), add(row["title"], texts))},
        mutants={"not_moved": add(row["title"], texts, move=False),
                 "one_less": add(row["title"], texts[:2]), "other": add(near["title"], texts)},
        turns=50,
    )  # fmt: skip


# Calls -----------------------------------------------------------------------------------------


@template("phone_favourite", "easy", apps=("phone",))
def add_favourite(scene: GuiScene) -> GuiDraft | None:
    """Add a contact to the favourites and remove another."""
    plan = scene.plan()
    favourites = scene.rows(plan, "phone.favourites")
    numbers = {row["number"] for row in favourites}
    people = [row for row in unique_names(scene.rows(plan, "contacts.contacts"))
              if row["phone"] not in numbers]  # fmt: skip
    one, two = scene.sample(people, 2)
    old, other = scene.sample(favourites, 2)

    def solver(new: PhoneRow, gone: PhoneRow, *, first: bool = True) -> PhoneScript:
        def drop(pilot: PhonePilot) -> Script:
            yield from tab("phone", "favourites")(pilot)
            name = pilot.words("phone", "drop_favourite")[0].format(name=gone["name"])
            yield from pilot.tap("button", name)

        def add(pilot: PhonePilot) -> Script:
            yield from tab("phone", "favourites")(pilot)
            yield from pilot.create("phone", "add_favourite")
            yield from pilot.fill(pilot.words("phone", "search"), new["name"])
            yield from pilot.tap_entry(new["name"])

        return in_sequence(add, drop, done) if first else in_sequence(drop, add, done)

    return GuiDraft(
        plan,
        scene.say(f"In the phone's favourites, replace {old['name']} by {one['name']}.",
                  f"在电话的收藏中，用{one['name']}代替{old['name']}。"),
        solver(one, old),
        changes=rows_together(
            row_added("phone.favourites", {"name": one["name"], "number": one["phone"]}),
            row_removed("phone.favourites", old["id"])),
        alternatives={"other_order": solver(one, old, first=False)},
        mutants={"other_person": solver(two, old), "other_gone": solver(one, other),
                 "nothing": done},
    )  # fmt: skip


@template("phone_block", "easy", "medium", apps=("phone",))
def block_caller(scene: GuiScene) -> GuiDraft | None:
    """Block the unknown number that called most often, or that left a voicemail."""
    plan = scene.plan()
    calls = [row for row in scene.rows(plan, "phone.calls") if not row["name"]]
    counts: dict[str, int] = {}
    often = scene.pick(sorted({row["number"] for row in calls}) or [""])
    key = scene.next_key(plan, "phone.calls")
    plan = plan.with_edits([
        ("phone.calls", "put", {
            "id": key + place, "number": often, "kind": "missed", "seconds": 0, "name": "",
            "time": f"{scene.day(plan, -1 - place // 2)} {9 + 3 * place:02d}:{5 + place:02d}"})
        for place in range(scene.number(2, 4))
    ])  # fmt: skip
    calls = [row for row in scene.rows(plan, "phone.calls") if not row["name"]]
    for row in calls:
        counts[row["number"]] = counts.get(row["number"], 0) + (row["kind"] == "missed")
    order = sorted(counts, key=lambda number: (-counts[number], number))
    if len(order) < 2 or counts[order[0]] == counts[order[1]]:
        return None
    number, near = order[0], order[1]
    known = next(row["number"] for row in scene.rows(plan, "phone.calls") if row["name"])
    easy = scene.level == "easy"

    def by_number(wanted: str) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from found("phone", wanted)(pilot)
            yield from pilot.press("phone", "block")
            yield from pilot.done()

        return run

    def by_settings(wanted: str) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from pilot.open("phone")
            yield from pilot.press("phone", "settings")
            yield from pilot.tap_entry(pilot.words("phone", "blocked_numbers"))
            yield from pilot.create("phone", "block_number")
            yield from pilot.fill(pilot.words("phone", "number"), wanted)
            yield from pilot.tap("button", pilot.words("phone", "block"))
            yield from pilot.done()

        return run

    return GuiDraft(
        plan,
        scene.say(f"Block calls from {number}.", f"屏蔽号码{number}的来电。") if easy else
        scene.say("One number in the call history belongs to no contact and has more missed calls "
            "than any other such number. Block it.",
                  "最近通话中，有个不在通讯录里的号码未接次数最多，请屏蔽它。"),
        by_number(number), changes=row_added("phone.blocked", {"number": number}),
        alternatives={"by_settings": by_settings(number)},
        mutants={"near": by_number(near), "known": by_settings(known),
                 "typo": by_settings(number[:-1])},
        turns=50,
    )  # fmt: skip


@template("phone_forward", "easy", "medium", apps=("phone", "contacts"))
def forward_calls(scene: GuiScene) -> GuiDraft | None:
    """Forward calls to a contact's number."""
    plan = scene.plan()
    people = unique_names(scene.rows(plan, "contacts.contacts"))
    one, two = scene.sample(people, 2)
    waiting = plan.table("phone.prefs")["waiting"]["value"]
    medium = scene.level == "medium"

    def solver(number: str, *, flip: bool, save: str = "save") -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from found("contacts", one["name"])(pilot)
            yield from pilot.open("phone")
            yield from pilot.press("phone", "settings")
            if flip:
                yield from pilot.tap("switch", pilot.words("phone", "waiting"))
            yield from pilot.tap_entry(pilot.words("phone", "forward"))
            yield from pilot.fill(pilot.words("phone", "forward"), number)
            yield from pilot.tap("button", pilot.words("phone", save))
            yield from pilot.done()

        return run

    state = scene.say("off" if waiting else "on", "关闭" if waiting else "打开")
    more = scene.say(f", and turn call waiting {state}" if medium else "",
                     f"，并{state}呼叫等待" if medium else "")  # fmt: skip
    changes = [row_changed("phone.prefs", "forward_to", value=one["phone"])]
    if medium:
        changes.append(row_changed("phone.prefs", "waiting", value=not waiting))
    return GuiDraft(
        plan,
        scene.say(f"Forward my calls to {one['name']}{more}.",
                  f"把我的来电转移给{one['name']}{more}。"),
        solver(one["phone"], flip=medium), changes=rows_together(*changes),
        alternatives={"twice": in_sequence(tab("phone", "keypad"),
                                     solver(one["phone"], flip=medium))},
        mutants={"other": solver(two["phone"], flip=medium),
                 "switch": solver(one["phone"], flip=not medium),
                 "cancelled": solver(one["phone"], flip=medium, save="cancel")},
        turns=40,
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (
    task_added, finish_tasks, split_task, add_favourite, block_caller, forward_calls,
)  # fmt: skip
