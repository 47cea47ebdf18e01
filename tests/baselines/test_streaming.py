"""The executor of asynchronous runs: overlapping calls, waiting, pausing and abandoning."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hexathlon.baselines.agents.spec import parse_model, scripted_agent
from hexathlon.baselines.rollout.executor import LocalExecutor, Request
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.rollout.streaming import StreamingExecutor
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.base import Environment
from support.events import TOY
from support.toy import ToyEnv

ORACLE = scripted_agent(parse_model("agent:oracle"))
DEADLINE = 120.0
TASKS = [f"toy/count/tiny/test/{number:05}" for number in range(8)]


def request(number: int, trial: int = 0) -> Request:
    return Request((TOY, TASKS[number], 0, trial))


class HookedToy(ToyEnv):
    """The toy event with a function that is called before each step."""

    def __init__(self, before: Callable[["HookedToy"], None]) -> None:
        super().__init__()
        self._before = before
        self.threads: set[int] = set()

    def step(self, action: Any) -> Any:
        self.threads.add(threading.get_ident())
        self._before(self)
        return super().step(action)


@contextmanager
def executor(
    before: Callable[[HookedToy], None], concurrency: int, made: list[HookedToy] | None = None
) -> Iterator[StreamingExecutor]:
    def make(env_id: str) -> Environment:
        env = HookedToy(before)
        if made is not None:
            made.append(env)
        return env

    opened = StreamingExecutor(ORACLE, make, concurrency)
    try:
        yield opened
    finally:
        opened.close()


def within(work: Any) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(DEADLINE):
            return await work

    return asyncio.run(bounded())


def test_overlapping_calls_give_the_same_trajectories_as_one_call() -> None:
    requests = [request(number, trial) for number in range(8) for trial in range(2)]

    async def overlapping(opened: StreamingExecutor) -> list[Any]:
        parts = await asyncio.gather(*(opened.run([one]) for one in requests))
        return [part[0] for part in parts]

    with executor(lambda env: None, 3) as opened:
        results = within(overlapping(opened))
    reference = LocalExecutor(ORACLE, lambda name: ToyEnv(), 1)
    expected = asyncio.run(reference.run(requests))
    reference.close()
    for one, other in zip(results, expected, strict=True):
        assert isinstance(one, Trajectory) and isinstance(other, Trajectory)
        assert one.record["steps"] == other.record["steps"]
        assert (one.key, one.record["reward"]) == (other.key, 1.0)


def test_waiting_environments_step_concurrently_each_in_one_thread() -> None:
    """All slots must be inside a step at once for any of them to go on."""
    together = threading.Barrier(4)
    first = threading.local()
    made: list[HookedToy] = []

    def before(env: HookedToy) -> None:
        if not getattr(first, "passed", False):
            first.passed = True
            together.wait(DEADLINE)

    with executor(before, 4, made) as opened:
        outcomes = within(opened.run([request(number) for number in range(4)]))
    assert [outcome.record["reward"] for outcome in outcomes] == [1.0] * 4
    used = [env.threads for env in made if env.threads]
    assert [len(threads) for threads in used] == [1] * 4
    assert len(set.union(*used)) == 4
    assert threading.get_ident() not in set.union(*used)


def test_abort_pauses_calls_in_progress_and_not_later_ones() -> None:
    entered, released = threading.Event(), threading.Event()

    def before(env: HookedToy) -> None:
        entered.set()
        assert released.wait(DEADLINE)

    async def aborted(opened: StreamingExecutor) -> tuple[list[Any], list[Any]]:
        calls = [asyncio.create_task(opened.run([request(number)])) for number in range(3)]
        await asyncio.to_thread(entered.wait, DEADLINE)
        await opened.abort()
        released.set()
        paused = [(await call)[0] for call in calls]
        starts = [request(n)._replace(start=p) for n, p in enumerate(paused)]
        return paused, await opened.run(starts)

    with executor(before, 1) as opened:
        paused, finished = within(aborted(opened))
    assert [type(one) for one in paused] == [Prefix] * 3
    assert [prefix.turns for prefix in paused] == [1, 0, 0]  # one slot: the others never began
    assert [one.record["reward"] for one in finished] == [1.0] * 3


def test_abandoned_rollout_frees_its_slot_while_its_environment_hangs() -> None:
    entered, released = threading.Event(), threading.Event()
    made: list[HookedToy] = []

    def before(env: HookedToy) -> None:
        if env.task.id == TASKS[0]:
            entered.set()
            assert released.wait(DEADLINE)

    async def abandoned(opened: StreamingExecutor) -> list[Any]:
        call = asyncio.create_task(opened.run([request(0)]))
        await asyncio.to_thread(entered.wait, DEADLINE)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return await opened.run([request(1), request(2)])

    with executor(before, 1, made) as opened:
        try:
            outcomes = within(abandoned(opened))
        finally:
            released.set()
    assert [outcome.record["reward"] for outcome in outcomes] == [1.0, 1.0]
    hung, fresh = (env for env in made if env.threads)
    assert hung.threads != fresh.threads  # another environment in another thread


def test_cancelled_waiting_request_takes_no_slot() -> None:
    entered, released = threading.Event(), threading.Event()

    def before(env: HookedToy) -> None:
        entered.set()
        assert released.wait(DEADLINE)

    async def cancelled(opened: StreamingExecutor) -> list[Any]:
        first = asyncio.create_task(opened.run([request(0)]))
        await asyncio.to_thread(entered.wait, DEADLINE)
        second = asyncio.create_task(opened.run([request(1)]))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        released.set()
        return [*(await first), *(await opened.run([request(2)]))]

    with executor(before, 1) as opened:
        outcomes = within(cancelled(opened))
    assert [outcome.record["reward"] for outcome in outcomes] == [1.0, 1.0]
