import pytest

from hexathlon.tasks.web.templates import (
    tracker,
    tracker_handover,
    tracker_release,
    tracker_rules,
    tracker_work,
    trips,
    trips_tracker,
)
from hexathlon.tasks.web.templates.tracker_rules import merge
from support.web_pages import check_scripts, screens, task_ids
from support.web_visit import Visit

MODULES = (
    tracker,
    tracker_handover,
    tracker_release,
    tracker_rules,
    tracker_work,
    trips,
    trips_tracker,
)
TEMPLATES = [template for module in MODULES for template in module.TEMPLATES]

PAGES = ("/issues", "/issues?page=2&status=open", "/issues/101", "/issues/new", "/board",
         "/projects", "/filters", "/rules", "/people", "/milestones/2", "/nowhere",
         "/sign-in")  # fmt: skip


def test_every_page_renders_in_every_look_and_language():
    for where, text in screens("tracker", PAGES).items():
        assert text.strip(), where


@pytest.mark.parametrize(
    ("template", "level"),
    [(template.name, level) for template in TEMPLATES for level in template.levels],
)
def test_scripts(template, level):
    for task_id in task_ids(template, level, count=2):
        check_scripts(task_id)


@pytest.fixture
def desk():
    visit = Visit("tracker")
    yield visit
    visit.network.close()


def two_open(desk, *, same_project: bool) -> tuple[int, int]:
    sign = "=" if same_project else "<>"
    row = desk.store.row(
        "SELECT a.number AS a, b.number AS b FROM issues a JOIN issues b ON b.number > a.number "
        f"AND b.project {sign} a.project WHERE a.status = 'open' AND b.status = 'open'"
    )
    return row["a"], row["b"]


def test_merging_closes_the_duplicate_and_hands_on_its_watchers(desk):
    number, target = two_open(desk, same_project=True)
    login = desk.value("SELECT login FROM _accounts")
    desk.store.execute("DELETE FROM watchers WHERE login = ?", (login,))
    desk.store.insert("watchers", issue=number, login=login)
    desk.play(merge(desk.pilot, number, target))
    assert desk.value("SELECT status FROM issues WHERE number = ?", number) == "rejected"
    assert desk.value("SELECT other FROM links WHERE issue = ?", number) == target
    assert desk.value("SELECT 1 FROM watchers WHERE issue = ? AND login = ?", target, login)


@pytest.mark.parametrize("reason", ["project", "closed", "itself"])
def test_issues_that_cannot_be_merged(desk, reason):
    number, target = two_open(desk, same_project=reason != "project")
    if reason == "closed":
        desk.store.execute("UPDATE issues SET status = 'done' WHERE number = ?", (target,))
    desk.play(merge(desk.pilot, number, number if reason == "itself" else target))
    assert desk.value("SELECT status FROM issues WHERE number = ?", number) == "open"


def test_a_milestone_with_a_critical_issue_stays_open(desk):
    stone = desk.value("SELECT id FROM milestones WHERE state = 'open'")
    for status, state in (("open", "open"), ("done", "closed")):
        desk.store.execute(
            "UPDATE issues SET priority = 'p1', status = ? WHERE milestone = ?", (status, stone)
        )
        desk.play(desk.pilot.goto("tracker", f"/milestones/{stone}"))
        for _ in range(2):
            desk.play(desk.pilot.click("button", desk.pilot.words("tracker", "close_milestone")))
        assert desk.value("SELECT state FROM milestones WHERE id = ?", stone) == state


def test_a_bulk_change_needs_ticks(desk):
    desk.play(desk.pilot.goto("tracker", "/issues?status=open"))
    desk.play(desk.pilot.click("disclosure", desk.pilot.words("tracker", "bulk")))
    screen = desk.play(desk.pilot.click("button", desk.pilot.words("tracker", "bulk")))
    assert "Tick issues" in screen
