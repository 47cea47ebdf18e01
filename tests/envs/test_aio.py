"""Coroutine environments: the common interface, awaiting inside a loop, and deadlines."""

import asyncio
import pickle
import time

import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from hexathlon.envs.errors import DeadlineExceeded, EnvFault
from support.drill import SUBMIT, TASK, DrillEnv, MeetingEnv, hang, walk

OPTIONS = {"task": TASK}


@pytest.fixture
def env():
    with DrillEnv() as drill:
        drill.reset(seed=1, options=OPTIONS)
        yield drill


def test_passes_gymnasiums_checker(env):
    check_env(env, skip_render_check=True, skip_close_check=True)


def test_awaited_and_plain_steps_are_the_same(env):
    async def run():
        other = DrillEnv()
        opening = await other.areset(seed=1, options=OPTIONS)
        return opening[0]["text"], await other.astep(walk(2)), await other.astep(SUBMIT)

    opening, first, last = asyncio.run(run())
    assert env.reset(seed=1, options=OPTIONS)[0]["text"] == opening
    assert env.step(walk(2))[0]["text"] == first[0]["text"]
    assert env.step(SUBMIT)[1:] == last[1:]


def test_every_call_of_a_turn_counts_towards_the_budget():
    with DrillEnv(limits={"turns": 2}) as env:
        env.reset(seed=1, options=OPTIONS)
        observation, _, _, truncated, info = env.step(f"[{','.join([walk(1)] * 3)}]")
        assert truncated and info["status"] == "truncated_turns"
        assert observation["text"].count("was not run") == 1


def test_a_plain_step_inside_a_loop_says_what_to_do(env):
    async def run():
        env.step(walk(1))

    with pytest.raises(RuntimeError, match="await astep"):
        asyncio.run(run())


def test_an_action_ends_at_its_deadline(env):
    env.action_seconds = 0.1
    started = time.monotonic()
    _, reward, terminated, truncated, info = env.step(hang("awaiting"))  # for an hour
    assert time.monotonic() - started >= 0.1
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["status"] == "truncated_time" and info["turn"] == 1
    with pytest.raises(ResetNeeded):
        env.step(walk(1))


def test_a_hang_is_a_fault_where_that_is_declared(env):
    env.action_seconds, env.on_hang = 0.05, "fault"
    with pytest.raises(DeadlineExceeded, match=r"0\.05 s") as caught:
        env.step(hang("awaiting"))
    assert isinstance(caught.value, EnvFault)
    with pytest.raises(ResetNeeded):
        env.step(walk(1))


def test_a_reset_that_never_ends_is_a_fault(env):
    async def never(task):
        await asyncio.sleep(3600)

    env.reset_seconds, env.on_reset = 0.05, never
    with pytest.raises(DeadlineExceeded, match="reset of drill"):
        env.reset(seed=0, options=OPTIONS)


def test_close_twice_and_reset_after(env):
    env.close()
    env.close()
    env.reset(seed=1, options=OPTIONS)


def test_pickles_between_episodes_and_within(env):
    env.step(walk(1))
    other = pickle.loads(pickle.dumps(env))
    assert other.step(walk(1))[0]["text"] == env.step(walk(1))[0]["text"]
    other.close()


def test_many_steps_run_concurrently():
    async def run():
        meeting = asyncio.Barrier(20)
        envs = [MeetingEnv(meeting) for _ in range(20)]
        await asyncio.gather(*(env.areset(seed=0, options=OPTIONS) for env in envs))
        return await asyncio.gather(*(env.astep(walk(1)) for env in envs))

    assert len(asyncio.run(run())) == 20
