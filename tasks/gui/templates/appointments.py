"""Work with the calendar and the clock."""

from typing import Any

from hexathlon.tasks.gui.operations.finding import found, tab
from hexathlon.tasks.gui.operations.operation import done, in_sequence
from hexathlon.tasks.gui.operations.planning import (
    add_event,
    change_event,
    reminder_words,
    set_alarm,
)
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
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
from hexathlon.tasks.gui.templates.scripts import answered, only_in, press, refused, template
from hexathlon.tasks.gui.world.apps.calendar.calendar import happens_on
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES", "findable_events", "free_slot", "new_event"]

_EVENT_TEXTS = ("title", "place", "guests", "note")
_HALF_HOURS = tuple(f"{hour:02d}:{minute}" for hour in range(8, 20) for minute in ("00", "30"))


def findable_events(scene: GuiScene, plan: PhonePlan) -> list[PhoneRow]:
    """Return future one-off events whose title no other event's title contains."""
    rows = scene.rows(plan, "calendar.events")
    today = scene.day(plan, 0)
    return [row for row in rows
            if row["day"] > today and not row["all_day"] and not row["repeat"]
            and only_in(rows, row["title"], _EVENT_TEXTS)]  # fmt: skip


def free_slot(
    scene: GuiScene, plan: PhonePlan, day: str, *, but: int = 0, minutes: int = 90
) -> str:
    """Draw a start time on a day followed by this many free minutes; empty if there is none."""
    taken = [row for row in events_on(scene, plan, day) if row["id"] != but]
    free = [
        time
        for time in _HALF_HOURS
        if all(later(time, minutes) <= row["start"] or row["end"] <= time for row in taken)
    ]
    return str(scene.pick(free)) if free else ""


def events_on(scene: GuiScene, plan: PhonePlan, day: str) -> list[PhoneRow]:
    """Return the events of a day that have a time, repeated ones included, by start."""
    rows = [row for row in scene.rows(plan, "calendar.events")
            if not row["all_day"] and happens_on(row, day)]  # fmt: skip
    return sorted(rows, key=lambda row: (row["start"], row["id"]))


def later(time: str, minutes: int) -> str:
    """Return the time this many minutes later on the same day."""
    total = int(time[:2]) * 60 + int(time[3:]) + minutes
    return f"{total // 60:02d}:{total % 60:02d}"


def new_event(plan: PhonePlan, **facts: Any) -> dict[str, Any]:
    """Expect a new event; fields not given have the form's defaults."""
    usual = {"all_day": False, "place": "", "guests": "", "calendar": "personal",
             "alarm": plan.table("calendar.prefs")["alarm"]["value"], "repeat": "",
             "note": ""}  # fmt: skip
    return row_added("calendar.events", {**usual, **facts})


@template("calendar_add", "easy", "medium", apps=("calendar",))
def event_added(scene: GuiScene) -> GuiDraft | None:
    """Create an event with several properties; at `medium`, sometimes with guests."""
    plan = scene.plan()
    day = scene.day(plan, scene.number(2, 40))
    start = free_slot(scene, plan, day)
    if not start:
        return None
    title = scene.say(f"Inventory {scene.number(2, 70)}", f"盘点{scene.number(2, 70)}")
    place = scene.say(f"Depot {scene.number(2, 70)}", f"{scene.number(2, 70)}号仓库")
    alarm = scene.pick(("5", "120", "1440", "60"))
    facts = {"title": title, "day": day, "start": start, "end": later(start, 90), "place": place}
    told = scene.say(
        f'Put "{title}" into the calendar: {scene.day_words(day)}, {start} to {facts["end"]}, '
        f"place {place}",
        f"在日历中添加“{title}”：{scene.day_words(day)} {start}至{facts['end']}，地点{place}",
    )
    if scene.level != "easy":
        facts |= {"alarm": alarm, "calendar": "work"}
        words = reminder_words(scene.language, alarm)[0]
        told += scene.say(f", in the calendar Work, with a reminder {words}",
                          f"，归入“工作”日历，提醒设为{words}")  # fmt: skip
    if scene.level != "easy" and scene.number(0, 1):
        people = [row["name"] for row in unique_names(scene.rows(plan, "contacts.contacts"))]
        guests = sorted(scene.sample(people, 3))
        facts["guests"] = ", ".join(guests)
        told += scene.say(f", and invite {guests[0]}, {guests[1]} and {guests[2]}",
                          f"，并邀请{'、'.join(guests)}")  # fmt: skip
    # The end is set last, because setting the start moves it.
    backwards = {name: facts[name] for name in reversed(facts) if name != "end"}
    backwards["end"] = facts["end"]
    wrong_end = {**facts, "end": later(start, 60)}
    other_day = {**facts, "day": scene.day(plan, 41)}
    return GuiDraft(
        plan, told + scene.say(".", "。"), in_sequence(add_event(**facts), done),
        changes=new_event(plan, **facts),
        alternatives={"backwards": in_sequence(add_event(**backwards), done)},
        mutants={"wrong_end": in_sequence(add_event(**wrong_end), done),
                 "other_day": in_sequence(add_event(**other_day), done),
                 "no_place": in_sequence(add_event(**{**facts, "place": ""}), done),
                 "nothing": done},
        turns=90,
    )  # fmt: skip


