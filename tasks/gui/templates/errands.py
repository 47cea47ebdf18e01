"""Work across apps: information in one app calls for an action in another."""

from typing import Any

from hexathlon.tasks.gui.operations.finding import found, tab
from hexathlon.tasks.gui.operations.operation import done, in_sequence
from hexathlon.tasks.gui.operations.planning import (
    add_event,
    add_task,
    change_event,
    reminder_words,
    set_alarm,
)
from hexathlon.tasks.gui.operations.writing import send_mail
from hexathlon.tasks.gui.pilot import PhonePilot
from hexathlon.tasks.gui.templates.appointments import (
    events_on,
    findable_events,
    free_slot,
    later,
    new_event,
)
from hexathlon.tasks.gui.templates.correspondence import findable_mails
from hexathlon.tasks.gui.templates.draft import (
    GuiAnswer,
    GuiDraft,
    GuiScene,
    GuiTemplate,
    PhoneScript,
    row_added,
    row_changed,
    rows_together,
)
from hexathlon.tasks.gui.templates.household import first_list, new_task
from hexathlon.tasks.gui.templates.people import sent_message, unique_names
from hexathlon.tasks.gui.templates.places import findable_places
from hexathlon.tasks.gui.templates.scripts import refused, sent_mail, template, text_to
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.system.plan import PhonePlan, TimedEvent
from hexathlon.tasks.source import Script

__all__ = ["TEMPLATES"]


def known_guests(scene: GuiScene, plan: PhonePlan, most: int) -> list[tuple[PhoneRow, Any]]:
    """Return findable events with 2 to `most` guests, and the guests' contacts."""
    people = {row["name"]: row for row in unique_names(scene.rows(plan, "contacts.contacts"))}
    found = []
    for row in findable_events(scene, plan):
        names = row["guests"].split(", ") if row["guests"] else []
        if 2 <= len(names) <= most and all(name in people for name in names):
            found.append((row, [people[name] for name in names]))
    return found


def arrived(scene: GuiScene, plan: PhonePlan, row: PhoneRow, body: str) -> PhonePlan:
    """Return the plan with an email's text replaced."""
    return plan.with_edits([("mail.mails", "put", {**row, "body": body})])


@template("errand_mail_date", "easy", "medium", apps=("mail", "calendar"))
def date_of_mail(scene: GuiScene) -> GuiDraft | None:
    """Put the date stated in an email, at `hard` one moved since, into the calendar."""
    plan = scene.plan()
    mails = findable_mails(scene, plan, "inbox")
    if len(mails) < 2:
        return None
    row, second = scene.sample(mails, 2)
    number = scene.number(2, 90)
    day, moved = scene.day(plan, scene.number(4, 30)), scene.day(plan, scene.number(31, 50))
    hard = scene.level == "medium"
    start = free_slot(scene, plan, day)
    start2 = free_slot(scene, plan, moved)
    if not start or not start2 or start == start2:
        return None
    title = scene.say(f"Inspection {number}", f"第{number}号检查")
    place = scene.say(f"Gate {scene.number(2, 40)}", f"{scene.number(2, 40)}号门")
    alarm = scene.pick(("120", "1440", "5"))
    body = scene.say(
        f"{title} takes place on {scene.day_words(day)} at {start}, {place}. It lasts an hour and "
        "a half.",
        f"{title}定于{scene.day_words(day)} {start}在{place}进行，时长一个半小时。",
    )
    plan = arrived(scene, plan, row, body)
    if hard:
        news = scene.say(
            f"About {title}: it had to be moved to {scene.day_words(moved)}, {start2}. All else "
            "stays.",
            f"关于{title}：改到{scene.day_words(moved)} {start2}，其他不变。",
        )
        newest = max(str(each["time"]) for each in scene.rows(plan, "mail.mails"))
        plan = plan.with_edits(
            [("mail.mails", "put", {**second, "body": news, "time": f"{newest[:10]} 23:50"})]
        )
    real_day, real_start = (moved, start2) if hard else (day, start)
    facts = {"title": title, "day": real_day, "start": real_start, "end": later(real_start, 90),
             "place": place, "alarm": alarm}  # fmt: skip
    words = reminder_words(scene.language, alarm)[0]
    direct = in_sequence(found("mail", title, second["name"] if hard else row["name"]),
                   add_event(**facts), done)  # fmt: skip
    old = {**facts, "day": day, "start": start, "end": later(start, 90)} if hard else {
        **facts, "end": later(real_start, 60)}  # fmt: skip
    return GuiDraft(
        plan,
        scene.say(f'My mail says when and where "{title}" is. Put it into the calendar under this '
                  f"title, with the place as written, and a reminder {words}.",
                  f"邮件里写了“{title}”的时间和地点。请以此标题加入日历，地点照写，提醒设为{words}。"),
        direct, changes=new_event(plan, **facts),
        alternatives={"at_once": in_sequence(add_event(**facts), done)},
        mutants={"old": in_sequence(add_event(**old), done),
                 "no_place": in_sequence(add_event(**{**facts, "place": ""}), done),
                 "other_alarm": in_sequence(add_event(**{**facts, "alarm": "15"}), done)},
        turns=70,
    )  # fmt: skip


