"""Classifiers of endings: each predicts exactly what its part of the task gives away."""

from collections.abc import Callable

import pytest

from hexathlon.envs.testing.forecasting import (
    CONSTANT,
    SEEN_ID,
    TEXTS,
    TOOLS,
    WHOLE_ID,
    Foreknown,
    forecasts,
)
from hexathlon.evaluators.records.canonical import text_hash
from hexathlon.tasks.seeding import derive_seed
from hexathlon.tasks.task import Task

TASKS = 400


def known(number: int, **other: object) -> Foreknown:
    digest = text_hash(f"task {number}")
    one = Foreknown.of_record(f"rooms/heat/easy/test/{number:05}", "easy", digest, "Heat the room.")
    return one._replace(**other)


def shares(tasks: list[Foreknown], ending: Callable[[Foreknown], bool]) -> dict[str, float]:
    """Return the share of the endings, yes or no, that each classifier predicts."""
    ends = ["yes" if ending(task) else "no" for task in tasks]
    return {name: sum(right) / len(right) for name, right in forecasts(tasks, ends).items()}


def coin(task: Foreknown) -> bool:
    return derive_seed("coin", task.numbers["index"]) % 2 == 0


def by_index(task: Foreknown) -> bool:
    return task.numbers["index"] % 2 == 0


def by_hash(task: Foreknown) -> bool:
    return task.numbers["hash"] % 2 == 0


@pytest.mark.parametrize(
    ("ending", "told"),
    [(coin, ()), (by_index, (WHOLE_ID,)), (by_hash, (WHOLE_ID, SEEN_ID))],
)
def test_numbers_tell_what_they_decide(
    ending: Callable[[Foreknown], bool], told: tuple[str, ...]
) -> None:
    found = shares([known(number) for number in range(TASKS)], ending)
    assert {name for name, share in found.items() if share == 1.0} == set(told)
    assert all(share < 0.62 for name, share in found.items() if name not in told)


def test_templates_that_decide_are_part_of_the_id_and_not_of_the_view() -> None:
    tasks = [known(n, template=("heat", "cool")[coin(known(n))]) for n in range(TASKS)]
    found = shares(tasks, lambda task: task.template == "cool")
    assert found[WHOLE_ID] == found["template and level"] == 1.0
    assert max(found[name] for name in (CONSTANT, SEEN_ID, *TEXTS)) < 0.62


def test_openings_and_tools_that_decide_are_the_view() -> None:
    words = [known(n, opening=f"{('Heat', 'Cool')[coin(known(n))]} room.") for n in range(TASKS)]
    assert all(shares(words, coin)[name] == 1.0 for name in TEXTS)
    tools = [known(n, tools=("heat", "stop")[: 1 + coin(known(n))]) for n in range(TASKS)]
    assert shares(tools, coin)[TOOLS] == 1.0


def test_a_record_and_its_task_have_the_same_digest(roleplay_task: Task) -> None:
    task = roleplay_task
    recorded = Foreknown.of_record(task.id, task.level, task.hash, task.instruction)
    assert (recorded.generator, recorded.template) == (task.generator, task.template)
    assert f"{recorded.numbers['hash']:08x}" == task.opaque_id.partition("/")[2][:8]


@pytest.fixture
def roleplay_task() -> Task:
    from hexathlon.tasks.registry import get_source

    source = get_source("roleplay")
    return source.build(source.address("test", 0))
