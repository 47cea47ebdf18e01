"""Office work: mail, messages, calendar, contacts, tasks and notes together."""

from datetime import date

from hexathlon.tasks.gui.operations.finding import read, read_tab, read_thread
from hexathlon.tasks.gui.operations.operation import PhoneOperation, asking
from hexathlon.tasks.gui.operations.planning import (
    add_event,
    add_task,
    change_event,
    delete_event,
    finish_task,
)
from hexathlon.tasks.gui.operations.writing import (
    add_contact,
    change_contact,
    place_mail,
    reply_to,
    send_mail,
    send_message,
)
from hexathlon.tasks.gui.templates.appointments import events_on, later
from hexathlon.tasks.gui.templates.draft import GuiDraft, GuiTemplate, UserFact
from hexathlon.tasks.gui.templates.errand import Errand, errand

__all__ = ["TEMPLATES"]


@errand("office_replies_counted", "medium", apps="mail calendar")
def replies_counted(e: Errand) -> GuiDraft:
    """Add up the answers to an invitation and note the sum in the event."""
    event, near = e.events(2)
    mails = e.mails(4)
    word = event["title"]
    counts = [e.number(2, 6) for _ in range(3)]
    texts = [
        e.say(f"{word}: there will be {counts[0]} of us.", f"{word}：我们来{counts[0]}个人。"),
        e.say(f"{word}: we are {counts[1]}. See you!", f"{word}：我们{counts[1]}人，到时见！"),
        e.say(f"{word}: sorry, we have to stay away. The {counts[2]} seats are free again.",
              f"{word}：抱歉，我们来不了，{counts[2]}个座位空出来了。"),
        e.say("The tent holds 40 people.", "帐篷可容纳40人。"),
    ]  # fmt: skip
    for mail, text in zip(mails, texts, strict=True):
        e.put("mail.mails", mail, body=text)
    right = counts[0] + counts[1]
    note = {n: e.say(f"{n} seats", f"{n}个座位") for n in (right, right + counts[2])}
    e.need(not event["note"] and not near["note"])
    return e.task(
        (f'Three people have answered by mail whether they come to "{word}". Write into the '
         f'event\'s note how many seats we need for them, in the form "7 seats".',
         f"有三个人发邮件答复了是否参加“{word}”。请在该日程的备注里写上需要几个座位，"
         "格式为“7个座位”。"),
        read("mail", word, mails[0]["name"]), read("mail", word, mails[1]["name"]),
        change_event(word, note=note[right]),
        wrong={"all_three": [change_event(word, note=note[right + counts[2]])],
               "other_event": [change_event(near["title"], note=note[right])]},
        turns=90,
    )  # fmt: skip


@errand("office_first_parcel", "medium", apps="mail tasks")
def first_parcel(e: Errand) -> GuiDraft:
    """Make a task of collecting the parcel that arrives first."""
    one, two = e.mails(2)
    days = sorted(e.sample(range(2, 24), 2), reverse=bool(e.number(0, 1)))
    codes = e.sample(range(1000, 9999), 2)
    for mail, code, day in zip((one, two), codes, days, strict=True):
        e.put("mail.mails", mail, body=e.say(
            f"Your parcel {code} arrives on {e.day_words(e.day(day))}.",
            f"您的包裹{code}将于{e.day_words(e.day(day))}送达。"))  # fmt: skip
    best, other = sorted((0, 1), key=lambda place: days[place])
    titles = [e.say(f"Collect parcel {code}", f"取包裹{code}") for code in codes]
    due = e.day(days[best])
    return e.task(
        ("Two parcels are announced in my mail. Make a task of collecting the one that comes "
         'first, in the form "Collect parcel 1234", due on the day it arrives, with high priority.',
         "邮件里通知了两个包裹。请为先到的那个新建任务，格式为“取包裹1234”，截止日为送达日，"
         "优先级为高。"),
        read("mail", e.say("Your parcel", "您的包裹"), one["name"]),
        read("mail", e.say("Your parcel", "您的包裹"), two["name"]),
        add_task(title=titles[best], due=due, priority="high"),
        wrong={"later": [add_task(title=titles[other], due=e.day(days[other]), priority="high")],
               "mixed": [add_task(title=titles[best], due=e.day(days[other]), priority="high")],
               "no_priority": [add_task(title=titles[best], due=due)]},
    )  # fmt: skip


