"""Outings: places, rides and tickets together with calendar, messages, expenses and mail."""

from collections.abc import Sequence

from hexathlon.tasks.gui.operations.finding import read, read_tab, read_thread
from hexathlon.tasks.gui.operations.money import add_expense
from hexathlon.tasks.gui.operations.operation import PhoneOperation
from hexathlon.tasks.gui.operations.planning import (
    add_event,
    add_task,
    change_event,
    save_place,
    set_alarm,
)
from hexathlon.tasks.gui.operations.travel import buy_ticket, cancel_ticket, look_up_rides
from hexathlon.tasks.gui.operations.writing import add_contact, send_mail, send_message
from hexathlon.tasks.gui.templates.appointments import events_on, later
from hexathlon.tasks.gui.templates.draft import GuiDraft, GuiTemplate
from hexathlon.tasks.gui.templates.errand import Errand, errand
from hexathlon.tasks.gui.world.apps.maps.maps import open_on, route_metres, route_minutes
from hexathlon.tasks.gui.world.apps.transit.timetable import TransitRide, minutes_of, rides
from hexathlon.tasks.gui.world.phone.core import PhoneRow
from hexathlon.tasks.gui.world.phone.money import plain_cents

__all__ = ["TEMPLATES"]


def _journey(e: Errand, fewest: int = 3) -> tuple[PhoneRow, PhoneRow, list[TransitRide]]:
    """Draw two stations with direct rides."""
    stations, lines = e.rows("transit.stations"), e.rows("transit.lines")
    for one, two in [e.sample(stations, 2) for _ in range(12)]:
        found = rides(lines, one["id"], two["id"])
        starts = [ride.start for ride in found]
        if len(found) >= fewest and len(set(starts)) == len(starts):
            return one, two, found
    e.need(False)
    raise AssertionError


def _on_grid(time: str) -> str:
    """Round a time down to five minutes."""
    return f"{time[:3]}{int(time[3:]) // 5 * 5:02d}"


def _mid(found: Sequence[TransitRide], low: str, high: str) -> list[TransitRide]:
    return [ride for ride in found if low <= ride.start <= high]


@errand("outings_last_ride", "easy", "medium", apps="calendar transit")
def last_ride(e: Errand) -> GuiDraft:
    """Buy a ticket for the last ride that is in time for an event."""
    one, two, found = _journey(e, 8)
    event = e.events(1)[0]
    day = e.day(e.number(3, 25))
    usable = _mid(found, "09:30", "16:00")
    e.need(len(usable) >= 3)
    ride = e.pick(usable[1:-1])
    place = usable.index(ride)
    spare = e.pick((10, 15, 20))
    slack = e.number(0, 4)
    start = later(ride.end, spare + slack)
    start = f"{start[:3]}{(int(start[3:]) + 4) // 5 * 5:02d}"
    e.need(start[3:] < "60")
    limit = later(start, -spare)
    fits = [each for each in found if each.end <= limit]
    e.need(fits and max(fits, key=lambda each: (each.end, each.start)) == ride and start < "20:00")
    e.put("calendar.events", event, day=day, start=start, end=later(start, 60), repeat="",
          place=two["name"])  # fmt: skip
    e.need(sum(each.end == ride.end for each in found) == 1)
    hard = e.level == "medium"
    works = [buy_ticket(one, two, day, ride)]
    early, late = ([buy_ticket(one, two, day, usable[at])] for at in (place - 1, place + 1))
    more: list[PhoneOperation] = []
    if hard:
        more = [
            change_event(event["title"], note=e.say(f"Train {ride.start}", f"{ride.start}的车"))
        ]
        e.need(not event["note"])
    wish = (' Note the departure in the event, in the form "Train 09:05".',
            "并在该日程的备注写上发车时间，格式为“09:05的车”。") if hard else ("", "")  # fmt: skip
    return e.task(
        (f'Buy a ticket from {one["name"]} to {two["name"]} for the event "{event["title"]}": the '
         f"last direct ride that arrives at least {spare} minutes before it begins.{wish[0]}",
         f"为“{event['title']}”买一张从{one['name']}到{two['name']}的直达车票：选至少提前{spare}分钟"
         f"到达的最后一班。{wish[1]}"),
        read("calendar", event["title"]), *works, *more,
        wrong={"earlier": [*early, *more], "later": [*late, *more],
               "other_day": [buy_ticket(one, two, e.day(1), ride), *more]},
        turns=90,
    )  # fmt: skip


