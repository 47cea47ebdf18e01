"""Shifts: house rules, searches with one best answer, and the states required in between."""

import os
import subprocess
import sys
from dataclasses import replace
from datetime import datetime
from itertools import combinations

import pytest

from hexathlon.tasks.gui.operations.expected import ExpectedPhone
from hexathlon.tasks.gui.templates.draft import GuiScene
from hexathlon.tasks.gui.templates.errand import Errand, NoErrand
from hexathlon.tasks.gui.templates.shifts.accounts import (
    _balances,
    _Cost,
    _wanted,
    invoices,
    trip_costs,
)
from hexathlon.tasks.gui.templates.shifts.cast import draw_cast
from hexathlon.tasks.gui.templates.shifts.moment import Moment
from hexathlon.tasks.gui.templates.shifts.rules import HouseRules, RuleChange
from hexathlon.tasks.gui.templates.shifts.small import payments
from hexathlon.tasks.gui.templates.shifts.times import _fullest
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for

SOURCE = get_source("gui")
TODAY = "2026-03-05"
PLAN = PhonePlan(7, "train", "en", 4, f"{TODAY}T09:00:00")  # a Thursday
CURRENT, SAVINGS = list(PLAN.table("bank.accounts").values())[:2]
TASKS = next(iter(PLAN.table("tasks.lists").values()))
RULES = HouseRules(CURRENT, SAVINGS, 10_000, "Regards, K.", "30", "5", 4, TASKS, TODAY)
PAYEE = next(iter(PLAN.table("bank.payees").values()))
PERSON = next(iter(PLAN.table("contacts.contacts").values()))


def moment(*edits, rules=RULES):
    """The morning of a phone without tasks, with these edits."""
    gone = [("tasks.tasks", "drop", key) for key in PLAN.table("tasks.tasks")]
    return Moment(rules, ExpectedPhone(PLAN.with_edits([*gone, *edits])))


def done(at, operation):
    """Let an operation take effect; return the new rows of all tables."""
    before = at.phone.changes()
    operation.effect(at.phone)
    return [row for table, kinds in at.phone.changes().items() for row in kinds.get("added", ())
            if row not in before.get(table, {}).get("added", ())]  # fmt: skip


def accounts(at, *amounts):
    found = []
    for number, cents in enumerate(amounts):
        (entry,) = done(at, at.transfer(PAYEE, cents, f"R{number}"))
        found.append(entry["account"])
    return found


def spent(key, cents, account=CURRENT, kind="transfer", day=TODAY):
    """An entry of the bank."""
    row = next(iter(PLAN.table("bank.entries").values()))
    return ("bank.entries", "put", {**row, "id": 9000 + key, "account": account["id"], "day": day,
                                    "kind": kind, "amount": -cents})  # fmt: skip


def test_the_limit_of_a_day_decides_which_account_pays():
    one, two = CURRENT["id"], SAVINGS["id"]
    assert accounts(moment(), 10_000, 1) == [one, two]
    assert accounts(moment(), 6_000, 5_000, 4_000, 1) == [one, two, one, two]


def test_only_transfers_of_today_from_the_account_count_towards_the_limit():
    others = (spent(1, 9_000, SAVINGS), spent(2, 9_000, kind="card"),
              spent(3, 9_000, day="2026-03-04"))  # fmt: skip
    assert accounts(moment(*others), 10_000) == [CURRENT["id"]]
    assert accounts(moment(spent(4, 500)), 10_000) == [SAVINGS["id"]]
    careless = replace(RULES, forgotten=frozenset({"spent"}))
    assert accounts(moment(spent(4, 500), rules=careless), 10_000) == [CURRENT["id"]]


@pytest.mark.parametrize(
    ("wanted", "due", "priority"),
    [
        ("2026-03-09", "2026-03-09", "high"),  # Monday, four days ahead
        ("2026-03-10", "2026-03-10", ""),
        ("2026-03-14", "2026-03-13", ""),  # Saturday
        ("2026-03-08", "2026-03-06", "high"),  # Sunday
    ],
)
def test_due_dates_leave_the_weekend_before_priority_is_decided(wanted, due, priority):
    at = moment()
    (task,) = done(at, at.task("Rake", wanted, "Key 3"))
    assert (task["due"], task["priority"], task["list"]) == (due, priority, TASKS["id"])