@errand("office_new_address", "medium", apps="messages contacts")
def new_address(e: Errand) -> GuiDraft:
    """Store the address that a contact wrote, with the correction sent afterwards."""
    thread = e.thread()
    row = next(each for each in e.rows("contacts.contacts") if each["phone"] == thread["number"])
    street = e.say(e.pick(("Heron Lane", "Cobbler Street", "Willow Court")),
                   e.pick(("苍鹭巷", "鞋匠街", "柳树院")))  # fmt: skip
    old, new = e.sample(range(11, 99), 2)
    wrong, right = (e.say(f"{number} {street}", f"{street}{number}号") for number in (old, new))
    e.tell(thread, e.say(f"We have moved, to {wrong}!", f"我们搬家了，新地址是{wrong}！"))
    e.tell(
        thread, e.say(f"Sorry, a slip of mine: it is number {new}.", f"不好意思写错了，是{new}号。")
    )
    return e.task(
        (f"{row['name']} has moved and wrote me the new address. Put it into the contacts, in the "
         "order in which it was written.",
         f"{row['name']}搬家了，把新地址发给了我。请按对方写的顺序更新通讯录。"),
        read_thread(thread["name"]), change_contact(row, address=right),
        wrong={"first_one": [change_contact(row, address=wrong)],
               "number_only": [change_contact(row, address=str(new))]},
    )  # fmt: skip


@errand("office_signature_contact", "easy", "medium", apps="mail contacts")
def signature_contact(e: Errand) -> GuiDraft:
    """Create a contact from the signature of an email."""
    mail, near = e.mails(2)
    firm = e.say(f"Halden & Co {e.number(2, 60)}", f"哈尔登公司{e.number(2, 60)}部")
    name = e.say(f"Rika Halden {e.number(2, 9)}", f"哈丽卡{e.number(2, 9)}")
    phone, fax = (f"555-{e.number(100, 999)}-{e.number(1000, 9999)}" for _ in range(2))
    facts = {"name": name, "phone": phone, "company": firm}
    more = {"email": f"halden{e.number(10, 99)}@fernmail.test"} if e.level == "medium" else {}
    e.put("mail.mails", mail, body=e.say(
        f"We look forward to it.\n{name}\n{firm}\nFax {fax}\nMobile {phone}",
        f"期待与您合作。\n{name}\n{firm}\n传真 {fax}\n手机 {phone}")
        + "".join(f"\n{value}" for value in more.values()))  # fmt: skip
    also = (", mobile number, company and email address", "、手机、公司和邮箱") if more else (
        ", mobile number and company", "、手机和公司")  # fmt: skip
    return e.task(
        (f'Save the person who signed the mail "{mail["subject"]}" as a contact: name{also[0]}.',
         f"把邮件“{mail['subject']}”落款的人存为联系人：姓名{also[1]}。"),
        read("mail", mail["subject"], mail["name"]), add_contact(**facts, **more),
        wrong={"fax": [add_contact(**facts | {"phone": fax}, **more)],
               "sender": [add_contact(**facts | {"name": near["name"]}, **more)],
               "no_company": [add_contact(**facts | {"company": ""}, **more)]},
    )  # fmt: skip


@errand("office_prepare_event", "medium", apps="calendar tasks")
def prepare_event(e: Errand) -> GuiDraft:
    """Make a task that is due on the last working day before an event."""
    event = e.events(1)[0]
    at = date.fromisoformat(event["day"])
    back = {0: 3, 6: 2}.get(at.weekday(), 1)
    due = date.fromordinal(at.toordinal() - back).isoformat()
    e.need(due > e.today and at.weekday() in (0, 6, 1, 3))
    title = e.say(f"Papers for {event['title']}", f"准备{event['title']}的材料")
    return e.task(
        (f'Add the task "{title}", due on the last day from Monday to Friday before the event '
         f'"{event["title"]}", at 16:00.',
         f"新建任务“{title}”，截止日期为“{event['title']}”之前的最后一个工作日（周一至周五），16:00。"),
        read("calendar", event["title"]), add_task(title=title, due=due, time="16:00"),
        wrong={"same_day": [add_task(title=title, due=event["day"], time="16:00")],
               "no_time": [add_task(title=title, due=due)],
               "earlier": [add_task(title=title, time="16:00", due=date.fromordinal(
                   at.toordinal() - back - 1).isoformat())]},
    )  # fmt: skip


