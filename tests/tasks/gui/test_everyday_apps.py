"""Mail, calendar, clock, tasks, phone and maps: taps have their effect and no other."""

import pytest

from hexathlon.tasks.gui.world.apps.calendar.calendar import happens_on
from hexathlon.tasks.gui.world.apps.clock.clock import days_text
from hexathlon.tasks.gui.world.apps.maps.maps import open_on, route_metres, route_minutes
from hexathlon.tasks.gui.world.kit.looks import LOOKS, Appearance
from hexathlon.tasks.gui.world.phone.context import AppView
from hexathlon.tasks.gui.world.phone.core import ScreenState
from hexathlon.tasks.gui.world.system.explore import reachable_screens
from hexathlon.tasks.gui.world.system.phone import Phone
from hexathlon.tasks.gui.world.system.plan import PhonePlan, TimedEvent

APPS = ("mail", "calendar", "clock", "tasks", "phone", "maps")
SCREENS = {
    "mail": {"home", "mail", "compose", "settings", "search", "folder", "sender", "signature"},
    "calendar": {"home", "event", "edit", "guests", "search", "settings"},
    "clock": {"home", "alarm", "cities", "timer", "settings"},
    "tasks": {"home", "list", "task", "edit", "search", "settings", "name_list"},
    "phone": {"home", "number", "voicemail", "pick", "call", "settings", "blocked", "text"},
    "maps": {"home", "place", "route", "choose", "search", "settings"},
}
SIZES = {"mail.mails": 50, "calendar.events": 40, "clock.alarms": 6, "tasks.tasks": 40,
         "phone.calls": 40, "maps.places": 60}  # fmt: skip


def phone(language="en", look="pebble", **settings):
    plan = PhonePlan(11, "train", language, 2, "2026-03-05T09:00:00", **settings)
    return Phone(plan, Appearance(LOOKS[look]))


def node_of(device, name, role=None):
    for node in device.nodes():
        title = (node.text or node.label).partition(" | ")[0]
        if title == name and role in (None, node.role):
            return node
    raise AssertionError((name, [n.text or n.label for n in device.nodes()]))


def tap(device, name, role=None):
    device.begin_action()
    assert device.tap(node_of(device, name, role)) == ""


def menu(device, name):
    tap(device, "More options")
    tap(device, name)


def write(device, field, text):
    tap(device, field, "textbox")
    device.type_text(text, clear=True)


def show(device, app, screen, **params):
    device.open_app(app)
    device.core.push(ScreenState(app, screen, params))
    device.begin_action()


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_taps_reach_every_kind_of_screen(app, language):
    device = phone(language)
    reached = {screen.name for screen in reachable_screens(device, app, 260) if screen.app == app}
    assert reached >= SCREENS[app]


@pytest.mark.parametrize("table", SIZES)
def test_content_is_of_believable_size_and_grows_with_the_scale(table):
    sizes = [
        len(PhonePlan(11, "train", "en", scale, "2026-03-05T09:00:00").table(table))
        for scale in (1, 2, 4)
    ]
    assert sizes[0] < sizes[2] and sizes[1] >= SIZES[table]


@pytest.mark.parametrize("app", APPS)
def test_looking_around_changes_nothing_that_is_compared(app):
    """Opening, scrolling and searching leave all compared columns as they were."""
    device = phone()
    for screen in reachable_screens(device, app, 60):
        if screen.app == app and screen.name in ("home", "search", "settings"):
            device.load(screen.state)
            device.scroll("down")
    device.open_app(app)
    assert device.changes() == {}


@pytest.mark.parametrize("app", APPS)
def test_a_fork_is_independent_of_its_parent(app):
    device = phone()
    device.open_app(app)
    state = device.save()
    twin = Phone(device.plan, device.appearance)
    twin.load(state)
    for place in range(len(device.nodes())):
        for each in (device, twin):
            each.load(state)
            each.begin_action()
            each.tap(each.nodes()[place])
        assert device.elements() == twin.elements()
        assert device.changes() == twin.changes()
    twin.load(state)
    assert twin.elements() == Phone.elements(_at_home(app))


def _at_home(app):
    device = phone()
    device.open_app(app)
    return device


def test_a_reply_goes_to_the_sender_with_one_signature():
    device = phone(edits=(("mail.prefs", "put", {"id": "sign", "value": True}),
                          ("mail.prefs", "put", {"id": "signature", "value": "Bye"})))  # fmt: skip
    rows = device.core.table("mail.mails").values()
    row = next(row for row in rows if row["folder"] == "inbox")
    show(device, "mail", "mail", id=row["id"])
    tap(device, "Reply")
    write(device, "Text", "Fine")
    tap(device, "Send")
    (sent,) = device.changes()["mail.mails"]["added"]
    assert sent["to"] == row["address"] and sent["body"] == "Fine\nBye"
    assert sent["subject"].count("Re: ") == 1 and sent["folder"] == "sent"


