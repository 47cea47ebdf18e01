"""Environments in worker processes: same behaviour normally, contained failures otherwise."""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import TimeLimit

from hexathlon.envs.errors import (
    DeadlineExceeded,
    EnvFault,
    ForkUnsupported,
    UnknownOption,
    WorkerCrashed,
    WrongState,
)
from hexathlon.envs.forking import fork, restore, snapshot
from hexathlon.envs.testing.census import Census, take_census
from hexathlon.envs.vector import VectorFault, make_vector
from hexathlon.envs.workers import HostedEnvironment
from hexathlon.envs.workers.codec import NotPlainData, decode, encode
from support.clocks import least_seconds
from support.drill import HOSTED, SUBMIT, TASK, DrillEnv, crash, hang, walk
from support.toy import ADD, ToyEnv

OPTIONS = {"task": TASK}


@pytest.fixture
def env():
    with HostedEnvironment(HOSTED) as hosted:
        hosted.reset(seed=1, options=OPTIONS)
        yield hosted


def left_since(before: Census) -> list[str]:
    """Processes, descriptors and threads of this process that were added since."""
    now = take_census()
    return [name for kind in ("processes", "files", "threads") for name in now.grown(kind, before)]


def same(a, b) -> bool:
    return (
        a[0]["text"] == b[0]["text"] and (a[0]["image"] == b[0]["image"]).all() and a[1:] == b[1:]
    )


def test_it_is_indistinguishable_from_the_environment_itself(env):
    local = DrillEnv()
    assert env.observation_space == local.observation_space
    assert env.action_space == local.action_space and env.family == "drill"
    assert same(env.reset(seed=7, options=OPTIONS), local.reset(seed=7, options=OPTIONS))
    for action in (walk(3), "prose", walk(1), "{broken", walk(1), SUBMIT):
        assert same(env.step(action), local.step(action))
    assert env.final_state() == local.final_state() and env.verdict() == local.verdict()
    assert env.task == local.task and env.limits == local.limits
    assert env.transcript == local.transcript
    local.close()


def test_passes_gymnasiums_checker():
    with HostedEnvironment("support.toy:ToyEnv") as hosted:
        check_env(hosted, skip_render_check=True, skip_close_check=True)


@pytest.mark.parametrize(
    ("how", "ending"),
    [("segfault", "SIGSEGV"), ("kill", "SIGKILL"), ("exit", "exit code 3")],
)
def test_a_crash_is_a_fault_and_the_next_reset_starts_afresh(env, how, ending):
    with pytest.raises(WorkerCrashed, match=ending) as caught:
        env.step(crash(how))
    assert isinstance(caught.value, EnvFault) and caught.value.cause == "worker_crashed"
    with pytest.raises(ResetNeeded):
        env.step(walk(1))
    fresh = env.reset(seed=1, options=OPTIONS)
    assert same(fresh, env.reset(seed=1, options=OPTIONS))


def test_a_bug_in_the_environment_is_a_fault_and_the_worker_lives(env):
    with pytest.raises(EnvFault, match="KeyError: 'a plain bug'"):
        env.step(crash("bug"))
    pid = env._worker.pid
    env.reset(seed=1, options=OPTIONS)
    assert env._worker.pid == pid


@pytest.mark.parametrize("how", ["awaiting", "blocking"])
def test_a_hang_ends_at_its_deadline(env, how):
    env.action_seconds = 0.3
    started = time.monotonic()
    observation, reward, terminated, truncated, info = env.step(hang(how))
    assert 0.3 <= time.monotonic() - started < 60  # instead of an hour
    assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "truncated_time")
    assert observation in env.observation_space and "longer than 0.3 s" in observation["text"]
    assert info["turn"] == 1 and env.verdict().score == 0.0
    with pytest.raises(ResetNeeded):
        env.step(walk(1))
    env.reset(seed=1, options=OPTIONS)
    env.step(walk(1))


@pytest.mark.parametrize("how", ["awaiting", "blocking"])
def test_a_hang_is_a_fault_where_that_is_declared(how):
    with HostedEnvironment(HOSTED, on_hang="fault", action_seconds=0.2) as hosted:
        hosted.reset(seed=1, options=OPTIONS)
        if how == "awaiting":  # the environment's own rule ends it first, with status truncated
            assert hosted.step(hang(how))[4]["status"] == "truncated_time"
        else:
            with pytest.raises(DeadlineExceeded, match="its worker was killed"):
                hosted.step(hang(how))


def test_sixteen_in_parallel_cost_little_more_than_one():
    pause = 0.2
    vector = make_vector(HostedEnvironment, 16, hosted=HOSTED, pause=pause)
    try:
        vector.reset(seed=0, options=OPTIONS)
        seconds = least_seconds(lambda: vector.step([walk(1)] * 16), 2 * pause)
        assert seconds < 8 * pause, "16 in a row would take 3.2 s"
        observations, *_ = vector.step([walk(1)] * 16)
        assert observations in vector.observation_space
    finally:
        vector.close()


def test_crashes_and_hangs_leave_the_rest_unharmed():
    vector = make_vector(HostedEnvironment, 5, hosted=HOSTED, action_seconds=2.0)
    try:
        vector.reset(seed=0, options=OPTIONS)
        actions = [walk(1), crash("segfault"), walk(2), hang("blocking"), crash("exit")]
        with pytest.raises(VectorFault) as caught:
            vector.step(actions)
        assert sorted(caught.value.faults) == [1, 4]
        observations, rewards, _, truncated, infos = caught.value.batch
        assert "You are at 1" in observations["text"][0] and "at 2" in observations["text"][2]
        assert np.isnan(rewards).tolist() == [False, True, False, False, True]
        assert infos["status"].tolist()[3] == "truncated_time"
        vector.reset(options={"reset_mask": truncated, **OPTIONS})
        vector.step([walk(1)] * 5)
        assert vector.call("final_state")[2]["at"] == 3
    finally:
        vector.close()