@errand("office_double_booked", "medium", apps="calendar contacts mail")
def double_booked(e: Errand) -> GuiDraft:
    """Cancel the shorter of two events that overlap, and excuse oneself by mail."""
    one, two = e.events(2)
    person, other = e.people(2, "email")
    day = e.day(e.number(3, 25))
    e.need(not [row for row in events_on(e.scene, e.plan, day)
                if "09:00" < row["end"] and row["start"] < "18:00"])  # fmt: skip
    start = f"{e.number(10, 14)}:00"
    shorter, longer = e.sample((one, two), 2)
    guests = {shorter["id"]: person["name"], longer["id"]: other["name"]}
    for row, minutes, begin in ((shorter, 60, later(start, 30)), (longer, 150, start)):
        e.put("calendar.events", row, day=day, start=begin, end=later(begin, minutes),
              guests=guests[row["id"]], repeat="")  # fmt: skip
    subject = shorter["title"]
    body = e.say(f"I cannot come on {e.day_words(day)}.", f"我{e.day_words(day)}来不了。")
    mail = send_mail(person["email"], subject, body)
    return e.task(
        (f"Two of my events overlap on {e.day_words(day)}. Cancel the shorter one: delete it, and "
         f'mail its guest with the event\'s title as the subject and the text "{body}".',
         f"我{e.day_words(day)}有两个日程时间冲突。请取消较短的一个：删除它，并给受邀者发邮件，"
         f"主题为该日程的标题，正文“{body}”。"),
        read_tab("calendar", "agenda"), read("contacts", person["name"]), mail,
        delete_event(subject),
        wrong={"longer": [delete_event(longer["title"]), send_mail(
            other["email"], longer["title"], body)],
            "other_guest": [delete_event(subject), send_mail(other["email"], subject, body)]},
        turns=80,
    )  # fmt: skip


@errand("office_running_late", "medium", apps="calendar messages")
def running_late(e: Errand) -> GuiDraft:
    """Tell the guests of the first event of a day how late one will be, while the phone rings."""
    day = e.day(e.number(1, 20))
    today = [row for row in events_on(e.scene, e.plan, day)]
    e.need(len(today) >= 2 and today[0]["start"] < today[1]["start"])
    one, two, three = e.people(3)
    first, second = today[:2]
    e.put("calendar.events", first, guests=", ".join(sorted((one["name"], two["name"]))))
    e.put("calendar.events", second, guests=three["name"])
    minutes = e.pick((10, 15, 20))
    e.ring(e.number(6, 14))

    def text(event: object) -> str:
        start = later(str(event), minutes)
        return e.say(f"I will be there at {start}", f"我{start}到")

    right = text(first["start"])
    return e.task(
        (f"I shall be {minutes} minutes late for the first event on {e.day_words(day)}. Tell each "
         'of its guests by message when I come, in the form "I will be there at 09:10".',
         f"{e.day_words(day)}的第一个日程我会晚到{minutes}分钟。请发信息告诉每位受邀者我几点到，"
         "格式为“我09:10到”。"),
        read_tab("calendar", "agenda"),
        send_message(one, right), send_message(two, right),
        wrong={"second_event": [send_message(three, text(second["start"]))],
               "on_time": [send_message(row, text(later(first["start"], -minutes)))
                           for row in (one, two)]},
        turns=80,
    )  # fmt: skip


