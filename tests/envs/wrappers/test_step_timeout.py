"""`StepTimeout` on a real engine, in threads, through forks and beside other timers."""

import signal
import threading
import time

import pytest
from gymnasium.error import ResetNeeded

from hexathlon.envs.errors import DeadlineExceeded
from hexathlon.envs.forking import fork
from hexathlon.envs.sql.env import SQLEnv
from hexathlon.envs.tools import tool
from hexathlon.envs.wrappers import StepTimeout
from support.sql_toy import call
from support.toy import ADD, SUBMIT, ToyEnv

TASK = {"task": "toy/count/easy/test/00003"}
SQL = {"task": "sql/group_sum/easy/dev/00000"}
ENDLESS = call(
    "run_query",
    sql="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
)


class LateEnv(ToyEnv):
    """Its submit returns, but late."""

    @tool
    def tool_submit(self) -> str:
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            pass
        return super().tool_submit()


def test_a_statement_is_interrupted_and_the_database_stays_usable():
    env = StepTimeout(SQLEnv(), seconds=60)
    opening = env.reset(seed=3, options=SQL)
    tables = env.step(call("list_tables"))
    env.seconds = 0.2
    started = time.thread_time()
    observation, reward, terminated, truncated, info = env.step(ENDLESS)
    assert time.thread_time() - started < 0.5
    assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "truncated_time")
    assert observation == "The action took longer than 0.2 s. The episode ends."
    with pytest.raises(ResetNeeded):
        env.step(ENDLESS)
    env.seconds = 60
    assert env.reset(seed=3, options=SQL) == opening
    assert env.step(call("list_tables")) == tables
    env.close()


def test_a_statement_over_the_deadline_as_a_fault():
    env = StepTimeout(SQLEnv(), seconds=0.2, on_timeout="fault")
    env.reset(seed=3, options=SQL)
    with pytest.raises(DeadlineExceeded, match=r"0\.2 s"):
        env.step(ENDLESS)
    env.close()


def test_in_a_thread_a_late_step_ends_the_episode_all_the_same():
    results = []

    def play():
        env = StepTimeout(LateEnv(), seconds=60)
        env.reset(seed=0, options=TASK)
        results.append(env.step(ADD % 1)[4]["status"])
        env.seconds = 0.1
        results.append(env.step(SUBMIT)[4]["status"])

    thread = threading.Thread(target=play)
    thread.start()
    thread.join()
    assert results == ["ongoing", "truncated_time"]


def test_a_fork_of_an_episode_that_ended_at_the_deadline_has_ended_too():
    env = StepTimeout(LateEnv(), seconds=60)
    env.reset(seed=0, options=TASK)
    before = fork(env, 1)[0]
    env.seconds = 0.1
    env.step(SUBMIT)
    after = fork(env, 1)[0]
    with pytest.raises(ResetNeeded):
        after.step(ADD % 1)
    assert before.step(ADD % 1)[4]["status"] == "ongoing"


def test_an_outer_timer_keeps_running():
    def ring(number, frame):
        raise AssertionError("it must not ring")

    previous = signal.signal(signal.SIGALRM, ring)
    held = signal.setitimer(signal.ITIMER_REAL, 200)
    try:
        env = StepTimeout(ToyEnv(), seconds=60)
        env.reset(seed=0, options=TASK)
        env.step(ADD % 1)
        assert signal.getsignal(signal.SIGALRM) is ring
        assert 100 < signal.getitimer(signal.ITIMER_REAL)[0] <= 200
    finally:
        signal.setitimer(signal.ITIMER_REAL, *held)
        signal.signal(signal.SIGALRM, previous)