@template("calendar_move", "easy", "medium", apps=("calendar",))
def move_event(scene: GuiScene) -> GuiDraft | None:
    """Move an event to another day and time without changing its duration."""
    plan = scene.plan()
    events = findable_events(scene, plan)
    if len(events) < 2:
        return None
    row, near = scene.sample(events, 2)
    minutes = (int(row["end"][:2]) - int(row["start"][:2])) * 60
    minutes += int(row["end"][3:]) - int(row["start"][3:])
    if minutes % 5 or minutes > 90:
        return None
    day = scene.day(plan, scene.number(3, 50))
    start = free_slot(scene, plan, day, but=row["id"])
    if not start or day == row["day"] or start == row["start"]:
        return None
    facts = {"day": day, "start": start, "end": later(start, minutes)}
    if scene.level == "easy":
        facts = {"day": day}
        told = scene.say(f'Move "{row["title"]}" to {scene.day_words(day)}, at the same time.',
                         f"把“{row['title']}”改到{scene.day_words(day)}，时间不变。")  # fmt: skip
    else:
        told = scene.say(
            f'"{row["title"]}" now begins on {scene.day_words(day)} at {start} and lasts as long '
            "as planned. Correct it.",
            f"“{row['title']}”改为{scene.day_words(day)} {start}开始，时长不变。请更正。",
        )
    changed = {name: value for name, value in facts.items() if value != row[name]}
    twice = in_sequence(press("calendar", "edit"), lambda pilot: pilot.act("navigate_back"))
    return GuiDraft(
        plan, told, in_sequence(change_event(row["title"], **facts), done),
        changes=row_changed("calendar.events", row["id"], **changed),
        alternatives={"looked": in_sequence(found("calendar", row["title"]), twice,
                                      change_event(row["title"], **facts), done)},
        mutants={"other": in_sequence(change_event(near["title"], **facts), done),
                 "copy": in_sequence(add_event(**{"title": row["title"], **facts}), done),
                 "day_only": in_sequence(change_event(row["title"], day=scene.day(plan, 2)), done)},
        turns=60,
    )  # fmt: skip


@template("calendar_cancel", "easy", apps=("calendar",))
def cancel_event(scene: GuiScene) -> GuiDraft | None:
    """Delete one of several events with nearly the same title."""
    plan = scene.plan()
    events = findable_events(scene, plan)
    if len(events) < 2:
        return None
    row, near = scene.sample(events, 2)

    def delete(title: str, key: str = "delete") -> PhoneScript:
        return in_sequence(found("calendar", title), press("calendar", "delete"),
                     lambda pilot: pilot.tap("button", pilot.words("calendar", key)),
                     done)  # fmt: skip

    return GuiDraft(
        plan, scene.say(f'"{row["title"]}" does not take place: delete it from the calendar.',
                        f"“{row['title']}”取消了，请从日历中删除。"),
        delete(row["title"]), changes=row_removed("calendar.events", row["id"]),
        alternatives={"from_agenda": in_sequence(tab("calendar", "month"), delete(row["title"]))},
        mutants={"other": delete(near["title"]), "cancelled": delete(row["title"], "cancel"),
                 "nothing": done},
    )  # fmt: skip


