"""Home life: calls, contacts, clocks, settings, notes and tasks together."""

from hexathlon.tasks.gui.operations.finding import read, read_tab, read_thread
from hexathlon.tasks.gui.operations.operation import PhoneOperation, asking
from hexathlon.tasks.gui.operations.planning import (
    add_event,
    add_step,
    add_task,
    change_task,
    delete_task,
    finish_task,
    flag_task,
    set_alarm,
    switch_alarm,
    switch_setting,
)
from hexathlon.tasks.gui.operations.writing import (
    add_contact,
    add_note,
    block_number,
    change_contact,
    change_note,
    favour_contact,
    put_note_away,
    send_message,
)
from hexathlon.tasks.gui.templates.appointments import events_on, later
from hexathlon.tasks.gui.templates.draft import GuiDraft, GuiTemplate, UserFact
from hexathlon.tasks.gui.templates.errand import Errand, errand
from hexathlon.tasks.gui.world.apps.clock.cities import CITIES, city_name
from hexathlon.tasks.gui.world.phone.core import PhoneRow

__all__ = ["TEMPLATES"]


@errand("home_most_missed", "medium", apps="phone tasks")
def most_missed(e: Errand) -> GuiDraft:
    """Make a task of calling back whoever was missed most often."""
    people = e.people(2)
    counts = e.sample((5, 6, 7), 1) + [4]
    key = e.scene.next_key(e.plan, "phone.calls")
    places = [person for person, count in zip(people, counts, strict=True) for _ in range(count)]
    for place, person in enumerate(e.sample(places, len(places))):
        e.put("phone.calls", {"id": key + place}, name=person["name"], number=person["phone"],
              kind="missed", seconds=0,
              time=f"{e.day(-1 - place % 3)} {9 + place:02d}:{10 + place}")  # fmt: skip
    missed: dict[str, int] = {}
    for row in e.rows("phone.calls"):
        if row["kind"] == "missed" and row["name"]:
            missed[row["name"]] = missed.get(row["name"], 0) + 1
    order = sorted(missed, key=lambda name: -missed[name])
    e.need(order[0] == people[0]["name"] and missed[order[0]] > missed[order[1]])
    due = e.day(1)
    title, other, third = (e.say(f"Ring {name}", f"给{name}回电") for name in (
        order[0], order[1], e.rows("phone.calls")[-1]["number"]))  # fmt: skip
    return e.task(
        ("Whose calls have I missed most often, of the people in my contacts? Make a task of "
         'ringing that person tomorrow, in the form "Ring Ada Moss", with high priority.',
         "通讯录里的人中，我漏接谁的电话最多？请新建任务明天给这个人回电，格式为“给陈晨回电”，"
         "优先级为高。"),
        read_tab("phone", "recents"), add_task(title=title, due=due, priority="high"),
        wrong={"second": [add_task(title=other, due=due, priority="high")],
               "number": [add_task(title=third, due=due, priority="high")],
               "today": [add_task(title=title, due=e.today, priority="high")]},
    )  # fmt: skip


@errand("home_voicemail_contact", "medium", apps="phone contacts")
def voicemail_contact(e: Errand) -> GuiDraft:
    """Save the unknown caller who left a voicemail, under the number said in it."""
    mail = e.choose(e.rows("phone.voicemails"), 1)[0]
    number, other = (f"555-{e.number(100, 999)}-{e.number(1000, 9999)}" for _ in range(2))
    name = e.say(f"Piano tuner {e.number(2, 60)}", f"调琴师{e.number(2, 60)}")
    e.put("phone.voicemails", mail, name="", number=other, text=e.say(
        f"Hello, {name} here. I am calling from a booth; reach me on {number}.",
        f"您好，我是{name}。我在用公用电话，请打{number}找我。"))  # fmt: skip
    return e.task(
        (f"{name} has left a voicemail. Save this name as a contact, with the number to reach it "
         "on.",
         f"{name}留了语音信箱。请以此名存为联系人，号码填可以联系到的那个。"),
        read_tab("phone", "voicemail"), add_contact(name=name, phone=number),
        wrong={"called_from": [add_contact(name=name, phone=other)],
               "misspelt": [add_contact(name=f"{name}0", phone=number)],
               "no_number": [add_contact(name=name)]},
    )  # fmt: skip