def test_nothing_is_left_behind():
    with HostedEnvironment(HOSTED):  # a first start imports or opens things for good
        pass
    before = take_census()
    vector = make_vector(HostedEnvironment, 3, hosted=HOSTED, action_seconds=0.2)
    vector.reset(seed=0, options=OPTIONS)
    with pytest.raises(VectorFault):
        vector.step([crash("kill"), hang("blocking"), walk(1)])
    vector.send_reset([0])
    vector.close()
    vector.close()
    assert left_since(before) == []


def test_a_garbage_collected_environment_ends_its_worker():
    before = take_census()
    forgotten = HostedEnvironment(HOSTED)
    forgotten.reset(seed=0)
    assert take_census().grown("processes", before)
    del forgotten
    assert left_since(before) == []


def test_workers_die_with_a_caller_that_is_killed(tmp_path):
    code = (
        "import sys, os, signal, time; sys.path[:] = eval(sys.argv[1]);"
        "from hexathlon.envs.workers import HostedEnvironment;"
        f"env = HostedEnvironment({HOSTED!r}); env.reset(seed=0);"
        "print(env._worker.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, repr(sys.path)], capture_output=True, text=True
    )
    pid = int(out.stdout)
    until = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        os.sched_yield()
    assert not Path(f"/proc/{pid}").exists()


def test_fork_snapshot_and_restore_through_the_worker(env):
    env.step(walk(2))
    wrapped = TimeLimit(env, 9)
    wrapped._elapsed_steps = 1
    clones = fork(wrapped, 2)
    state = snapshot(wrapped)
    expected = wrapped.step(walk(1))
    for clone in clones:
        assert same(clone.step(walk(1)), expected)
        clone.close()
    restore(wrapped, state)
    assert same(wrapped.step(walk(1)), expected)
    assert len({clone.unwrapped.hosted for clone in clones}) == 1


def test_states_survive_their_worker_and_can_be_pickled(env):
    env.step(walk(2))
    state = pickle.loads(pickle.dumps(env.snapshot()))
    expected = env.step(walk(1))
    with pytest.raises(WorkerCrashed):
        env.step(crash("kill"))
    env.restore(state)
    assert same(env.step(walk(1)), expected)


def test_states_are_the_same_bytes_every_time(env):
    assert env.snapshot() == env.snapshot()
    with HostedEnvironment("support.toy:ToyEnv") as other, pytest.raises(WrongState):
        other.restore(env.snapshot())


def test_errors_keep_their_kind(env):
    with pytest.raises(ValueError, match="unknown reset option 'tusk'"):
        env.reset(options={"tusk": 1})
    with pytest.raises(Exception, match="no-such"):
        env.reset(options={"task": "no-such/task/easy/test/00000"})
    assert issubclass(UnknownOption, ValueError)


def test_an_entry_point_that_fails_says_so_and_leaves_nothing():
    before = take_census()
    with pytest.raises(EnvFault, match="no_such_module"):
        HostedEnvironment("no_such_module:Env")
    with pytest.raises(TypeError, match="speed"):
        HostedEnvironment(HOSTED, speed=3)
    assert left_since(before) == []


def test_a_hosted_environment_that_cannot_fork_says_why():
    with HostedEnvironment("support.rigid:RigidEnv") as hosted:
        hosted.reset(seed=0)
        with pytest.raises(ForkUnsupported, match="a reason"):
            fork(hosted)


def test_a_hosted_toy_equals_the_local_one_in_message_form():
    with HostedEnvironment("support.toy:ToyEnv", action_format="message") as hosted:
        local = ToyEnv(action_format="message")
        assert hosted.reset(seed=3) == local.reset(seed=3)
        call = {"id": "a", "name": "add", "arguments": '{"amount": 4}'}
        action = {"role": "assistant", "content": "", "tool_calls": (call,), "tool_call_id": ""}
        assert hosted.step(action) == local.step(action)
    assert ADD % 1


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(1 << 130),
        1.5,
        float("inf"),
        "naïve 🙂 \ud800",
        b"\x00\xff",
        [1, (2, [3, ("x", None)])],
        {"a": {"t": 1}, 3: {"b": b"raw"}, (1, 2): "tuple key"},
        {"t": [1]},
    ],
)
def test_plain_data_survives_the_codec(value):
    assert decode(encode(value)) == value
    assert type(decode(encode(value))) is type(value)


def test_arrays_survive_the_codec():
    arrays = [np.arange(12, dtype=np.uint8).reshape(3, 4), np.zeros((0, 2)), np.array(True)]
    for array in arrays:
        again = decode(encode({"x": array}))["x"]
        assert again.dtype == array.dtype and again.shape == array.shape and (again == array).all()
        again[...] = 1


@pytest.mark.parametrize("value", [object(), {1, 2}, print, np.array([object()]), [{"x": ToyEnv}]])
def test_anything_else_is_refused(value):
    with pytest.raises(NotPlainData, match="value"):
        encode(value)


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\x00\x00",
        b'\x00\x00\x00\x09{"z":[1]}',
        encode(b"abc")[:-1],
        encode(1) + b"x",
    ],
)
def test_damaged_bytes_are_refused(damage):
    with pytest.raises(ValueError, match=r"."):
        decode(damage)