@template("errand_meeting_moved", "medium", apps=("messages", "calendar"))
def meeting_moved(scene: GuiScene) -> GuiDraft | None:
    """Move a meeting as a message asks, and inform all its guests, while a call comes in."""
    plan = scene.plan()
    events = known_guests(scene, plan, 3)
    threads = [row for row in scene.rows(plan, "messages.threads") if row["name"]]
    if not events or not threads:
        return None
    event, guests = scene.pick(events)
    thread = scene.pick(threads)
    caller = scene.pick(unique_names(scene.rows(plan, "contacts.contacts")))
    minutes = (int(event["end"][:2]) - int(event["start"][:2])) * 60
    minutes += int(event["end"][3:]) - int(event["start"][3:])
    day = scene.day(plan, scene.number(3, 50))
    start = free_slot(scene, plan, day, but=event["id"], minutes=max(minutes, 90))
    if not start or day == event["day"] or minutes % 5 or start == event["start"]:
        return None
    end = later(start, minutes)
    if end == event["end"]:
        return None
    news = scene.say(f'"{event["title"]}" has to move: {scene.day_words(day)} at {start}.',
                     f"“{event['title']}”要改期：{scene.day_words(day)} {start}。")  # fmt: skip
    last = max((row for row in scene.rows(plan, "messages.messages")
                if row["thread"] == thread["id"]), key=lambda row: row["id"])  # fmt: skip
    plan = plan.with_edits([("messages.messages", "put", {**last, "text": news, "mine": False})])
    call = {"name": caller["name"], "number": caller["phone"]}
    plan = PhonePlan(plan.seed, plan.split, plan.language, plan.scale, plan.start, plan.edits,
                     (TimedEvent(after=2, call=call),))  # fmt: skip
    text = scene.say(f"{event['title']} is now on {scene.day_words(day)} at {start}",
                     f"{event['title']}改到{scene.day_words(day)} {start}")  # fmt: skip
    form = scene.say("Choir is now on 3 May 2026 at 09:30", "合唱改到2026年5月3日 09:30")
    facts = {"day": day, "start": start, "end": end}

    def solver(people: list[PhoneRow], said: str = text, *, move: bool = True,
               first: bool = True) -> PhoneScript:  # fmt: skip
        tell = in_sequence(*(text_to(row["name"], said) for row in people))
        change = change_event(event["title"], **facts) if move else in_sequence()
        return in_sequence(_decline, *((change, tell) if first else (tell, change)), done)

    return GuiDraft(
        plan,
        scene.say(
            f"{thread['name']} has written that a meeting has to move. Change it in the calendar; "
            "it keeps its length. Then send each of its guests a message in the form "
            f'"{form}", with its title as in the calendar.',
            f"{thread['name']}来信说有个会议要改期。请修改日历，时长不变，再给每位受邀者发信息，"
            f"格式为“{form}”，标题与日历一致。",
        ),
        solver(guests),
        changes=rows_together(
            row_changed("calendar.events", event["id"], **facts),
            *(sent_message(scene, plan, row, text) for row in guests),
        ),
        alternatives={"told_first": solver(guests[::-1], first=False)},
        mutants={"one_untold": solver(guests[1:]), "not_moved": solver(guests, move=False),
                 "old_time": solver(guests, text.replace(start, event["start"]))},
        turns=110,
    )  # fmt: skip


def _decline(pilot: PhonePilot) -> Script:
    """Open the messages and wait for the call that comes in, which the pilot declines."""
    yield from pilot.open("messages")
    yield from pilot.act("wait")