@errand("home_quiet_hours", "medium", apps="messages settings clock")
def quiet_hours(e: Errand) -> GuiDraft:
    """Carry out three wishes from a message: two switches and an alarm; one is taken back."""
    thread = e.thread()
    values = e.plan.table("settings.values")
    time = f"{e.number(5, 9):02d}:{e.pick(('10', '25', '35', '50'))}"
    e.need(not any(row["time"] == time for row in e.rows("clock.alarms")))
    e.need(not values["do_not_disturb"]["value"] and not values["battery_saver"]["value"])
    e.tell(thread, e.say("For tonight: put your phone on do not disturb, turn the battery saver "
                         f"on, and set an alarm for {time}.",
                         f"今晚请把手机设为勿扰，打开省电，并设{time}的闹钟。"))  # fmt: skip
    e.tell(
        thread,
        e.say("Leave the battery saver alone, I mixed that up.", "省电模式不用开，我记错了。"),
    )
    quiet = switch_setting("sound", "do_not_disturb")
    saver = switch_setting("battery", "battery_saver")
    return e.task(
        (f"{thread['name']} has written what to set on my phone for tonight. Do what still holds; "
         "the alarm rings once.",
         f"{thread['name']}发信息说了今晚手机要怎么设置。请照仍然有效的做，闹钟只响一次。"),
        read_thread(thread["name"]), quiet, set_alarm(time),
        wrong={"all_three": [quiet, saver, set_alarm(time)],
               "daily": [quiet, set_alarm(time, "1234567")]},
    )  # fmt: skip


@errand("home_shift_alarms", "medium", apps="notes clock")
def shift_alarms(e: Errand) -> GuiDraft:
    """Set the alarms of a roster, and turn off the one that they replace."""
    note = e.notes(1)[0]
    alarms = [row for row in e.rows("clock.alarms") if row["on"]]
    old, kept = e.choose(alarms, 2)
    early, late = f"0{e.number(4, 5)}:{e.pick(('05', '20', '40'))}", f"1{e.number(2, 5)}:10"
    e.need(not any(row["time"] in (early, late) for row in e.rows("clock.alarms")))
    days = "".join(sorted(e.sample("12345", 2)))
    rest = "".join(day for day in "12345" if day not in days)
    names = {
        "en": ("Mon", "Tue", "Wed", "Thu", "Fri"),
        "zh": ("周一", "周二", "周三", "周四", "周五"),
    }

    def said(chosen: str) -> str:
        return ", ".join(names[e.language][int(day) - 1] for day in chosen)

    e.put("notes.notes", note, text=e.say(
        f"Early shift {said(days)}: alarm {early}\nLate shift on the other workdays: alarm {late}",
        f"早班 {said(days)}：闹钟{early}\n其余工作日晚班：闹钟{late}"))  # fmt: skip
    off = switch_alarm(old)
    works = [set_alarm(early, days), set_alarm(late, rest), off]
    return e.task(
        (f'Set the repeated alarms that the roster on my note "{note["title"]}" asks for, and turn '
         f"the alarm at {old['time']} off. Workdays are Monday to Friday.",
         f"请按笔记“{note['title']}”上的排班设重复闹钟，并关掉{old['time']}的闹钟。工作日为周一至周五。"),
        read("notes", note["title"]), *works,
        wrong={"other_off": [*works[:2], switch_alarm(kept)],
               "every_day": [set_alarm(early, days), set_alarm(late, "12345"), off]},
        turns=90,
    )  # fmt: skip


@errand("home_call_abroad", "medium", apps="clock calendar contacts")
def call_abroad(e: Errand) -> GuiDraft:
    """Plan a call at a time given in another city, and note the number to call."""
    cities = [row["city"] for row in e.rows("clock.cities")]
    city = e.pick(cities)
    ahead = CITIES[city][1]
    e.need(ahead)
    person, other = e.people(2)
    there = e.number(9, 17) * 60 + 30
    here = there - ahead
    e.need(8 * 60 <= here <= 21 * 60)
    wrong = there + ahead
    day = e.day(e.number(2, 25))
    start, end = (f"{at // 60:02d}:{at % 60:02d}" for at in (here, here + 30))
    e.need(not [row for row in events_on(e.scene, e.plan, day)
                if row["start"] < end and start < row["end"]])  # fmt: skip
    name = city_name(city, e.language)
    shown = f"{there // 60:02d}:{there % 60:02d}"
    title = e.say(f"Call {person['name'].split()[0]} {e.number(2, 60)}",
                  f"与{person['name']}通话{e.number(2, 60)}")  # fmt: skip
    facts = {"title": title, "day": day, "start": start, "end": end, "note": person["phone"]}
    false = f"{wrong % 1440 // 60:02d}:{wrong % 60:02d}"
    e.need(wrong % 1440 < 23 * 60)
    return e.task(
        (f"I speak with {person['name']} on {e.day_words(day)} at {shown}, the time of {name}, for "
         f'half an hour. Put it into the calendar as "{title}", at the local time by the world '
         "clock, with the number from the contacts, and only that, as the note.",
         f"{e.day_words(day)} {shown}（{name}时间）我要和{person['name']}通话半小时。"
         f"请按世界时钟换算成本地时间，以“{title}”加入日历，备注只写通讯录里的号码。"),
        read_tab("clock", "world"), read("contacts", person["name"]), add_event(**facts),
        wrong={"their_time": [add_event(**facts | {"start": shown, "end": later(shown, 30)})],
               "other_way": [add_event(**facts | {"start": false, "end": later(false, 30)})],
               "other_number": [add_event(**facts | {"note": other["phone"]})]},
        turns=80,
    )  # fmt: skip