@template("calendar_invite", "medium", apps=("calendar", "contacts"))
def invite(scene: GuiScene) -> GuiDraft | None:
    """Invite one more guest, described by their address, and keep the others."""
    plan = scene.plan()
    rows = scene.rows(plan, "contacts.contacts")
    names = unique_names(rows)
    columns = ("name", "phone", "email", "company", "address", "birthday", "group", "note")
    people = [row for row in names if row["address"] and only_in(rows, row["address"], columns)]
    known = {row["name"] for row in names}
    events = [row for row in findable_events(scene, plan)
              if row["guests"] and set(row["guests"].split(", ")) <= known]  # fmt: skip
    if len(people) < 2 or not events:
        return None
    event = scene.pick(events)
    guests = event["guests"].split(", ")
    one, two = scene.sample(people, 2)
    if {one["name"], two["name"]} & set(guests):
        return None
    more = bool(scene.number(0, 1))
    out = scene.pick(guests) if more else ""
    after = sorted({*guests, one["name"]} - {out})

    def flip(*who: str) -> PhoneScript:
        # Tapping a guest who is already invited removes them.
        return in_sequence(change_event(event["title"], guests=", ".join(who)), done)

    who = (one["name"], out) if more else (one["name"],)
    wish = scene.say(f" instead of {out}" if more else "", f"，并把{out}去掉" if more else "")
    look = found("contacts", one["address"], one["name"])
    return GuiDraft(
        plan,
        scene.say(f'Invite the contact who lives at {one["address"]} to "{event["title"]}"{wish}. '
                  "Everybody else stays invited.",
                  f"邀请住在{one['address']}的联系人参加“{event['title']}”{wish}。其他受邀者不变。"),
        in_sequence(look, flip(*who)),
        changes=row_changed("calendar.events", event["id"], guests=", ".join(after)),
        alternatives={"other_order": flip(*reversed(who))},
        mutants={"other_person": flip(two["name"], *who[1:]), "others_gone": flip(*who, guests[0])
                 if guests[0] != out else flip(one["name"]), "nothing": in_sequence(look, done)},
        turns=60,
    )  # fmt: skip


@template("calendar_if_free", "medium", apps=("calendar",), twins=True)
def add_if_free(scene: GuiScene) -> GuiDraft | None:
    """Create an event unless it would overlap another one."""
    plan = scene.plan()
    day = scene.day(plan, scene.number(2, 45))
    start = free_slot(scene, plan, day, minutes=150)
    if not start or start > "19:00":
        return None
    rows = scene.rows(plan, "calendar.events")
    near = scene.pick([row for row in rows if not row["repeat"] and not row["all_day"]])
    code = scene.number(100, 999)
    other = scene.say(f"Delivery {code}", f"送货{code}")
    title = scene.say(f"Sauna {scene.number(2, 60)}", f"桑拿{scene.number(2, 60)}")
    # The other event is adjacent to the slot in one twin and overlaps it in the other.
    begin = later(start, 60 if scene.feasible else 45)
    plan = plan.with_edits(
        [
            (
                "calendar.events",
                "put",
                {**near, "title": other, "day": day, "start": begin, "end": later(begin, 60)},
            )
        ]
    )
    facts = {"title": title, "day": day, "start": start, "end": later(start, 60)}
    force = in_sequence(add_event(**facts), done)
    look = found("calendar", other)
    right = force if scene.feasible else refused(other)
    return GuiDraft(
        plan,
        scene.say(f'Put "{title}" into the calendar on {scene.day_words(day)} from {start} to '
                  f'{facts["end"]}, but only if nothing else is planned then; events that touch '
                  "are fine.",
                  f"如果{scene.day_words(day)} {start}至{facts['end']}没有别的安排，"
                  f"请在日历中添加“{title}”；首尾相接的日程不算冲突。"),
        in_sequence(look, right),
        changes=new_event(plan, **facts) if scene.feasible else {},
        answer=GuiAnswer() if scene.feasible else GuiAnswer("infeasible", None, other),
        alternatives={"at_once": right},
        mutants={"one_sided": refused(other) if scene.feasible else force,
                 "wrong_record": refused(title),
                 "longer": in_sequence(add_event(**{**facts, "end": later(start, 90)}), done)},
        turns=60,
    )  # fmt: skip