@errand("outings_cheapest_ride", "medium", apps="transit messages")
def cheapest_ride(e: Errand) -> GuiDraft:
    """Buy the cheapest ride of a morning, and tell a contact when one arrives."""
    one, two, found = _journey(e, 10)
    low, high = e.pick((("07:30", "11:00"), ("13:30", "16:30"), ("17:00", "20:30")))
    window = _mid(found, low, high)
    e.need(len(window) >= 3)
    prices = sorted({ride.price for ride in window})
    e.need(len(prices) >= 2)
    best = [ride for ride in window if ride.price == prices[0]]
    ride, other = best[0], next(each for each in window if each.price > prices[0])
    e.need(sum(each.start == ride.start for each in found) == 1)
    person = e.people(1)[0]
    day = e.day(e.number(2, 20))
    text = e.say(f"I arrive at {ride.end}", f"我{ride.end}到站")
    return e.task(
        (f"On {e.day_words(day)} I go from {one['name']} to {two['name']}, leaving between {low} "
         f"and {high}. Buy a ticket for the cheapest direct ride, the earliest if several cost the "
         f'same, and message {person["name"]}, in the form "I arrive at 09:05".',
         f"{e.day_words(day)}我要从{one['name']}去{two['name']}，{low}到{high}之间出发。请买最便宜的"
         f"直达班次，同价选最早的，并发信息告诉{person['name']}，格式为“我09:05到站”。"),
        look_up_rides(one, two, day, low), buy_ticket(one, two, day, ride),
        send_message(person, text),
        wrong={"dearer": [buy_ticket(one, two, day, other), send_message(person, text)],
               "departure_told": [buy_ticket(one, two, day, ride), send_message(
                   person, text.replace(ride.end, ride.start))]},
        turns=90,
    )  # fmt: skip


@errand("outings_trip_cancelled", "medium", apps="mail transit")
def trip_cancelled(e: Errand) -> GuiDraft:
    """Cancel the ticket of a trip that an email calls off, and ask for the money back."""
    valid = [row for row in e.rows("transit.tickets") if row["state"] == "valid"]
    ticket, near = e.choose(valid, 2)
    e.need(ticket["day"] != near["day"])
    stations = e.plan.table("transit.stations")
    mail = e.mails(1)[0]
    goal = stations[ticket["end"]]["name"]
    e.put("mail.mails", mail, body=e.say(
        f"Our meeting in {goal} on {e.day_words(ticket['day'])} is off.",
        f"{e.day_words(ticket['day'])}在{goal}的会面取消了。"))  # fmt: skip
    subject = e.say("Ticket given back", "已退票")

    def mailed(row: PhoneRow) -> PhoneOperation:
        return send_mail(mail["address"], subject, f"{row['code']} {plain_cents(row['price'])}")

    return e.task(
        (f"{mail['name']} calls a meeting off by mail. Cancel my ticket for it, and mail "
         f'{mail["address"]} with the subject "{subject}": the code of the ticket and what it '
         'cost, in the form "G1234 5.60".',
         f"{mail['name']}来信取消了一次会面。请退掉我为此买的车票，并给{mail['address']}发邮件，"
         f"主题“{subject}”，正文写票号和票价，格式为“G1234 5.60”。"),
        read("mail", goal, mail["name"]), read_tab("transit", "tickets"), cancel_ticket(ticket),
        mailed(ticket),
        wrong={"other_ticket": [cancel_ticket(near), mailed(near)],
               "other_code": [cancel_ticket(ticket), mailed(near)]},
    )  # fmt: skip


