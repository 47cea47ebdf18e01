"""The adaptive limit: never above its size, shrinks once per episode, grows slowly."""

import asyncio

import pytest

from hexathlon.baselines.engines.limiter import AdaptiveLimit


class Clock:
    """A clock that advances only on request."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_shrinks_once_per_episode_and_not_below_the_floor() -> None:
    clock = Clock()
    limit = AdaptiveLimit(20, floor=14, ceiling=40, cooldown=15.0, clock=clock)
    limit.rate_limited()
    limit.rate_limited()
    assert (limit.size, limit.episodes) == (16, 1)
    clock.now += 15.0
    limit.rate_limited()
    assert (limit.size, limit.episodes) == (14, 2)


def test_grows_by_one_for_a_round_of_successes_up_to_the_ceiling() -> None:
    limit = AdaptiveLimit(4, ceiling=5)
    for _ in range(4):
        limit.succeeded()
    assert limit.size == 5
    for _ in range(50):
        limit.succeeded()
    assert limit.size == 5


def test_never_admits_more_than_its_size() -> None:
    async def scenario() -> int:
        limit = AdaptiveLimit(3, ceiling=3)
        inside = most = 0

        async def visit() -> None:
            nonlocal inside, most
            await limit.acquire()
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1
            limit.release()

        await asyncio.gather(*[visit() for _ in range(50)])
        return most

    assert asyncio.run(scenario()) == 3


def test_cancelled_waiter_passes_its_slot_on() -> None:
    async def scenario() -> None:
        limit = AdaptiveLimit(1, ceiling=1)
        await limit.acquire()
        waiting = [asyncio.create_task(limit.acquire()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        limit.release()
        async with asyncio.timeout(5):
            await waiting[1]
        assert waiting[0].cancelled()

    asyncio.run(scenario())


def test_waiter_cancelled_after_admission_returns_its_slot() -> None:
    async def scenario() -> None:
        limit = AdaptiveLimit(1, ceiling=1)
        await limit.acquire()
        admitted = asyncio.create_task(limit.acquire())
        await asyncio.sleep(0)
        limit.release()  # admits, but the task has not run yet
        admitted.cancel()
        await asyncio.gather(admitted, return_exceptions=True)
        async with asyncio.timeout(5):
            await limit.acquire()

    asyncio.run(scenario())


def test_retry_after_delays_all_new_requests() -> None:
    async def scenario() -> float:
        limit = AdaptiveLimit(2)
        limit.rate_limited(0.05)
        started = asyncio.get_running_loop().time()
        await limit.acquire()
        return asyncio.get_running_loop().time() - started

    assert asyncio.run(scenario()) >= 0.049


@pytest.mark.parametrize(("floor", "ceiling"), [(0, 5), (6, 5)])
def test_contradictory_bounds_are_rejected(floor: int, ceiling: int) -> None:
    with pytest.raises(ValueError, match="1 <= floor <= ceiling"):
        AdaptiveLimit(5, floor=floor, ceiling=ceiling)