@template("calendar_first", "medium", apps=("calendar",))
def first_of_day(scene: GuiScene) -> GuiDraft | None:
    """Report the title and end of a day's first or last event."""
    plan = scene.plan()
    rows = scene.rows(plan, "calendar.events")
    plain = [row for row in rows if only_in(rows, row["title"], _EVENT_TEXTS)]
    candidates = []
    for day in (scene.day(plan, offset) for offset in range(1, 41)):
        today = events_on(scene, plan, day)
        for last in (False, True) if len(today) > 1 else ():
            row, other = (today[-1], today[0]) if last else (today[0], today[-1])
            # No other event of the day begins as late, or as early.
            rivals = [each for each in today if each is not row
                      and (each["start"] >= row["start"] if last
                           else each["start"] <= row["start"])]  # fmt: skip
            if not rivals and row in plain and row["end"] != other["end"]:
                candidates.append((day, last, row, other))
    if not candidates:
        return None
    day, last, row, other = scene.pick(candidates)
    which = scene.say("last" if last else "first", "最后" if last else "第")
    look = found("calendar", row["title"])
    return GuiDraft(
        plan,
        scene.say(f"Which is the {which} event with a time on {scene.day_words(day)}, and when "
                  "does it end? Answer with its title and its end in the form 15:05.",
                  f"{scene.day_words(day)}{which}一个有时间的日程是什么，几点结束？"
                  "请回答标题和结束时间，如15:05。"),
        in_sequence(look, answered(row["title"], row["end"])),
        answer=GuiAnswer(data=(row["title"], row["end"])),
        alternatives={"at_once": answered(row["title"], row["end"])},
        mutants={"other": answered(other["title"], other["end"]),
                 "start": answered(row["title"], row["start"]), "silent": in_sequence(look, done)},
    )  # fmt: skip


# Clock -----------------------------------------------------------------------------------------


@template("clock_alarm", "easy", "medium", apps=("clock",))
def add_alarm(scene: GuiScene) -> GuiDraft | None:
    """Create an alarm on certain days, with a label."""
    plan = scene.plan()
    prefs = plan.table("clock.prefs")
    time = f"{scene.number(5, 22):02d}:{scene.number(0, 11) * 5:02d}"
    if any(row["time"] == time for row in scene.rows(plan, "clock.alarms")):
        return None
    medium = scene.level == "medium"
    days = "".join(sorted(str(each + 1) for each in scene.sample(range(7), 3))) if medium else ""
    label = scene.say(f"Bus {scene.number(2, 90)}", f"{scene.number(2, 90)}路车")
    english = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    names = [scene.say(english[int(day) - 1], f"周{'一二三四五六日'[int(day) - 1]}")
             for day in days]  # fmt: skip
    when = scene.say(f" on {', '.join(names)}" if medium else ", once",
                     f"，每{'、'.join(names)}响" if medium else "，仅一次")  # fmt: skip
    other_days = "".join(day for day in "1234567" if day not in days)[:3]
    near = f"{(int(time[:2]) + 12) % 24:02d}{time[2:]}"
    row = {"time": time, "days": days, "label": label, "on": True,
           "sound": prefs["sound"]["value"], "snooze": prefs["snooze"]["value"],
           "vibrate": True}  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(f'Set an alarm at {time}{when}, with the label "{label}".',
                  f"设一个{time}的闹钟{when}，标签为“{label}”。"),
        in_sequence(set_alarm(time, days, label), done), changes=row_added("clock.alarms", row),
        alternatives={"looked": in_sequence(tab("clock", "world"), set_alarm(time, days, label),
                                      done)},
        mutants={"twelve_hours": in_sequence(set_alarm(near, days, label), done),
                 "other_days": in_sequence(set_alarm(time, other_days, label), done),
                 "no_label": in_sequence(set_alarm(time, days), done)},
        turns=40,
    )  # fmt: skip


