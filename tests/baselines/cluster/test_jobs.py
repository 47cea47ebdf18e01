"""Which rollouts travel together."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray")

from hexathlon.baselines.cluster.handles import WorkerHandle
from hexathlon.baselines.cluster.jobs import RolloutJob, WorkerPool
from hexathlon.baselines.rollout.executor import Request
from hexathlon.baselines.rollout.pools import PoolTable

AGENT: Any = SimpleNamespace(number=1)


@pytest.fixture
def loop() -> Any:
    made = asyncio.new_event_loop()
    yield made
    made.close()


def pool(loop: Any, seconds: float, *, slots: int, tasks: int, trials: int) -> WorkerPool:
    """A pool of two workers whose queue has some trials of each task."""
    made = WorkerPool("workers", PoolTable(workers=2, slots=slots))
    actor: Any = SimpleNamespace(hello=SimpleNamespace(remote=lambda: None))
    made.workers = [WorkerHandle(number, number, slots, actor) for number in range(2)]
    made.seconds = seconds
    for number in range(tasks * trials):
        request = Request(("harness/Toy-v0", f"task-{number // trials}", 0, number % trials))
        made.queue.append(RolloutJob(number, request, AGENT, 0, loop.create_future()))
    return made


def sizes(made: WorkerPool) -> list[int]:
    """The sizes of the messages that two workers with one free slot each get one after another."""
    result = []
    while (message := made.next_call()) is not None:
        worker, slot, jobs = message
        result.append(len(jobs))
        worker.release(slot)
    return result


@pytest.mark.parametrize("seconds", [0.02, 0.2, 0.4, 0.9])
def test_short_trials_of_a_task_travel_together(loop: Any, seconds: float) -> None:
    """Also on a busy machine, where few of them fit into the duration of a message."""
    made = pool(loop, seconds, slots=1, tasks=12, trials=10)
    message = made.next_call()
    assert message is not None
    jobs = message[2]
    assert len(jobs) % 10 == 0
    assert {job.request.key[1] for job in jobs} == {f"task-{n}" for n in range(len(jobs) // 10)}


def test_the_last_trials_are_shared(loop: Any) -> None:
    made = pool(loop, 0.2, slots=1, tasks=1, trials=10)
    assert sizes(made)[0] == 5


def test_members_of_a_group_use_all_slots(loop: Any) -> None:
    made = pool(loop, 0.4, slots=16, tasks=4, trials=8)
    assert sizes(made) == [1] * 32


@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_long_and_unknown_trials_travel_alone(loop: Any, seconds: float) -> None:
    assert sizes(pool(loop, seconds, slots=1, tasks=3, trials=10)) == [1] * 30