def test_a_mail_without_a_valid_address_is_not_sent():
    device = phone()
    show(device, "mail", "compose", to="nobody")
    tap(device, "Send")
    assert device.core.toast == "Not an address: nobody" and device.changes() == {}


def test_a_draft_can_be_kept_or_discarded():
    for answer, count in (("Save draft", 1), ("Discard", 0)):
        device = phone()
        show(device, "mail", "compose")
        write(device, "Subject", "Half")
        device.back()  # closes the keyboard
        if count:
            tap(device, "Back", "button")
        else:
            device.back()
        tap(device, answer)
        assert len(device.changes().get("mail.mails", {}).get("added", ())) == count
        assert device.core.top.name == "home"


def test_overlapping_events_are_saved_only_if_confirmed():
    device = phone()
    row = next(row for row in device.core.table("calendar.events").values() if row["start"])
    for answer, count in (("Go back", 0), ("Save anyway", 1)):
        show(device, "calendar", "edit", title="Second", day=row["day"], start=row["start"],
             end=row["end"])  # fmt: skip
        tap(device, "Save")
        tap(device, answer)
        added = device.changes().get("calendar.events", {}).get("added", [])
        assert len(added) == count
    assert added[0]["title"] == "Second" and added[0]["day"] == row["day"]


def test_an_event_must_end_after_it_starts():
    device = phone()
    show(device, "calendar", "edit", title="Odd", start="12:00", end="11:00")
    tap(device, "Save")
    assert "end must be after" in device.core.toast and device.changes() == {}


@pytest.mark.parametrize(
    ("repeat", "day", "expected"),
    [("", "2026-03-09", False), ("daily", "2026-03-09", True), ("weekly", "2026-03-09", True),
     ("weekly", "2026-03-10", False), ("monthly", "2026-04-02", True),
     ("monthly", "2026-04-09", False), ("yearly", "2027-03-02", True),
     ("daily", "2026-03-01", False)],
)  # fmt: skip
def test_events_repeat(repeat, day, expected):
    assert happens_on({"day": "2026-03-02", "repeat": repeat}, day) is expected


def test_a_timer_runs_by_the_simulated_clock():
    device = phone()
    row = next(iter(device.core.table("clock.timers").values()))
    device.open_app("clock")
    tap(device, "Timers")
    tap(device, f"Start {row['label']}")
    device.core.seconds += 60
    device.begin_action()
    left = row["seconds"] - 70
    assert node_of(device, f"{left // 60:02d}:{left % 60:02d}")
    tap(device, f"Pause {row['label']}")
    assert device.core.table("clock.timers")[row["id"]]["left"] == row["seconds"] - 80


def test_days_of_alarms_are_named():
    device = phone()
    view = AppView(device.core, device.appearance.look, ScreenState("clock", "home"), "clock")
    texts = [days_text(view, days) for days in ("", "12345", "67", "1234567", "135")]
    assert texts == ["Once", "Mon to Fri", "Weekend", "Every day", "Mon Wed Fri"]


def test_an_alarm_is_turned_off_only_by_its_switch():
    device = phone()
    device.open_app("clock")
    rows = sorted(device.core.table("clock.alarms").values(), key=lambda row: row["time"])
    tap(device, f"Alarm at {rows[0]['time']}")
    changed = device.changes()["clock.alarms"]["changed"]
    assert [(one["id"], one["on"], two["on"]) for one, two in changed] == [
        (rows[0]["id"], rows[0]["on"], not rows[0]["on"])
    ]


def test_deleting_a_task_deletes_its_steps():
    device = phone()
    step = next(iter(device.core.table("tasks.steps").values()))
    show(device, "tasks", "task", id=step["task"])
    menu(device, "Delete")
    tap(device, "Delete")
    changes = device.changes()
    assert [row["id"] for row in changes["tasks.tasks"]["removed"]] == [step["task"]]
    assert {row["task"] for row in changes["tasks.steps"]["removed"]} == {step["task"]}


def test_two_lists_cannot_have_one_name():
    device = phone()
    name = next(iter(device.core.table("tasks.lists").values()))["name"]
    device.open_app("tasks")
    menu(device, "New list")
    write(device, "Name of the list", name)
    tap(device, "Save")
    assert device.core.toast == "There is such a list already" and device.changes() == {}


def test_the_keypad_dials_a_contact_by_its_digits():
    device = phone()
    row = next(iter(device.core.table("contacts.contacts").values()))
    device.open_app("phone")
    tap(device, "Keypad")
    for digit in row["phone"].replace("-", ""):
        tap(device, digit, "tile")
    tap(device, "Call")
    (call,) = device.changes()["phone.calls"]["added"]
    assert (call["number"], call["name"], call["kind"]) == (row["phone"], row["name"], "out")