def test_no_two_open_tasks_of_the_list_are_due_on_one_day():
    at = moment()
    dues = [
        done(at, at.task(f"Rake {number}", "2026-03-10", "Key 3"))[0]["due"] for number in range(4)
    ]
    assert dues == ["2026-03-10", "2026-03-09", "2026-03-06", "2026-03-05"]
    with pytest.raises(KeyError, match="no free day"):
        at.task("Rake 5", "2026-03-10", "Key 3")
    at.moved_task("Rake 0", "2026-03-12").effect(at.phone)
    (again,) = done(at, at.task("Rake 6", "2026-03-10", "Key 3"))
    assert again["due"] == "2026-03-10"
    assert at.moved_task("Rake 6", "2026-03-10") is None


def texts(at, contact, count=2):
    found = []
    for number in range(count):
        rows = done(at, at.message(contact, f"Hello {number}"))
        found += [row["text"] for row in rows if "text" in row]
    return found


def test_only_the_first_message_of_a_day_to_the_group_work_is_signed():
    work, family = ({**PERSON, "group": group} for group in ("work", "family"))
    assert texts(moment(), work) == ["Hello 0 Regards, K.", "Hello 1"]
    assert texts(moment(), family) == ["Hello 0", "Hello 1"]


@pytest.mark.parametrize(("day", "signed"), [(TODAY, False), ("2026-03-04", True)])
def test_messages_of_this_morning_count_as_written(day, signed):
    thread = {"id": 900, "name": PERSON["name"], "number": PERSON["phone"], "muted": False,
              "blocked": False, "unread": False}  # fmt: skip
    threads = PLAN.table("messages.threads").items()
    known = [("messages.threads", "drop", key) for key, row in threads
             if row["number"] == PERSON["phone"]]  # fmt: skip
    sent = {"id": 9000, "thread": 900, "text": "Hi", "mine": True, "time": f"{day} 07:10",
            "file": ""}  # fmt: skip
    at = moment(*known, ("messages.threads", "put", thread), ("messages.messages", "put", sent))
    (text,) = texts(at, {**PERSON, "group": "work"}, 1)
    assert text.endswith("K.") is signed


def test_events_follow_the_rules_for_guests():
    one, two = list(PLAN.table("contacts.contacts").values())[:2]
    facts = {"title": "T", "day": "2026-03-09", "start": "10:00", "end": "11:00"}
    guests = [
        [],
        [{**one, "group": "family"}],
        [{**one, "group": "family"}, {**two, "group": "work"}],
    ]
    seen = []
    for each in guests:
        at = moment()
        (event,) = done(at, at.event(each, **facts))
        seen.append((event["alarm"], event["calendar"]))
    assert seen == [("5", "personal"), ("30", "personal"), ("30", "work")]


def test_a_change_replaces_one_rule():
    assert RuleChange("days", 9).applied(RULES) == replace(RULES, days=9)


def test_a_retroactive_change_reaches_what_was_created_today_and_nothing_else():
    old = {**next(iter(PLAN.table("tasks.tasks").values())), "id": 8000, "list": TASKS["id"],
           "due": "2026-03-11", "done": False, "priority": ""}  # fmt: skip
    at = moment(("tasks.tasks", "put", old))
    for title, due in (("Near", "2026-03-09"), ("Far", "2026-03-18")):
        at.task(title, due, "Key 3").effect(at.phone)
    change = RuleChange("days", 2)
    now = replace(at, rules=change.applied(RULES))
    for operation in now.amended(change):
        operation.effect(at.phone)
    assert {row["title"]: row["priority"] for row in at.phone.rows("tasks.tasks")} == {
        old["title"]: "", "Near": "", "Far": ""}  # fmt: skip
    assert not list(now.amended(RuleChange("sign", "Thanks, K.")))