@errand("outings_fares_recorded", "medium", apps="transit expenses")
def fares_recorded(e: Errand) -> GuiDraft:
    """Record what the tickets of a line cost together."""
    used = [row for row in e.rows("transit.tickets") if row["state"] == "used"]
    lines = e.plan.table("transit.lines")
    counts = {row["line"]: sum(each["line"] == row["line"] for each in used) for row in used}
    fit = sorted(key for key, count in counts.items() if count >= 2)
    e.need(fit and len(counts) >= 2)
    line = e.pick(fit)
    cents = sum(row["price"] for row in used if row["line"] == line)
    everything = sum(row["price"] for row in used)
    title = e.say(f"Rides on {lines[line]['name']}", f"{lines[line]['name']}乘车")
    note = e.say(f"{counts[line]} tickets", f"{counts[line]}张票")

    def record(amount: int, text: str = note) -> PhoneOperation:
        return add_expense(title, amount, "transport", note=text)

    return e.task(
        (f"What did my used tickets of line {lines[line]['name']} cost together? Record the sum as "
         f'an expense of today, paid by card, titled "{title}", in the category '
         f'{e.word("expenses", "transport")}, with the note "3 tickets", their number.',
         f"我在{lines[line]['name']}线上已使用的车票一共多少钱？请记为今天的一笔刷卡开支，标题“{title}”，"
         f"类别“{e.word('expenses', 'transport')}”，备注写张数，格式为“3张票”。"),
        read_tab("transit", "tickets"), record(cents),
        wrong={"all_lines": [record(everything)], "one_less": [record(cents, e.say(
            f"{counts[line] - 1} tickets", f"{counts[line] - 1}张票"))],
            "doubled": [record(2 * cents)]},
    )  # fmt: skip


@errand("outings_lunch_place", "medium", apps="maps calendar messages")
def lunch_place(e: Errand) -> GuiDraft:
    """Choose the best place for a lunch, invite a contact and send the address."""
    kind = e.pick(("restaurant", "cafe"))
    rows = [row for row in e.rows("maps.places") if row["kind"] == kind]
    offset = e.number(2, 20)
    day = e.day(offset)
    weekday = (e.scene.today(e.plan).weekday() + offset) % 7 + 1
    start, end = "12:30", "13:30"
    e.need(not [row for row in events_on(e.scene, e.plan, day)
                if row["start"] < end and start < row["end"]])  # fmt: skip
    fits = sorted((row for row in rows if open_on(row, weekday, start)
                   and open_on(row, weekday, "13:29") and row["step_free"]),
                  key=lambda row: -row["rating"])  # fmt: skip
    top = max(rows, key=lambda row: row["rating"], default=None)
    e.need(len(fits) >= 2 and fits[0]["rating"] > fits[1]["rating"] and top is not fits[0])
    assert top is not None
    person = e.people(1)[0]
    title = e.say(f"Lunch {e.number(2, 60)}", f"午餐{e.number(2, 60)}")

    def works(place: PhoneRow) -> list[PhoneOperation]:
        return [add_event(title=title, day=day, start=start, end=end, place=place["name"],
                          guests=person["name"]),
                send_message(person, f"{place['name']}, {place['address']}")]  # fmt: skip

    right = works(fits[0])
    return e.task(
        (f"Plan a lunch with {person['name']} on {e.day_words(day)}, {start} to {end}: at the best "
         f"rated place under {e.word('maps', kind)} that has step-free access and is open all that "
         f'time. Put it into the calendar as "{title}", with the place\'s name and the guest, and '
         f'message {person["name"]} name and address, in the form "Onyx, 5 Market Street".',
         f"请安排{e.day_words(day)} {start}至{end}和{person['name']}的午餐：在"
         f"“{e.word('maps', kind)}”类地点中选有无障碍通道、那段时间一直营业的评分最高的一家。"
         f"以“{title}”加入日历，填上地点名称和受邀者，并把名称和地址发信息给{person['name']}，"
         "格式为“玛瑙, 集市街5号”。"),
        read("maps", fits[0]["name"]), *right,
        wrong={"best_of_all": works(top), "second": works(fits[1])},
        turns=110,
    )  # fmt: skip