@errand("home_birthday_card", "medium", apps="contacts tasks")
def birthday_card(e: Errand) -> GuiDraft:
    """Make a task for the next birthday in a group."""
    group = e.pick(("family", "friends", "work"))
    rows = [row for row in e.rows("contacts.contacts") if row["group"] == group and row["birthday"]]
    e.need(3 <= len(rows) <= 9)

    def coming(row: PhoneRow) -> str:
        this = f"{e.today[:4]}{row['birthday'][4:]}"
        return this if this > e.today else f"{int(e.today[:4]) + 1}{row['birthday'][4:]}"

    order = sorted(rows, key=coming)
    first, second = order[:2]
    earliest = min(rows, key=lambda row: str(row["birthday"][5:]))
    e.need(coming(first) < coming(second) and earliest is not first
           and coming(first) > e.day(3))  # fmt: skip
    title, other, third = (e.say(f"Card for {row['name']}", f"给{row['name']}的贺卡")
                           for row in (first, second, earliest))  # fmt: skip
    due = coming(first)
    return e.task(
        (f"Who of my contacts in the group {e.word('contacts', group)} has the next birthday? Add "
         'a task due on the date of that birthday, in the form "Card for Ada Moss".',
         f"我的“{e.word('contacts', group)}”群组里，下一个过生日的是谁？"
         "请新建截止日为该生日的任务，格式为“给陈晨的贺卡”。"),
        *(read("contacts", row["name"]) for row in rows), add_task(title=title, due=due),
        wrong={"second": [add_task(title=other, due=coming(second))],
               "january": [add_task(title=third, due=coming(earliest))],
               "born": [add_task(title=title, due=e.day(2))]},
        turns=110,
    )  # fmt: skip


@errand("home_packing_steps", "medium", apps="notes tasks")
def packing_steps(e: Errand) -> GuiDraft:
    """Turn the open lines of a note into steps of a task, then archive the note."""
    note = e.notes(1)[0]
    task, near = e.tasks(2)
    things = e.sample(
        (
            e.say("Charger", "充电器"),
            e.say("Rain jacket", "雨衣"),
            e.say("Pass", "护照"),
            e.say("Torch", "手电"),
            e.say("Maps", "地图"),
        ),
        4,
    )
    ticked = e.number(0, 3)
    e.put(
        "notes.notes",
        note,
        text="\n".join(
            f"[{'x' if place == ticked else ' '}] {thing}" for place, thing in enumerate(things)
        ),
    )
    steps = [thing for place, thing in enumerate(things) if place != ticked]
    away = put_note_away(note["title"])
    return e.task(
        (f'Add the lines of my note "{note["title"]}" that are not ticked as steps to the task '
         f'"{task["title"]}", in their order, then archive the note.',
         f"把笔记“{note['title']}”中没打勾的各行按顺序加为任务“{task['title']}”的步骤，然后归档笔记。"),
        read("notes", note["title"]), *(add_step(task["title"], step) for step in steps), away,
        wrong={"ticked_too": [*(add_step(task["title"], step) for step in things), away],
               "other_task": [*(add_step(near["title"], step) for step in steps), away]},
        turns=90,
    )  # fmt: skip