@errand("office_overdue_report", "medium", apps="tasks mail contacts")
def overdue_report(e: Errand) -> GuiDraft:
    """Report by mail how many tasks of a list are overdue, and which has waited longest."""
    lists = e.rows("tasks.lists")
    within = e.pick(lists)
    rows = [row for row in e.rows("tasks.tasks") if row["list"] == within["id"] and row["due"]]
    late = sorted((row for row in rows if not row["done"] and row["due"] < e.today),
                  key=lambda row: row["due"])  # fmt: skip
    e.need(len(late) >= 2 and late[0]["due"] < late[1]["due"])
    person = e.people(1, "email")[0]
    ended = sum(row["done"] for row in rows if row["due"] < e.today)
    body = f"{len(late)}, {late[0]['title']}"
    subject = within["name"]

    def mail(text: str) -> list[PhoneOperation]:
        return [send_mail(person["email"], subject, text)]

    return e.task(
        (f"Mail {person['name']} how many open tasks of the list {subject} were due before today, "
         'and the title of the one due first, in the form "3, Order the ladder"; the subject is '
         "the list's name.",
         f"给{person['name']}发邮件，告知清单“{subject}”中今天之前到期的未完成任务有几项，以及最早"
         "到期的那项的标题，格式为“3, 订购梯子”，主题为清单名称。"),
        read("contacts", person["name"]), read_tab("tasks", "due_now"),
        send_mail(person["email"], subject, body),
        wrong={"with_done": mail(f"{len(late) + max(ended, 1)}, {late[0]['title']}"),
               "second": mail(f"{len(late)}, {late[1]['title']}"),
               "draft": [send_mail(person["email"], subject, body, send=False)]},
    )  # fmt: skip


@errand("office_slot_accepted", "medium", apps="mail calendar", twins=True)
def slot_accepted(e: Errand) -> GuiDraft:
    """Accept a date that an email proposes, unless an event is in the way."""
    mail = e.mails(1)[0]
    event = e.events(1)[0]
    day = e.day(e.number(3, 30))
    e.need(not [row for row in events_on(e.scene, e.plan, day) if row["start"] < "15:00"])
    begin = f"{e.number(9, 11)}:30"
    begin = begin if len(begin) == 5 else f"0{begin}"
    length = 60
    # The event ends just before the proposed time, or a quarter of an hour after it has begun.
    end = later(begin, -5 if e.feasible else 15)
    e.put("calendar.events", event, day=day, start=later(begin, -75), end=end, repeat="")
    title = e.say(f"Tasting {e.number(2, 90)}", f"品鉴{e.number(2, 90)}")
    e.put("mail.mails", mail, body=e.say(
        f"Shall we hold {title} on {e.day_words(day)}, from {begin} for an hour?",
        f"{title}定在{e.day_words(day)} {begin}，一小时，可以吗？"))  # fmt: skip
    yes = e.say("That suits me.", "可以，没问题。")
    facts = {"title": title, "day": day, "start": begin, "end": later(begin, length)}
    return e.task(
        (f'{mail["name"]} proposes a date in the mail "{mail["subject"]}". If I am free for the '
         f'whole hour, put it into the calendar as "{title}" and reply "{yes}". If an event is in '
         "the way, the record is its title.",
         f"{mail['name']}在邮件“{mail['subject']}”里提议了一个时间。如果那一小时我都有空，"
         f"请以“{title}”加入日历，并回复“{yes}”。如果有日程冲突，record写该日程的标题。"),
        read("mail", mail["subject"], mail["name"]), read("calendar", event["title"]),
        add_event(**facts), reply_to(mail, yes),
        record=event["title"], other_record=mail["subject"],
        wrong={"half_hour": [add_event(**facts | {"end": later(begin, 30)}), reply_to(mail, yes)]}
        if e.feasible else {},
        turns=80,
    )  # fmt: skip


@errand("office_missing_room", "medium", apps="calendar messages")
def missing_room(e: Errand) -> GuiDraft:
    """Enter the room of an event, which only the user knows, and tell a guest."""
    event, near = e.events(2)
    person = e.people(1)[0]
    room, other = e.sample(range(2, 99), 2)
    e.put("calendar.events", event, place="", guests=person["name"])
    place, wrong = (e.say(f"Room {number}", f"{number}号房间") for number in (room, other))
    text, false = (e.say(f"We meet in room {number}", f"我们在{number}号房间见")
                   for number in (room, other))  # fmt: skip
    return e.task(
        (f'Enter the room of "{event["title"]}" as its place, in the form "Room 12", and message '
         'its guest, in the form "We meet in room 12".',
         f"请把“{event['title']}”的房间填入地点，格式为“12号房间”，并发信息告诉受邀者，"
         "格式为“我们在12号房间见”。"),
        read("calendar", event["title"]), asking(e.say("In which room is it?", "在哪个房间？")),
        change_event(event["title"], place=place), send_message(person, text),
        facts=(UserFact(("room", "place", "where", "房间", "哪里", "地点"),
                        e.say(f"It is room {room}.", f"{room}号房间。")),),
        wrong={"guessed": [change_event(event["title"], place=wrong), send_message(person, false)],
               "other_event": [change_event(near["title"], place=place),
                               send_message(person, text)]},
    )  # fmt: skip