@errand("outings_place_contact", "easy", "medium", apps="maps contacts")
def place_contact(e: Errand) -> GuiDraft:
    """Save a place as a contact."""
    place, near = e.places(2)
    more = e.level == "medium"
    code = e.say(f"Customer {e.number(100, 999)}", f"客户号{e.number(100, 999)}")

    def saved(row: PhoneRow) -> PhoneOperation:
        note = {"note": code} if more else {}
        return add_contact(name=row["name"], phone=row["phone"], address=row["address"], **note)

    wish = (f', and with the note "{code}"', f"，备注“{code}”") if more else ("", "")
    return e.task(
        (f"Save {place['name']} as a contact, with telephone number and address from the map"
         f"{wish[0]}.",
         f"把“{place['name']}”存为联系人，电话和地址按地图上的填{wish[1]}。"),
        read("maps", place["name"]), saved(place),
        wrong={"near": [saved(near)],
               "other_number": [saved({**place, "phone": near["phone"]})],
               "no_address": [saved({**place, "address": ""})]},
    )  # fmt: skip


@errand("outings_sunday_place", "medium", apps="notes maps")
def sunday_place(e: Errand) -> GuiDraft:
    """Save the one place of a list that is open on a given day."""
    note = e.notes(1)[0]
    trio = e.places(3)
    weekday = e.number(1, 7)
    right = e.number(0, 2)
    for at, place in enumerate(trio):
        closed = "" if at == right else str(weekday)
        e.put("maps.places", place, hours="10:00-18:00", closed=closed or str(weekday % 7 + 1))
    e.put("notes.notes", note, text="\n".join(place["name"] for place in trio))
    name = e.say(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
                  "Sunday")[weekday - 1], f"星期{'一二三四五六日'[weekday - 1]}")  # fmt: skip
    into = e.pick(("want", "recommended"))
    text = e.say(f"from the note {note['title']}", f"来自笔记{note['title']}")
    return e.task(
        (f'Of the places on my note "{note["title"]}", only one is open on a {name}. Save it '
         f'in the list "{e.word("maps", into)}", with the note "{text}".',
         f"笔记“{note['title']}”里的地点只有一个{name}营业。请收藏到“{e.word('maps', into)}”，"
         f"备注“{text}”。"),
        read("notes", note["title"]), *(read("maps", place["name"]) for place in trio),
        save_place(trio[right], into, text),
        wrong={"closed": [save_place(trio[right - 1], into, text)],
               "other_list": [save_place(trio[right], "favourites", text)],
               "no_note": [save_place(trio[right], into)]},
        turns=80,
    )  # fmt: skip


@errand("outings_leave_in_time", "medium", apps="calendar maps clock")
def leave_in_time(e: Errand) -> GuiDraft:
    """Set an alarm for leaving home: the event's start, less the ride, less a margin."""
    event = e.events(1)[0]
    place, other = e.places(2)
    home = e.plan.table("maps.places")[e.plan.table("maps.prefs")["home"]["value"]]
    mode, margin = e.pick(("walk", "bus")), e.pick((5, 10, 15))
    minutes = route_minutes(route_metres(home, place), mode)
    e.need(5 <= minutes <= 110 and place["id"] != home["id"])
    wrong = route_minutes(route_metres(home, other), mode)
    start = f"{e.number(11, 17)}:{e.pick(('00', '15', '30', '45'))}"
    e.put("calendar.events", event, place=place["name"], start=start, end=later(start, 45))
    times = [_on_grid(later(start, -each)) for each in (minutes + margin, minutes, wrong + margin)]
    e.need(len(set(times)) == 3 and times[0] > "05:00"
           and not any(row["time"] in times for row in e.rows("clock.alarms")))  # fmt: skip
    shown = e.say("on foot" if mode == "walk" else "by bus", "步行" if mode == "walk" else "坐公交")
    label = event["title"]

    def alarm(time: str, text: str = label) -> list[PhoneOperation]:
        return [set_alarm(time, label=text)]

    return e.task(
        (f'I go to "{event["title"]}" from home {shown}. Set an alarm, once, labelled with the '
         f"event's title, so that I can leave {margin} minutes earlier than the map says is "
         "needed: at the latest multiple of five minutes that is early enough.",
         f"我要从家{shown}去“{event['title']}”。请设一个仅响一次的闹钟，标签为日程标题，"
         f"让我比地图所需时间再提前{margin}分钟出门：取来得及的最晚的整五分钟。"),
        read("calendar", event["title"]), read("maps", place["name"]), *alarm(times[0]),
        wrong={"no_margin": alarm(times[1]), "other_place": alarm(times[2]),
               "no_label": alarm(times[0], "")},
        turns=80,
    )  # fmt: skip


