"""Shifts: house rules, searches with one best answer, and the states required in between."""

import os
import subprocess
import sys
from dataclasses import replace
from itertools import combinations

import pytest

from hexathlon.tasks.gui.operations.operation import outcome
from hexathlon.tasks.gui.templates.shifts.accounts import _balances, _Cost
from hexathlon.tasks.gui.templates.shifts.rules import HouseRules, RuleChange
from hexathlon.tasks.gui.templates.shifts.times import _fullest
from hexathlon.tasks.gui.world.system.plan import PhonePlan
from hexathlon.tasks.registry import get_source

SOURCE = get_source("gui")
PLAN = PhonePlan(7, "train", "en", 4, "2026-03-05T09:00:00")  # a Thursday
ACCOUNTS = list(PLAN.table("bank.accounts").values())
RULES = HouseRules(ACCOUNTS[0], ACCOUNTS[1], 10_000, "Regards, K.", "30", "5", 4, "2026-03-05")
PAYEE = next(iter(PLAN.table("bank.payees").values()))


@pytest.mark.parametrize(("cents", "account"), [(9_999, 0), (10_000, 1)])
def test_the_bound_decides_which_account_pays(cents, account):
    changes = outcome(PLAN, [RULES.transfer(PAYEE, cents, "R")])
    (entry,) = changes["bank.entries"]["added"]
    assert entry["account"] == ACCOUNTS[account]["id"]


@pytest.mark.parametrize(
    ("due", "written", "priority"),
    [
        ("2026-03-09", "2026-03-09", "high"),  # Monday, four days ahead
        ("2026-03-10", "2026-03-10", ""),
        ("2026-03-14", "2026-03-13", ""),  # Saturday
        ("2026-03-08", "2026-03-06", "high"),  # Sunday
    ],
)
def test_due_dates_leave_the_weekend_before_priority_is_decided(due, written, priority):
    changes = outcome(PLAN, [RULES.task("Rake", due)])
    (task,) = changes["tasks.tasks"]["added"]
    assert (task["due"], task["priority"]) == (written, priority)


def test_only_messages_to_the_group_work_are_signed():
    person = next(iter(PLAN.table("contacts.contacts").values()))
    texts = []
    for group in ("work", "family"):
        changes = outcome(PLAN, [RULES.message({**person, "group": group}, "Hello")])
        texts += [row["text"] for row in changes["messages.messages"]["added"]]
    assert texts == ["Hello Regards, K.", "Hello"]


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
        (event,) = outcome(PLAN, [RULES.event(each, **facts)])["calendar.events"]["added"]
        seen.append((event["alarm"], event["calendar"]))
    assert seen == [("5", "personal"), ("30", "personal"), ("30", "work")]


def test_a_change_replaces_one_rule():
    assert RuleChange("days", 9).applied(RULES) == replace(RULES, days=9)


def test_costs_of_a_trip_are_balanced_with_each_person():
    costs = [_Cost(1, 900, frozenset({0, 1, 2})), _Cost(0, 600, frozenset({0, 1})),
             _Cost(2, 400, frozenset({1, 2}))]  # fmt: skip
    assert _balances(costs) == [300 - 300, 0, 0]
    assert _balances(costs[:1]) == [300, 0, 0]


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


@pytest.mark.parametrize("index", range(0, 10, 2))
def test_a_shift_states_its_budget_and_requires_a_state_after_every_request(index):
    task = SOURCE.build(SOURCE.address("dev", index, "hard"))
    (check,) = task.checks
    requests = check.params["requests"]
    assert 8 <= len(requests) <= 12 and str(task.limits.turns) in task.instruction
    assert all(each["then"] for each in requests)
    assert len(task.params["requests"]) == len(requests) - 1


HASHES = """
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.taskset import TaskSet
tasks = TaskSet("gui", "test", "hard")
print([get_source("gui").build(tasks.task_id(index)).hash for index in range(0, 10, 2)])
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
