"""Days on call in real sandboxes: the oracle, near misses, what others do between tickets."""

from collections.abc import Iterator
from itertools import islice

import pytest
from tests.support.terminal import act, play

from hexathlon.envs.terminal.env import TerminalEnv
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task
from hexathlon.tasks.terminal.scripts import working
from hexathlon.tasks.terminal.source import draft_of

SOURCE = get_source("terminal")
DAY = "terminal/shift_weekend/hard/test/00000"


def until(env: TerminalEnv, script: Script, reports: int) -> list[str]:
    """Play a script up to a number of reports; returns the observations of the reports."""
    env.reset(seed=0, options={"task": DAY})
    told: list[str] = []
    for action in script:
        observation, *_ = env.step(action)
        told += [observation] if action == act("submit") else []
        if len(told) == reports:
            break
    return told


@pytest.fixture(scope="module")
def task() -> Task:
    return SOURCE.build(DAY)


def test_the_oracle_and_an_alternative_solve_a_day(env, task):
    reward, state = play(env, DAY, SOURCE.oracle(task))
    assert reward == 1.0 and state["flags"] == []
    assert [step["name"] for step in state["steps"]] == [f"t{n}" for n in range(1, 7)]
    assert play(env, DAY, SOURCE.alternatives(task)["a"])[0] == 1.0


def test_a_report_is_answered_by_the_next_ticket_after_others_have_worked(env, task):
    draft = draft_of(task)
    told = until(env, SOURCE.oracle(task), 2)
    assert draft.tickets[1].instruction in told[0] and draft.tickets[2].instruction in told[1]
    log = env.step(act("run", command="cat /app/CHANGES /app/OPERATIONS.log /app/DAYBOOK "
                       "/app/WORKLOG 2>/dev/null"))[0]  # fmt: skip
    assert log.count("platform") == 3  # two lines of the morning, and one since
    with_state = env.unwrapped.snapshot()
    env.step(act("run", command="rm -r /app/etc"))
    env.unwrapped.restore(with_state)
    assert "site.env" in env.step(act("run", command="ls /app/etc"))[0]


def test_near_misses_fail_at_the_report_where_they_are_due(env, task):
    """Three of the second ticket, each from the state after the first one, which is right."""
    draft = draft_of(task)
    until(env, SOURCE.oracle(task), 1)
    first = env.unwrapped.snapshot()
    for rule in ("rule_original", "rule_etc_mode", "rule_sealed"):
        assert draft.due[rule] == "t2"
        assert draft.day_mutants[rule][0] == draft.tickets[0].solution
        env.unwrapped.restore(first)
        actions = list(islice(_tickets(working(draft.tickets, draft.day_mutants[rule])), 2))[1]
        for action in actions:
            env.step(action)
        steps = env.final_state()["steps"][:2]
        failed = [step["name"] for step in steps
                  if any(what != "passed" for _, what in step["tests"])]  # fmt: skip
        assert failed == ["t2"], rule


def _tickets(script: Script) -> Iterator[list[str]]:
    """Yield a script's actions, ticket by ticket."""
    actions: list[str] = []
    for action in script:
        actions.append(action)
        if action == act("submit"):
            yield actions
            actions = []