def test_a_declined_call_is_listed_as_missed_and_not_compared():
    event = TimedEvent(after=1, call={"name": "", "number": "555-000-0001"})
    device = phone(events=(event,))
    device.begin_action()
    device.end_action()
    tap(device, "Decline")
    device.open_app("phone")
    assert node_of(device, "555-000-0001") and device.changes() == {}


def test_places_open_and_close():
    row = {"hours": "09:00-17:30", "closed": "67"}
    times = [(1, "09:00"), (1, "08:59"), (5, "17:29"), (5, "17:30"), (6, "12:00")]
    assert [open_on(row, *each) for each in times] == [True, False, True, False, False]


def test_routes_have_lengths_and_times():
    metres = route_metres({"x": 100, "y": 100}, {"x": 400, "y": 500})
    assert metres == 6250  # 500 units of ten metres, a quarter longer than the straight line
    assert [route_minutes(metres, mode) for mode in ("walk", "bus", "car")] == [79, 27, 16]


def test_the_map_moves_with_the_finger_and_shows_where_the_phone_is_if_permitted():
    device = phone()
    device.open_app("maps")
    canvas = next(node for node in device.nodes() if node.kind == "pan")
    y = (canvas.top + canvas.bottom) // 2
    device.swipe(300, y, 100, y)
    moved = device.core.top.values["x"]
    assert moved > device.core.table("maps.here")["here"]["x"]
    tap(device, "My location")
    tap(device, "Allow")
    assert device.core.top.values["x"] == device.core.table("maps.here")["here"]["x"]
    assert set(device.changes()) == {"settings.permissions"}


def test_a_place_is_saved_once_and_removed_only_after_confirmation():
    device = phone()
    taken = {row["place"] for row in device.core.table("maps.saved").values()}
    key = next(key for key in device.core.table("maps.places") if key not in taken)
    show(device, "maps", "place", id=key)
    tap(device, "Save place")
    tap(device, "Want to go")
    assert device.changes()["maps.saved"]["added"][0]["list"] == "want"
    tap(device, "Saved")
    tap(device, "Cancel")
    assert "maps.saved" in device.changes()
    tap(device, "Saved")
    tap(device, "Delete")
    assert device.changes() == {}


@pytest.mark.parametrize("look", LOOKS)
def test_an_event_that_was_moved_shows_its_new_day(look):
    device = phone(look=look)
    row = next(each for each in device.core.table("calendar.events").values()
               if not each["all_day"] and not each["repeat"])  # fmt: skip
    show(device, "calendar", "event", id=row["id"], day=row["day"])
    device.intervene([("calendar.events", "put", {**row, "day": "2026-06-24"})])
    view = AppView(device.core, device.appearance.look, ScreenState("calendar", "home"), "calendar")
    shown = view.full_day("2026-06-24")
    assert node_of(device, shown) and shown.count("Wed") == 1


def test_the_end_of_an_event_moves_with_its_start():
    device = phone()
    show(device, "calendar", "edit", day="2026-03-09", start="14:00", end="14:45")
    for hour, start, end in (("18", "18:00", "18:45"), ("23", "23:00", "23:45"),
                             ("08", "08:00", "08:45")):  # fmt: skip
        tap(device, "Start", "picker")
        tap(device, hour, "tile")
        tap(device, "OK")
        assert (device.core.top.values["start"], device.core.top.values["end"]) == (start, end)


def test_a_forwarded_mail_quotes_its_origin_below_the_new_text():
    device = phone()
    row = next(each for each in device.core.table("mail.mails").values()
               if each["folder"] == "inbox" and each["file"])  # fmt: skip
    show(device, "mail", "mail", id=row["id"])
    tap(device, "Forward")
    write(device, "To", "ada@x.test")
    device.back()
    write(device, "Text", "See below.")
    device.back()
    tap(device, "Send")
    (sent,) = device.changes()["mail.mails"]["added"]
    lines = sent["body"].split("\n")
    assert lines[:2] == ["See below.", ""] and lines[2].strip("- ") == "Forwarded message"
    assert lines[3:5] == [f"From: {row['name']} <{row['address']}>", f"Subject: {row['subject']}"]
    assert row["body"] in sent["body"] and sent["file"] == row["file"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_conversation_does_not_repeat_itself_immediately(language):
    device = phone(language)
    rows = device.core.table("messages.messages").values()
    for thread in device.core.table("messages.threads").values():
        texts = [row["text"] for row in rows if row["thread"] == thread["id"]]
        assert all(one != two for one, two in zip(texts, texts[1:], strict=False))


def test_a_contact_is_found_by_its_address_and_called():
    device = phone()
    row = next(each for each in device.core.table("contacts.contacts").values() if each["address"])
    device.open_app("contacts")
    tap(device, "Search")
    write(device, "Search", row["address"])
    assert row["address"] in node_of(device, row["name"], "item").text
    tap(device, row["name"], "item")
    tap(device, "Call", "button")
    (call,) = device.changes()["phone.calls"]["added"]
    assert (call["number"], call["name"], call["kind"]) == (row["phone"], row["name"], "out")