@template("clock_silence", "easy", "medium", apps=("clock",))
def silence(scene: GuiScene) -> GuiDraft | None:
    """Turn off every alarm before a given time, and leave the others."""
    plan = scene.plan()
    alarms = sorted(scene.rows(plan, "clock.alarms"), key=lambda row: row["time"])
    bound = scene.pick(("07:30", "08:00", "07:00", "15:00"))
    early = [row for row in alarms if row["time"] < bound and row["on"]]
    late = [row for row in alarms if row["time"] >= bound and row["on"]]
    off = [row for row in alarms if row["time"] < bound and not row["on"]]
    if not early or not late or not off or len(early) > 4:
        return None

    def flip(rows: list[PhoneRow]) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from pilot.open("clock")
            for row in rows:
                names = _alarm_names(pilot, row["time"])
                yield from pilot.reveal("switch", names)
                yield from pilot.tap("switch", names)
            yield from pilot.done()

        return run

    shown = bound.lstrip("0")
    return GuiDraft(
        plan,
        scene.say(f"Tomorrow I sleep in: turn off every alarm before {shown} that is on, and leave "
                  "the others as they are.",
                  f"明天我想睡懒觉：把{shown}之前开着的闹钟都关掉，其余的不要动。"),
        flip(early),
        changes=rows_together(*(row_changed("clock.alarms", row["id"], on=False)
                                for row in early)),
        alternatives={"backwards": flip(early[::-1])},
        mutants={"one_more": flip([*early, late[0]]), "one_less": flip(early[1:]),
                 "all_flipped": flip([*early, *off])},
        turns=40,
    )  # fmt: skip


def _alarm_names(pilot: PhonePilot, time: str) -> tuple[str, ...]:
    """Return the labels of an alarm's switch, on a 24- and on a 12-hour clock."""
    hour, minute = int(time[:2]), time[3:]
    if pilot.language == "zh":
        texts = (time, f"{'上午' if hour < 12 else '下午'}{(hour - 1) % 12 + 1}:{minute}")
    else:
        texts = (time, f"{(hour - 1) % 12 + 1}:{minute} {'AM' if hour < 12 else 'PM'}")
    pattern = pilot.words("clock", "alarm_at")[0]
    return tuple(pattern.format(time=text) for text in texts)


@template("clock_timer", "easy", apps=("clock",))
def add_timer(scene: GuiScene) -> GuiDraft | None:
    """Create a timer of a given length."""
    plan = scene.plan()
    minutes, seconds = scene.number(2, 40), scene.number(1, 11) * 5
    label = scene.say(f"Batch {scene.number(2, 90)}", f"第{scene.number(2, 90)}批")

    def create(first: int, second: int, text: str, *, save: bool = True) -> PhoneScript:
        def run(pilot: PhonePilot) -> Script:
            yield from tab("clock", "timers")(pilot)
            yield from pilot.create("clock", "new_timer")
            yield from pilot.fill(pilot.words("clock", "label"), text)
            yield from pilot.fill(pilot.words("clock", "minutes_field"), str(first))
            yield from pilot.fill(pilot.words("clock", "seconds_field"), str(second))
            if save:
                yield from pilot.press("clock", "save")
            yield from pilot.done()

        return run

    row = {"label": label, "seconds": 60 * minutes + seconds, "running": False}
    return GuiDraft(
        plan,
        scene.say(f'Make a timer "{label}" of {minutes} minutes and {seconds} seconds; do not '
                  "start it yet.",
                  f"新建计时器“{label}”，{minutes}分{seconds}秒，先不要启动。"),
        create(minutes, seconds, label), changes=row_added("clock.timers", row),
        alternatives={"in_seconds": create(minutes - 1, seconds + 60, label)},
        mutants={"swapped": create(seconds, minutes, label) if seconds != minutes
                 else create(seconds + 1, minutes, label),
                 "unsaved": create(minutes, seconds, label, save=False),
                 "no_label": create(minutes, seconds, "")},
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (
    event_added, move_event, cancel_event, invite, add_if_free, first_of_day, add_alarm, silence,
    add_timer,
)  # fmt: skip
