"""Shifts: several tickets on one machine, all of whose demands hold at every later report."""

import json
import tomllib

import pytest

from hexathlon.tasks.registry import get_source
from hexathlon.tasks.terminal.draft import TerminalDraft
from hexathlon.tasks.terminal.harbor import read_harbor
from hexathlon.tasks.terminal.opening import native_checks
from hexathlon.tasks.terminal.source import draft_of, files_of
from hexathlon.tasks.terminal.templates.shifts.templates import DAYS

SOURCE = get_source("terminal")
HARD = [name for name, level in SOURCE.strata if level == "hard"]


def drafted(name: str, split: str = "test", index: int = 0) -> TerminalDraft:
    return draft_of(SOURCE.build(f"terminal/{name}/hard/{split}/{index:05d}"))


@pytest.fixture(scope="module")
def days() -> dict[str, TerminalDraft]:
    return {name: drafted(name) for name in DAYS}


def test_hard_tasks_are_shifts_and_long_ones_in_turn():
    long = [name for name in HARD if name.startswith("long_")]
    assert {*long, *DAYS} == set(HARD)
    assert [name in DAYS for name in HARD[: 2 * len(long)]] == [False, True] * len(long)


@pytest.mark.parametrize("name", sorted(DAYS))
def test_a_day_is_a_directory_of_several_steps(name):
    task = SOURCE.build(f"terminal/{name}/hard/test/00001")
    draft, files = draft_of(task), files_of(task)
    read = read_harbor(name, files)
    assert 6 <= len(read.steps) <= 9
    assert task.instruction == read.steps[0].instruction
    assert f"{len(read.steps)} tickets, and {task.limits.turns} actions" in task.instruction
    tests = task.checks[0].params["tests"]
    for step, ticket in zip(read.steps, draft.tickets, strict=True):
        checks = native_checks(step.tests)
        assert checks is not None and [p["id"] for p in checks["probes"]] == tests[step.name]
        assert step.before == ticket.before
        assert len(set(tests[step.name])) == len(tests[step.name])
    assert all(step.before for step in read.steps[1:]) and not read.steps[0].before
    assert tomllib.loads(files["task.toml"].decode())["steps"][0] == {"name": "t1"}


def test_reports_test_all_earlier_tickets_again(days):
    own_report = {"jobs", "rules", "log_of_others", "many", "refusals", "database"}
    for name, draft in days.items():
        earlier: set[str] = set()
        for ticket in draft.tickets:
            ids = {probe.id for probe in ticket.probes}
            assert {each.partition("/")[2] for each in earlier - ids} <= own_report, name
            earlier |= ids
        assert {each.partition("/")[0] for each in ids} == {each.name for each in draft.tickets}


def test_days_have_alternatives_and_near_misses_for_every_ticket(days):
    for name, draft in days.items():
        right = [ticket.solution for ticket in draft.tickets]
        assert set(draft.day_alternatives) == {"a", "b"}
        assert set(draft.due.values()) == {ticket.name for ticket in draft.tickets}, name
        for miss, scripts in draft.day_mutants.items():
            wrong = [n for n, script in enumerate(scripts) if script != right[n]]
            assert [f"t{n + 1}" for n in wrong] == [draft.due[miss]]
        rules = {miss for miss in draft.day_mutants if miss.startswith("rule_")}
        assert len(rules) == 8


def test_the_machine_contains_no_truth(days):
    for name, draft in days.items():
        task = SOURCE.build(f"terminal/{name}/hard/test/00000")
        environment = {
            path: data for path, data in files_of(task).items() if path.startswith("environment/")
        }
        seen = b"\n".join(environment.values())
        assert task.canary.encode() not in seen
        for probe in draft.tickets[-1].probes:
            text = probe.expect.get("text", "")
            if len(text) > 60 and "log_of_others" not in probe.id:
                assert text.strip().encode() not in seen, (name, probe.id)


def test_days_of_training_lack_two_kinds_of_traps():
    def traps(split: str) -> set[str]:
        names = ("shift_campaign", "shift_meters", "shift_opening")
        drafts = [drafted(name, split, index) for name in names for index in range(4)]
        return {miss.split("_", 1)[1] for draft in drafts for miss in draft.day_mutants}

    kept = {"tidied", "no_packed"}
    assert kept <= traps("test")
    assert not kept & (traps("train") | traps("dev"))


def test_seeds_and_splits_draw_other_days():
    drafts = [drafted("shift_long", split, index) for split in ("test", "dev") for index in (0, 1)]
    texts = [json.dumps([ticket.instruction for ticket in draft.tickets]) for draft in drafts]
    assert len(set(texts)) == len(texts)
    assert len({draft.files["HANDBOOK.md"] for draft in drafts}) == len(drafts)