@errand("home_spam_blocked", "medium", apps="messages phone")
def spam_blocked(e: Errand) -> GuiDraft:
    """Block the number that a contact warns of, not the one that is safe."""
    thread = e.thread()
    bad, good = (f"555-{e.number(100, 999)}-{e.number(1000, 9999)}" for _ in range(2))
    row = next(each for each in e.rows("contacts.contacts") if each["phone"] == thread["number"])
    e.tell(thread, e.say(f"Careful with {bad}, that is a fraud. {good} is the real bank.",
                         f"小心{bad}，那是骗子。{good}才是银行的真号码。"))  # fmt: skip
    text = e.say(f"Thanks, {bad[-4:]} is blocked", f"谢谢，{bad[-4:]}已屏蔽")
    return e.task(
        (f"{row['name']} warns me of a number. Block it for calls, and answer "
         f'"{text.replace(bad[-4:], "1234")}" with its last four digits.',
         f"{row['name']}提醒我小心一个号码。请屏蔽它的来电，并回复"
         f"“{text.replace(bad[-4:], '1234')}”，数字换成它的末四位。"),
        read_thread(thread["name"]), block_number(bad), send_message(row, text),
        wrong={"bank": [block_number(good), send_message(row, text)],
               "template": [block_number(bad), send_message(row, text.replace(bad[-4:], "1234"))]},
    )  # fmt: skip


@errand("home_group_by_company", "medium", apps="contacts notes")
def group_by_company(e: Errand) -> GuiDraft:
    """Put the people of a note into a group and correct one number."""
    one, two, near = e.people(3)
    group = e.pick(("family", "friends", "work"))
    e.need(all(row["group"] != group for row in (one, two, near)))
    note = e.notes(1)[0]
    number = f"555-{e.number(100, 999)}-{e.number(1000, 9999)}"
    e.put("notes.notes", note, text=e.say(
        f"{one['name']}\n{two['name']}, new number {number}",
        f"{one['name']}\n{two['name']}，新号码{number}"))  # fmt: skip
    works = [change_contact(one, group=group), change_contact(two, group=group, phone=number)]
    return e.task(
        (f'Put the people on my note "{note["title"]}" into the group {e.word("contacts", group)}, '
         "and store what else the note says about them.",
         f"把笔记“{note['title']}”上的人放进“{e.word('contacts', group)}”群组，"
         "并更新笔记里提到的其他信息。"),
        read("notes", note["title"]), *works,
        wrong={"number_first": [change_contact(one, group=group, phone=number),
                                change_contact(two, group=group)],
               "near": [works[0], change_contact(near, group=group, phone=number)]},
    )  # fmt: skip


@errand("home_favourite_by_calls", "medium", apps="phone contacts")
def favourite_by_calls(e: Errand) -> GuiDraft:
    """Make the contact called most often a favourite, with a note in the contacts."""
    counts: dict[str, int] = {}
    for row in e.rows("phone.calls"):
        if row["kind"] == "out" and row["name"]:
            counts[row["number"]] = counts.get(row["number"], 0) + 1
    order = sorted(counts, key=lambda number: -counts[number])
    people = {row["phone"]: row for row in e.unique("contacts.contacts", "name")}
    e.need(len(order) >= 2 and order[0] in people and order[1] in people)
    best, second = (e.put("contacts.contacts", people[number], note="") for number in order[:2])
    e.drop("phone.favourites", *(row for row in e.rows("phone.favourites")
                                 if row["number"] in order[:2]))  # fmt: skip
    calls = [row for row in e.rows("phone.calls") if row["kind"] == "out" and row["name"]]
    if counts[order[0]] == counts[order[1]]:  # one more call breaks the tie
        latest = next(row for row in calls if row["number"] == order[0])
        e.put("phone.calls", None, **{name: latest[name] for name in latest if name != "id"})
        counts[order[0]] += 1
    text = e.say(f"{counts[order[0]]} calls", f"{counts[order[0]]}次")
    return e.task(
        ("Whom of my contacts have I called most often, by the calls I made? Add this person to "
         'the phone\'s favourites, and note the number of these calls in the contact, in the form '
         '"5 calls".',
         "从拨出的电话看，通讯录里我给谁打得最多？请把此人加入电话的收藏，并在联系人备注里写上次数，"
         "格式为“5次”。"),
        read_tab("phone", "recents"), favour_contact(best), change_contact(best, note=text),
        wrong={"second": [favour_contact(second), change_contact(second, note=text)],
               "second_noted": [favour_contact(best), change_contact(second, note=text)]},
        turns=90,
    )  # fmt: skip