@errand("office_company_round", "medium", apps="contacts messages")
def company_round(e: Errand) -> GuiDraft:
    """Write to every contact of a company except one."""
    people = e.people(5)
    firm = e.say(f"Orrery Works {e.number(2, 60)}", f"天仪工坊{e.number(2, 60)}")
    for row in people[:4]:
        e.put("contacts.contacts", row, company=firm)
    e.put(
        "contacts.contacts",
        people[4],
        company=firm.replace("Works", "World").replace("工坊", "工房"),
    )
    text = e.say(f"The gate code is {e.number(1000, 9999)}", f"大门密码是{e.number(1000, 9999)}")
    spared, *told = people[:4]
    return e.task(
        (f'Send each contact who works at {firm}, except {spared["name"]}, the message "{text}".',
         f"给在{firm}工作的每位联系人发信息“{text}”，{spared['name']}除外。"),
        read("contacts", firm, people[0]["name"]), *(send_message(row, text) for row in told),
        wrong={"everyone": [send_message(row, text) for row in people[:4]],
               "look_alike": [send_message(row, text) for row in (*told, people[4])]},
    )  # fmt: skip


@errand("office_bin_swapped", "medium", apps="mail tasks")
def bin_swapped(e: Errand) -> GuiDraft:
    """Undo a mistake: restore the email that was binned, bin the right one, close the task."""
    kept, gone, near = e.mails(3)
    task = e.tasks(1)[0]
    e.put("mail.mails", kept, folder="bin")
    restore = place_mail({**kept, "folder": "bin"}, "inbox")
    works = [restore, place_mail(gone, "bin"), finish_task(task["title"])]
    return e.task(
        (f'I have binned the wrong mail. "{kept["subject"]}" belongs back in the inbox, and '
         f'"{gone["subject"]}" goes into the bin. Then tick off the task "{task["title"]}".',
         f"我删错邮件了。“{kept['subject']}”应放回收件箱，“{gone['subject']}”移到回收站。"
         f"然后把任务“{task['title']}”标为完成。"),
        *works,
        wrong={"archived": [restore, place_mail(gone), works[2]],
               "other": [restore, place_mail(near, "bin"), works[2]]},
    )  # fmt: skip


@errand("office_reminders_before_trips", "medium", apps="calendar mail")
def reminder_from_mail(e: Errand) -> GuiDraft:
    """Set an event's reminder and note to what an email asks for."""
    event, near = e.events(2)
    mail = e.mails(1)[0]
    alarm = e.pick(("30", "60", "120"))
    e.need(event["alarm"] not in (alarm, "15") and not event["note"])
    thing = e.say(f"form {e.number(100, 999)}", f"{e.number(100, 999)}号表格")
    minutes = {"30": ("half an hour", "半小时"), "60": ("an hour", "一小时"),
               "120": ("two hours", "两小时")}[alarm]  # fmt: skip
    e.put("mail.mails", mail, body=e.say(
        f"For {event['title']}: please leave {minutes[0]} early, and bring {thing}.",
        f"关于{event['title']}：请提前{minutes[1]}出发，并带上{thing}。"))  # fmt: skip
    note = e.say(f"Bring {thing}", f"带上{thing}")
    title = event["title"]
    return e.task(
        (f'A mail says how early I have to leave for "{title}" and what to bring. Set the reminder '
         f'of the event to that time before it, and the note to "Bring ...".',
         f"有封邮件写了去“{title}”要提前多久出发、带什么。请把该日程的提醒设为提前这么久，"
         "备注写“带上……”。"),
        read("mail", title, mail["name"]), change_event(title, alarm=alarm, note=note),
        wrong={"other_event": [change_event(near["title"], alarm=alarm, note=note)],
               "usual": [change_event(title, alarm="15", note=note)],
               "no_note": [change_event(title, alarm=alarm)]},
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (
    replies_counted, first_parcel, new_address, signature_contact, prepare_event, double_booked,
    running_late, overdue_report, slot_accepted, missing_room, company_round, bin_swapped,
    reminder_from_mail,
)  # fmt: skip
