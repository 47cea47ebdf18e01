import pytest

from hexathlon.envs.web.twin.twin import TwinBrowser
from hexathlon.tasks.web.templates.table import TEMPLATES
from hexathlon.tasks.web.world.looks import LOOKS
from hexathlon.tasks.web.world.network import Network, WorldPlan
from support.web_pages import check_scripts, screens, task_ids

PAGES = (
    "/week", "/week?day=2026-03-10", "/list", "/list?since=2026-02-23&page=2", "/events/new",
    "/invitations", "/rooms", "/rooms/cedar", "/people", "/free?who=x", "/rules", "/events/1",
    "/nowhere",
)  # fmt: skip


def test_every_page_renders_in_every_look_and_language():
    for where, text in screens("calendar", PAGES).items():
        assert text.strip(), where


@pytest.mark.parametrize(
    ("template", "level"),
    [
        (name, level)
        for name, template in TEMPLATES.items()
        if name.startswith("calendar_")
        for level in template.levels
    ],
)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)


@pytest.fixture
def office():
    plan = WorldPlan(("calendar",), 5, "train", "en", 2, "2026-03-02T09:00:00")
    network, browser = Network(plan, LOOKS["harbour"]), TwinBrowser()
    browser.open(network)
    yield network, browser
    network.close()


def number(browser, element):
    line = next(each for each in browser.view().text.splitlines() if f"] {element}" in each)
    return line.partition(f"] {element}")[0].rpartition("[")[2]


def create(browser, day="2026-03-21", room="", **fields):
    browser.act("goto", {"url": f"http://calendar.hexathlon.test/events/new?day={day}"})
    for name, value in {"Title": "Test", "Start": "10:00", "End": "11:00", **fields}.items():
        browser.act("fill", {"bid": number(browser, f'textbox "{name}"'), "text": value})
    if room:
        browser.act("select_option", {"bid": number(browser, 'combobox "Room"'), "options": room})
    browser.act("click", {"bid": number(browser, 'button "Save"')})
    return browser.view().text


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"Title": ""}, "This field is required."),
        ({"Start": "25:00"}, "no valid time"),
        ({"End": "09:00"}, "not after the start"),
        ({"day": "2026-02-02"}, "This time is over."),
        ({"Attendees": "Nobody Known"}, "no colleague named Nobody Known"),
    ],
)
def test_invalid_input_is_named(office, fields, problem):
    network, browser = office
    assert problem in create(browser, **fields)
    assert network.store("calendar").value("SELECT count(*) FROM events WHERE title = 'Test'") == 0


def test_rules_of_rooms_and_conflicts(office):
    network, browser = office
    store = network.store("calendar")
    room = store.row("SELECT * FROM _rooms ORDER BY capacity")
    store.execute("UPDATE _rooms SET opens = '09:00', closes = '12:00', days = '12345'")
    day = "2026-04-08"
    names = [row["name"] for row in store.rows("SELECT name FROM _accounts")]
    crowd = ", ".join(names[1 : room["capacity"] + 2])
    assert "seats" in create(browser, day, room["name"], Attendees=crowd)
    assert "is not open then" in create(browser, day, room["name"], Start="11:30", End="12:30")
    assert "Event created." in create(browser, day, room["name"])
    taken = create(browser, day, room["name"], Start="10:30", End="11:30")
    assert "is taken on 8 April 2026, 10:00–11:00, by #" in taken
    assert "Event created." in create(browser, day, room["name"], Start="11:00", End="12:00")


def test_only_the_organiser_changes_an_event(office):
    network, browser = office
    store = network.store("calendar")
    login = store.value("SELECT person FROM _sessions")
    other = store.row(
        "SELECT * FROM events WHERE organiser != ? AND start > '2026-03-03'", (login,)
    )
    store.execute("UPDATE events SET people = ? WHERE id = ?", (login, other["id"]))
    browser.act("goto", {"url": f"http://calendar.hexathlon.test/events/{other['id']}"})
    assert 'button "Save"' not in browser.view().text
    assert 'button "Send answer"' in browser.view().text


@pytest.mark.parametrize(
    ("scope", "count"),
    [("only this event", 1), ("this and the following", 3), ("all events to come", 5)],
)
def test_a_change_of_a_series_concerns_its_scope(office, scope, count):
    network, browser = office
    store = network.store("calendar")
    login = store.value("SELECT person FROM _sessions")
    for week in range(5):
        store.insert("events", id=900 + week, title="Weekly", start=
            f"2026-03-{3 + 7 * week - 0:02d} 10:00"
                     if week < 4 else "2026-03-31 10:00", finish=f"2026-03-{3 + 7 * week:02d} 11:00"
                     if week < 4 else "2026-03-31 11:00", room="", organiser=login, people="",
                     note="", series=77)  # fmt: skip
    browser.act("goto", {"url": "http://calendar.hexathlon.test/events/902"})
    browser.act("fill", {"bid": number(browser, 'textbox "Title"'), "text": "Renamed"})
    label = next(line for line in browser.view().text.splitlines() if scope in line)
    bid = label.partition(f'] radio "{scope}')[0].rpartition("[")[2]
    browser.act("click", {"bid": bid})
    browser.act("click", {"bid": number(browser, 'button "Save"')})
    assert store.value("SELECT count(*) FROM events WHERE title = 'Renamed'") == count