@errand("outings_ticket_for_friend", "medium", apps="messages transit")
def ticket_for_friend(e: Errand) -> GuiDraft:
    """Buy the ticket that a message asks for, after a correction, and send its price."""
    one, two, found = _journey(e, 8)
    usable = _mid(found, "08:00", "18:00")
    e.need(len(usable) >= 4)
    at = e.number(1, len(usable) - 2)
    ride, old = usable[at], usable[at - 1]
    thread = e.thread()
    row = next(each for each in e.rows("contacts.contacts") if each["phone"] == thread["number"])
    day = e.day(e.number(3, 20))
    e.tell(thread, e.say(f"Could you book me {one['name']} to {two['name']} on "
                         f"{e.day_words(day)}, the {old.start}?",
                         f"能帮我订{e.day_words(day)}从{one['name']}到{two['name']}"
                         f"{old.start}那班吗？"))  # fmt: skip
    e.tell(thread, e.say("Or rather the next one after that, please.", "还是订下一班吧，谢谢。"))
    text = plain_cents(ride.price)
    return e.task(
        (f"{thread['name']} asks me by message for a ticket. Buy it, and reply in the conversation "
         'with its price alone, in the form "2.30".',
         f"{thread['name']}发信息托我买票。请购票，并只回复票价，格式为“2.30”。"),
        read_thread(thread["name"]), look_up_rides(one, two, day, "08:00"),
        buy_ticket(one, two, day, ride), send_message(row, text),
        wrong={"first_wish": [buy_ticket(one, two, day, old), send_message(
            row, plain_cents(old.price))],
            "back": [buy_ticket(two, one, day, rides(e.rows("transit.lines"), two["id"],
                                                     one["id"])[6]), send_message(row, text)],
            "other_day": [buy_ticket(one, two, e.day(1), ride), send_message(row, text)]},
        turns=100,
    )  # fmt: skip


@errand("outings_first_ride_task", "medium", apps="transit tasks")
def first_ride_task(e: Errand) -> GuiDraft:
    """Make a task of the shortest ride between two stations in a part of the day."""
    one, two, found = _journey(e, 6)
    lines = e.plan.table("transit.lines")
    spans = {ride.line: minutes_of(ride.end) - minutes_of(ride.start) for ride in found}
    low = e.pick(("06:30", "09:00", "12:00", "15:30"))
    ride, after = [each for each in found if each.start >= low][:2]
    day = e.day(e.number(2, 15))
    e.need(ride.start != low and len(spans) >= 1)
    title, wrong = (
        e.say(
            f"{lines[each.line]['name']} at {each.start}",
            f"{each.start}的{lines[each.line]['name']}",
        )
        for each in (ride, after)
    )
    return e.task(
        (f"Which is the first direct ride from {one['name']} to {two['name']} after {low}? Add a "
         f"task due on {e.day_words(day)} with line and departure as its title, in the form "
         '"R1 at 09:05".',
         f"{low}之后从{one['name']}到{two['name']}的第一班直达车是哪一班？请新建一项"
         f"{e.day_words(day)}截止的任务，标题写发车时间和线路，格式为“09:05的R1”。"),
        look_up_rides(one, two, day, low), add_task(title=title, due=day),
        wrong={"next": [add_task(title=wrong, due=day)],
               "arrival": [add_task(title=title.replace(ride.start, ride.end), due=day)],
               "no_day": [add_task(title=title)]},
    )  # fmt: skip


TEMPLATES: tuple[GuiTemplate, ...] = (
    last_ride, cheapest_ride, trip_cancelled, fares_recorded, lunch_place, place_contact,
    sunday_place, leave_in_time, ticket_for_friend, first_ride_task,
)  # fmt: skip