@template("errand_voicemail", "easy", "medium", apps=("phone", "tasks"))
def voicemail_task(scene: GuiScene) -> GuiDraft | None:
    """Turn a voicemail into a task."""
    plan = scene.plan()
    rows = scene.rows(plan, "phone.voicemails")
    named = [row for row in rows if row["name"]
             and sum(row["number"] == each["number"] for each in rows) == 1]  # fmt: skip
    if not named:
        return None
    row = scene.pick(named)
    code, other = scene.number(1000, 9999), scene.number(1000, 9999)
    count = scene.number(3, 40)
    said = scene.say(f"Hello, please collect {count} plants at counter {code}, not {other}.",
                     f"您好，请到{code}号柜台取{count}盆植物，不是{other}号。")  # fmt: skip
    plan = plan.with_edits([("phone.voicemails", "put", {**row, "text": said})])
    title = scene.say(f"{count} plants, counter {code}", f"{count}盆植物，{code}号柜台")
    form = scene.say("7 plants, counter 1234", "7盆植物，1234号柜台")
    medium = scene.level == "medium"
    day = scene.day(plan, scene.number(2, 20))
    facts = {"title": title, **({"due": day} if medium else {})}
    look = in_sequence(tab("phone", "voicemail"), lambda pilot: pilot.tap_entry(row["name"]))
    wish = scene.say(f", due on {scene.day_words(day)}" if medium else "",
                     f"，截止{scene.day_words(day)}" if medium else "")  # fmt: skip
    within = first_list(scene, plan)["id"]
    return GuiDraft(
        plan,
        scene.say(f"{row['name']} has left a voicemail about something to collect. Make it a task "
                  f'of the form "{form}"{wish}.',
                  f"{row['name']}留言说要取东西。请据此新建任务，格式为“{form}”{wish}。"),
        in_sequence(look, add_task(**facts), done), changes=new_task(list=within, **facts),
        alternatives={"unheard": in_sequence(add_task(**facts), done)},
        mutants={"other_counter": in_sequence(add_task(**{**facts, "title": title.replace(
            str(code), str(other if other != code else code + 1))}), done),
            "unsaved": in_sequence(look, done),
            "twice": in_sequence(add_task(**facts), add_task(**facts), done)},
        turns=50,
    )  # fmt: skip


@template("errand_first_alarm", "easy", "medium", apps=("calendar", "clock"))
def alarm_for_first(scene: GuiScene) -> GuiDraft | None:
    """Set an alarm a given time before the first event of a day."""
    plan = scene.plan()
    day = scene.day(plan, scene.number(1, 30))
    today = events_on(scene, plan, day)
    if len(today) < 2 or today[0]["start"] == today[1]["start"]:
        return None
    ahead = scene.pick((75, 90, 105))
    if today[0]["start"] < "08:30":
        return None
    time, wrong = later(today[0]["start"], -ahead), later(today[1]["start"], -ahead)
    if any(row["time"] == time for row in scene.rows(plan, "clock.alarms")):
        return None
    # Second derivation: no other event's alarm would ring earlier.
    rivals = [row for row in today if later(row["start"], -ahead) < time]
    if rivals:
        return None
    hard = scene.level == "medium"
    label = today[0]["title"] if hard else ""
    prefs = plan.table("clock.prefs")
    row = {"time": time, "days": "", "label": label, "on": True, "sound": prefs["sound"]["value"],
           "snooze": prefs["snooze"]["value"], "vibrate": True}  # fmt: skip
    wish = scene.say(", labelled with the event's title" if hard else "",
                     "，标签为该日程的标题" if hard else "")  # fmt: skip
    look = tab("calendar", "agenda")
    return GuiDraft(
        plan,
        scene.say(f"Find my first event with a time on {scene.day_words(day)} and set a one-time "
            f"alarm for {ahead} minutes before its start time{wish}.",
                  f"看{scene.day_words(day)}第一个有时间的日程几点开始，在该时刻前{ahead}分钟"
                  f"设一个仅响一次的闹钟{wish}。"),
        in_sequence(look, set_alarm(time, label=label), done),
        changes=row_added("clock.alarms", row),
        alternatives={"at_once": in_sequence(set_alarm(time, label=label), done)},
        mutants={"second": in_sequence(set_alarm(wrong, label=label), done),
                 "at_start": in_sequence(set_alarm(today[0]["start"], label=label), done),
                 "daily": in_sequence(set_alarm(time, "1234567", label), done)},
        turns=40,
    )  # fmt: skip