@errand("home_shared_cleanup", "medium", apps="tasks messages")
def shared_cleanup(e: Errand) -> GuiDraft:
    """Close, delete and postpone tasks as a contact writes, and confirm."""
    one, two, three, near = e.tasks(4)
    thread = e.thread()
    row = next(each for each in e.rows("contacts.contacts") if each["phone"] == thread["number"])
    due = e.day(e.number(4, 20))
    e.need(three["due"] != due)
    e.tell(thread, e.say(
        f'"{one["title"]}" is done. "{two["title"]}" is no longer needed at all. '
        f'"{three["title"]}" has time until {e.day_words(due)}.',
        f"“{one['title']}”做完了。“{two['title']}”完全不需要了。“{three['title']}”可以到"
        f"{e.day_words(due)}再做。"))  # fmt: skip
    works = [finish_task(one["title"]), delete_task(two["title"]),
             change_task(three["title"], due=due)]  # fmt: skip
    thanks = send_message(row, e.say("Done, thank you", "已处理，谢谢"))
    return e.task(
        (f"{row['name']} has written about three of our tasks. Bring my list up to date, deleting "
         'what is not needed, and answer "Done, thank you".',
         f"{row['name']}来信说了我们三项任务的情况。请更新我的清单，不需要的删除，并回复“已处理，谢谢”。"),
        read_thread(thread["name"]), *works, thanks,
        wrong={"both_done": [works[0], finish_task(two["title"]), works[2], thanks],
               "near": [finish_task(near["title"]), *works[1:], thanks]},
        turns=80,
    )  # fmt: skip


@errand("home_meter_note", "medium", apps="notes messages")
def meter_note(e: Errand) -> GuiDraft:
    """Add a reading to a note and tell the difference, while notifications come in."""
    note = e.notes(1)[0]
    person = e.people(1)[0]
    old, used = e.number(1200, 6000), e.number(60, 400)
    lines = [f"{e.day(-60)}: {old - e.number(50, 200)}", f"{e.day(-30)}: {old}"]
    e.put("notes.notes", note, text="\n".join(lines))
    new = old + used
    e.notify(3, "podcasts", e.say("New episode", "新单集"), e.say("About meters", "谈谈电表"))
    e.ring(e.number(5, 10))
    kept = "\n".join([*lines, f"{e.today}: {new}"])
    text = e.say(f"Used: {used}", f"用了{used}")
    whole = new - int(lines[0].rpartition(" ")[2])
    return e.task(
        (f'Today the meter shows {new}. Add it to my note "{note["title"]}" in a new line, in the '
         f"form of the others, and message {person['name']} how much was used since the last "
         'reading, in the form "Used: 12".',
         f"今天电表读数是{new}。请按同样格式在笔记“{note['title']}”末尾加一行，并发信息告诉"
         f"{person['name']}自上次以来用了多少，格式为“用了12”。"),
        read("notes", note["title"]), change_note(note["title"], kept), send_message(person, text),
        wrong={"only_new": [change_note(note["title"], f"{e.today}: {new}"),
                            send_message(person, text)],
               "since_first": [change_note(note["title"], kept), send_message(
                   person, text.replace(str(used), str(whole)))]},
    )  # fmt: skip


@errand("home_unknown_flat", "medium", apps="contacts notes tasks")
def unknown_flat(e: Errand) -> GuiDraft:
    """Store an address that only the user knows in two places."""
    person, near = e.people(2)
    task = e.tasks(1)[0]
    number = e.number(11, 99)
    street = e.say(f"{number} Juniper Lane", f"刺柏巷{number}号")
    wrong = e.say(f"{number + 1} Juniper Lane", f"刺柏巷{number + 1}号")
    note = e.say(f"Keys for {person['name']} {e.number(2, 60)}",
                 f"{person['name']}的钥匙{e.number(2, 60)}")  # fmt: skip

    def works(row: PhoneRow, text: str) -> list[PhoneOperation]:
        return [change_contact(row, address=text), add_note(note, text), flag_task(task["title"])]

    e.need(not task["flagged"] and person["address"] != street)
    return e.task(
        (f"{person['name']} has moved into Juniper Lane. Put the new address into the contacts, in "
         f'the form "5 Juniper Lane", write it into a new note "{note}", and flag the task '
         f'"{task["title"]}".',
         f"{person['name']}搬到刺柏巷了。请把新地址填入通讯录，格式为“刺柏巷5号”，写进新笔记“{note}”，"
         f"并给任务“{task['title']}”标旗。"),
        asking(e.say("What is the house number?", "门牌号是多少？")), *works(person, street),
        facts=(UserFact(("number", "address", "house", "门牌", "几号", "地址", "号"),
                        e.say(f"Number {number}.", f"{number}号。")),),
        wrong={"guessed": works(person, wrong), "near": works(near, street)},
        turns=80,
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (
    most_missed, voicemail_contact, quiet_hours, shift_alarms, call_abroad, birthday_card,
    packing_steps, spam_blocked, group_by_company, favourite_by_calls, shared_cleanup, meter_note,
    unknown_flat,
)  # fmt: skip