def test_costs_of_a_trip_are_balanced_with_each_person():
    costs = [_Cost(1, 900, frozenset({0, 1, 2})), _Cost(0, 600, frozenset({0, 1})),
             _Cost(2, 400, frozenset({1, 2}))]  # fmt: skip
    assert _balances(costs) == [300 - 300, 0]
    assert _balances(costs[:1]) == [300, 0]


def drawn(duty, count):
    """Draw a duty on `count` phones; yield phone, people and requests."""
    made = 0
    for number in range(1000):
        e = Errand(GuiScene(generator_for("duty", number), "hard", "train", "en", True, number))
        try:
            cast = draw_cast(e)
            yield e, cast, duty(e, cast)
        except NoErrand:
            continue
        made += 1
        if made == count:
            return
    pytest.fail(f"{made} of {count} draws succeeded")


def test_payments_are_not_to_people_to_whom_something_else_may_be_paid_today():
    def both(e, cast):
        trip_costs(e, cast)
        return payments(e, cast)

    for _, cast, requests in drawn(both, 8):
        people = [row["name"] for row in cast.others]
        assert not any(name in each.text[0] for each in requests for name in people)


def test_no_invoice_is_dated_after_its_payment():
    for e, _, _ in drawn(invoices, 12):
        (entry,) = [row for row in e.rows("bank.entries") if row["reference"] == "several invoices"]
        (note,) = [row for row in e.rows("notes.notes") if row["title"].startswith("Open invoices")]
        days = [datetime.strptime(line.partition(", ")[2], "%d %B %Y").date().isoformat()
                for line in note["text"].splitlines()[1:]]  # fmt: skip
        assert len(days) == 10 and max(days) <= entry["day"]


def test_every_product_that_fits_can_be_in_the_cheapest_basket():
    """A dear one may reach the minimum of a voucher."""
    counts = set()
    for number in range(6):
        e = Errand(GuiScene(generator_for("basket", number), "hard", "train", "en", True, number))
        for options, count in _wanted(e, 30):
            kind = options[0]["title"].removeprefix(options[0]["brand"])
            fits = [row["id"] for row in e.rows("shop.products") if row["title"].endswith(kind)
                    and row["rating"] >= 30 and row["stock"] >= count]  # fmt: skip
            assert sorted(row["id"] for row in options) == fits
            counts.add(len(fits))
    assert max(counts) > 4


def test_the_fullest_choice_is_found_with_all_its_equals():
    pool = [{"minutes": minutes} for minutes in (50, 40, 30, 20)]
    assert _fullest(pool, 95) == [(0, 1), (1, 2, 3)]
    assert _fullest(pool, 71) == [(0, 3), (1, 2)]
    for bound in range(10, 150, 7):
        best = max(sum(pool[place]["minutes"] for place in part) for count in range(5)
                   for part in combinations(range(4), count)
                   if sum(pool[place]["minutes"] for place in part) <= bound)  # fmt: skip
        sums = {sum(pool[place]["minutes"] for place in part) for part in _fullest(pool, bound)}
        assert sums <= {best}


@pytest.mark.parametrize("index", range(0, 12, 2))
def test_a_shift_states_its_budget_and_requires_a_state_after_every_request(index):
    task = SOURCE.build(SOURCE.address("dev", index, "hard"))
    (check,) = task.checks
    requests = check.params["requests"]
    assert 5 <= len(requests) <= 7 and str(task.limits.turns) in task.instruction
    assert all(each["then"] and each["whole"] for each in requests)
    assert len(task.params["requests"]) == len(requests) - 1


HASHES = """
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.taskset import TaskSet
tasks = TaskSet("gui", "test", "hard")
print([get_source("gui").build(tasks.task_id(index)).hash for index in range(0, 12, 2)])
"""


def test_days_are_the_same_in_every_process():
    """One of each template, in processes that order sets of texts differently."""
    built = {
        subprocess.run(
            [sys.executable, "-c", HASHES],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(built) == 1