@template("errand_send_place", "easy", "medium", apps=("maps", "messages"))
def send_place(scene: GuiScene) -> GuiDraft | None:
    """Send a contact the address and the telephone number of a place."""
    plan = scene.plan()
    place, near = scene.sample(findable_places(scene, plan), 2)
    one, two = scene.sample(unique_names(scene.rows(plan, "contacts.contacts")), 2)
    easy = scene.level == "easy"
    text = f"{place['name']}, {place['address']}"
    wrong = f"{near['name']}, {near['address']}"
    if not easy:
        text, wrong = f"{text}, {place['phone']}", f"{text}, {near['phone']}"
    form = scene.say("Hotel Onyx, 5 Market Street", "玛瑙酒店, 集市街5号") + (
        "" if easy else ", 555-123-4567"
    )
    look = found("maps", place["name"])

    def share(pilot: PhonePilot) -> Script:
        yield from pilot.press("maps", "share")
        yield from pilot.tap_entry(pilot.words("messages", "app_title"))
        yield from pilot.fill(pilot.words("messages", "to"), one["name"])
        if pilot.has("item", one["name"]):
            yield from pilot.tap("item", one["name"])
        yield from pilot.fill(pilot.words("messages", "text"), text)
        yield from pilot.press("messages", "send")

    return GuiDraft(
        plan,
        scene.say(f"Send {one['name']} where {place['name']} is"
                  + ("" if easy else ", and its number") + f', in the form "{form}".',
                  f"把“{place['name']}”的地址" + ("" if easy else "和电话")
                  + f"发给{one['name']}，格式为“{form}”。"),
        in_sequence(look, text_to(one["name"], text), done),
        changes=sent_message(scene, plan, one, text),
        alternatives={"shared": in_sequence(look, share, done)},
        mutants={"near": in_sequence(text_to(one["name"], wrong), done),
                 "other_person": in_sequence(text_to(two["name"], text), done), "nothing": done},
        turns=40,
    )  # fmt: skip


@template("errand_invoice", "easy", "medium", apps=("mail", "tasks"), twins=True)
def invoice_task(scene: GuiScene) -> GuiDraft | None:
    """Create a task to pay an invoice, unless an email says that it is paid."""
    plan = scene.plan()
    mails = findable_mails(scene, plan, "inbox", "archive")
    if len(mails) < 3:
        return None
    row, second, third = scene.sample(mails, 3)
    number = scene.number(10000, 89999)
    amount = f"{scene.number(20, 900)}.{scene.number(1, 9)}0"
    day = scene.day(plan, scene.number(5, 30))
    settled = number if not scene.feasible else number + 10
    body = scene.say(f"Invoice no. {number}: {amount}, payable by {scene.day_words(day)}.",
                     f"{number}号账单：{amount}元，{scene.day_words(day)}前支付。")  # fmt: skip
    news = scene.say(f"We have received the payment for invoice no. {settled}. Thank you.",
                     f"{settled}号账单的款项已收到，谢谢。")  # fmt: skip
    receipt = scene.say(f"Receipt {scene.number(100, 999)}-{scene.number(10, 99)}",
                        f"收据{scene.number(100, 999)}-{scene.number(10, 99)}")  # fmt: skip
    plan = plan.with_edits([
        ("mail.mails", "put", {**row, "body": body}),
        ("mail.mails", "put", {**second, "body": news, "subject": receipt}),
    ])  # fmt: skip
    title = scene.say(f"Pay {amount}", f"付{amount}元")
    within = first_list(scene, plan)["id"]
    facts = {"title": title, "due": day}
    force = in_sequence(add_task(**facts), done)
    right = force if scene.feasible else refused(receipt)
    look = found("mail", str(number), row["name"] if scene.feasible else second["name"])
    early = {**facts, "due": scene.day(plan, 2)}
    return GuiDraft(
        plan,
        scene.say(f"If no mail says that invoice no. {number} has been paid, make a task of paying "
            'it, in the form "Pay 12.30", due on the last day for payment. If one does, the record '
            "is the subject of that mail.",
                  f"如果邮件没有说{number}号账单已付，请为付款新建任务，格式为“付12.30元”，"
                  "截止日为最后付款日；若已付，阻碍条目为那封邮件的主题。"),
        in_sequence(look, right),
        changes=new_task(list=within, **facts) if scene.feasible else {},
        answer=GuiAnswer() if scene.feasible else GuiAnswer("infeasible", None, receipt),
        alternatives={"at_once": right},
        mutants={"one_sided": refused(receipt) if scene.feasible else force,
                 "early": in_sequence(add_task(**early), done),
                 "other_record": refused(row["subject"])},
        turns=60,
    )  # fmt: skip


