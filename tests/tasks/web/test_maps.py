from datetime import date, datetime

import pytest

from hexathlon.tasks.web.templates import maps, maps_day, maps_trips, maps_upkeep
from hexathlon.tasks.web.templates.maps_trips import book_room, book_train
from hexathlon.tasks.web.world.sites.maps.graph import minutes_from, street_route
from hexathlon.tasks.web.world.sites.maps.pricing import cancel_deadline, hours_on, stay_cents
from support.web_pages import check_scripts, screens, task_ids
from support.web_visit import Visit

MODULES = (maps, maps_day, maps_trips, maps_upkeep)
TEMPLATES = [template for module in MODULES for template in module.TEMPLATES]
STAY = "arrival=2026-03-20&departure=2026-03-22&guests=1"
PAGES = (
    "/places?category=hotel&sort=stars&page=2", "/places/2", "/places/4", "/places/2/reviews",
    "/map?category=cafe", "/directions?from=3&to=12&mode=walk", "/directions?from=nowhere&to=12",
    f"/stays?{STAY}", f"/places/4/rooms?{STAY}", f"/rates/1/book?{STAY}",
    "/places/2/tables?date=2026-03-20&guests=2", "/trains?from=Aldermoor&to=Inverley&date=2026-03-20",
    "/trains/1/book?date=2026-03-20", "/lists", "/lists/1", "/bookings", "/bookings/1", "/help",
)  # fmt: skip


def test_every_page_renders_in_every_look_and_language():
    for where, text in screens("maps", PAGES).items():
        assert text.strip(), where


@pytest.mark.parametrize(
    ("template", "level"),
    [(template.name, level) for template in TEMPLATES for level in template.levels],
)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)


@pytest.fixture
def city():
    visit = Visit("maps")
    yield visit
    visit.network.close()


@pytest.mark.parametrize(
    ("terms", "insured", "start", "deadline"),
    [
        ("flex", 0, "2026-03-20", datetime(2026, 3, 19, 18)),
        ("semi", 0, "2026-03-20", datetime(2026, 3, 15, 18)),
        ("semi", 1, "2026-03-20", datetime(2026, 3, 18)),
        ("fixed", 0, "2026-03-20", None),
        ("fixed", 1, "2026-03-20", datetime(2026, 3, 18)),
        ("open", 0, "2026-03-20 08:15", datetime(2026, 3, 20, 8, 15)),
    ],
)
def test_until_when_a_booking_can_be_cancelled(terms, insured, start, deadline):
    booking = {"terms": terms, "insured": insured, "start": start}
    assert cancel_deadline(booking) == deadline


def test_weekend_nights_and_member_rates():
    rate = {"cents": 10_000, "weekend": 15_000, "member": 1}
    assert stay_cents(rate, "2026-03-19", "2026-03-22", "blue") == 40_000  # Thu, Fri, Sat
    assert stay_cents(rate, "2026-03-19", "2026-03-22", "gold") == 36_000
    assert stay_cents({**rate, "member": 0}, "2026-03-19", "2026-03-22", "gold") == 40_000


def test_a_notice_replaces_the_hours_of_its_day(city):
    day = date(2026, 3, 20)
    city.store.insert("notices", place=1, date="2026-03-20", opens="", closes="", text="")
    assert hours_on(city.store, 1, day) == []
    city.store.insert("notices", place=1, date="2026-03-20", opens="10:00", closes="11:00", text="")
    assert hours_on(city.store, 1, day) == [("10:00", "11:00")]


def test_routes_are_the_same_both_ways_and_consist_of_their_steps(city):
    for goal in (5, 12, 30):
        there, back = (street_route(city.store, *ends, "walk") for ends in ((1, goal), (goal, 1)))
        assert there is not None and back is not None
        assert there.metres == back.metres == sum(step.metres for step in there.steps)
        assert there.minutes == minutes_from(city.store, 1, "walk")[goal]


def test_insurance_is_ticked_unless_somebody_unticks_it(city):
    day = date(2026, 3, 20)
    train = city.value("SELECT id FROM trains WHERE days = '0123456'")
    for extra in (True, False):
        city.play(book_train(city.pilot, train, day, extra=extra))
    rows = city.store.rows("SELECT insured, cents FROM bookings WHERE kind = 'train' ORDER BY id")
    assert [row["insured"] for row in rows] == [1, 0]
    assert rows[0]["cents"] - rows[1]["cents"] == 1290


def test_a_sold_room_cannot_be_booked(city):
    rate = city.value("SELECT id FROM rates WHERE nights = 1")
    city.store.insert("sold", rate=rate, date="2026-03-21")
    before = city.value("SELECT count(*) FROM bookings")
    screen = city.play(book_room(city.pilot, rate, ("2026-03-20", "2026-03-22", 1)))
    assert "not available" in screen
    assert city.value("SELECT count(*) FROM bookings") == before


def test_a_review_needs_stars_and_a_text(city):
    before = city.value("SELECT count(*) FROM reviews")
    city.play(city.pilot.goto("maps", "/places/2/reviews"))
    screen = city.play(city.pilot.click("button", city.pilot.words("maps", "send_review")))
    assert "This field is required." in screen
    assert city.value("SELECT count(*) FROM reviews") == before


def test_others_lists_and_bookings_are_not_shown(city):
    city.store.insert("lists", id=77, owner="somebody.else", name="Private")
    assert "Private" not in city.play(city.pilot.goto("maps", "/lists/77"))