@template("errand_missed_call", "medium", apps=("phone", "messages"))
def missed_call(scene: GuiScene) -> GuiDraft | None:
    """Write to the contact whose call was missed last."""
    plan = scene.plan()
    people = {row["phone"]: row for row in unique_names(scene.rows(plan, "contacts.contacts"))}
    first, second = scene.sample(sorted(people), 2)
    key = scene.next_key(plan, "phone.calls")
    stranger = f"555-{scene.number(100, 999)}-{scene.number(1000, 9999)}"
    hour = scene.number(9, 20)
    plan = plan.with_edits([
        ("phone.calls", "put", {
            "id": key + place, "number": number, "kind": "missed", "seconds": 0,
            "name": people[number]["name"] if number in people else "",
            "time": f"{scene.day(plan, -1)} {hour}:{30 + 7 * place}"})
        for place, number in enumerate((second, first, stranger))
    ])  # fmt: skip
    calls = [row for row in scene.rows(plan, "phone.calls") if row["kind"] == "missed"]
    calls.sort(key=lambda row: row["time"], reverse=True)
    known = [row for row in calls if row["name"]]
    if len(known) < 2 or known[0]["number"] not in people or calls[0] is known[0]:
        return None
    others = [row for row in known if row["number"] != known[0]["number"]]
    if not others or others[0]["time"] == known[0]["time"]:
        return None
    who = people[known[0]["number"]]
    text = scene.say(f"Sorry, I missed you. Ring me after {scene.number(2, 8)}",
                     f"抱歉没接到，请{scene.number(2, 8)}点后打来")  # fmt: skip
    look = in_sequence(tab("phone", "recents"))

    def from_call(pilot: PhonePilot) -> Script:
        yield from found("phone", who["name"])(pilot)
        yield from pilot.tap("button", pilot.words("phone", "message"))
        yield from pilot.fill(pilot.words("messages", "text"), text)
        yield from pilot.press("messages", "send")

    return GuiDraft(
        plan,
        scene.say("Of the people in my contacts, whose call did I miss last? Send that person "
                  f'"{text}".',
                  f"通讯录里的人中，我最近漏接的是谁的电话？给这个人发“{text}”。"),
        in_sequence(look, text_to(who["name"], text), done),
        changes=sent_message(scene, plan, who, text),
        alternatives={"from_call": in_sequence(from_call, done)},
        mutants={"number": in_sequence(text_to(calls[0]["number"], text), done),
                 "other": in_sequence(text_to(others[0]["name"], text), done), "nothing": done},
        turns=50,
    )  # fmt: skip


@template("errand_mail_guests", "easy", "medium", apps=("calendar", "contacts", "mail"))
def mail_guests(scene: GuiScene) -> GuiDraft | None:
    """Write one email to all guests of an event, in the order of the list."""
    plan = scene.plan()
    events = [(row, people) for row, people in known_guests(scene, plan, 3)
              if all(each["email"] for each in people)]  # fmt: skip
    if not events:
        return None
    event, people = scene.pick(events)
    number = scene.number(2, 60)
    body = scene.say(f"Please bring form {number}.", f"请带上{number}号表格。")
    to = ", ".join(row["email"] for row in people)
    hard = scene.level == "medium"
    subject = event["title"]
    prefixed = f"{event['day']} {subject}" if hard else subject
    wish = scene.say(
        'the event\'s date and title as the subject, such as "2026-01-31 Lunch",'
        if hard
        else "the event's title as the subject",
        "主题为日程的日期和标题，如“2026-01-31 午餐”" if hard else "主题为日程的标题",
    )
    look = in_sequence(*(found("contacts", row["name"]) for row in people))
    fewer = ", ".join(row["email"] for row in people[1:])
    return GuiDraft(
        plan,
        scene.say(f'Send one mail to all guests of "{event["title"]}", in the order in which the '
                  f'event lists them, with {wish} and the text "{body}".',
                  f"给“{event['title']}”的所有受邀者发同一封邮件，收件人按日程中的顺序排列，"
                  f"{wish}，正文“{body}”。"),
        in_sequence(found("calendar", event["title"]), look, send_mail(to, prefixed, body), done),
        changes=sent_mail(scene, plan, to, prefixed, body),
        alternatives={"at_once": in_sequence(send_mail(to, prefixed, body), done)},
        mutants={"one_less": in_sequence(send_mail(fewer, prefixed, body), done),
                 "draft": in_sequence(send_mail(to, prefixed, body, send=False), done),
                 "subject": in_sequence(send_mail(to, body, body), done)},
        turns=60,
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (
    date_of_mail, meeting_moved, voicemail_task, alarm_for_first, send_place, invoice_task,
    missed_call, mail_guests,
)  # fmt: skip
