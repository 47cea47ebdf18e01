"""Our wrappers: effect, spec, and use inside a vector."""

import asyncio
import time

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded

from hexathlon.envs.errors import DeadlineExceeded
from hexathlon.envs.tools import tool
from hexathlon.envs.vector import VectorEnvironment
from hexathlon.envs.wrappers import (
    ChatHistory,
    EpisodeRecorder,
    RewardTerms,
    StepTimeout,
    TokenBudget,
    register_counter,
)
from hexathlon.envs.wrappers.base import awaits
from support.drill import TASK as DRILL
from support.drill import DrillEnv, MeetingEnv, hang, walk
from support.toy import ADD, SUBMIT, ToyEnv

TASK = {"task": "toy/count/easy/test/00003"}
GOAL = 12


class SleepyEnv(ToyEnv):
    @tool
    def tool_submit(self) -> str:
        until = time.monotonic() + 200
        while time.monotonic() < until:
            pass
        return "Too late."


@pytest.mark.parametrize("action_format", ["text", "message"])
def test_chat_history_is_the_whole_conversation(action_format):
    env = ChatHistory(ToyEnv(action_format=action_format))
    first, _ = env.reset(seed=0, options=TASK)
    assert first in env.observation_space
    assert [m["role"] for m in first] == ["system", "user"] and first[0]["content"] == "You count."
    action = ADD % 3
    if action_format == "message":
        call = {"id": "call_0", "name": "add", "arguments": '{"amount": 3}'}
        action = {"role": "assistant", "content": "", "tool_calls": (call,), "tool_call_id": ""}
    second = env.step(action)[0]
    assert second in env.observation_space and second[:2] == first
    assert [m["role"] for m in second[2:]] == [
        "assistant",
        "tool" if action_format == "message" else "user",
    ]
    assert second[2]["tool_calls"][0]["name"] == "add" and "3" in second[3]["content"]


def test_chat_history_as_text_and_with_images():
    env = ChatHistory(ToyEnv(), form="text")
    env.reset(seed=0, options=TASK)
    text = env.step(ADD % 3)[0]
    assert text.startswith("[system]\nYou count.") and "[assistant]\nadd" in text
    with_image = ChatHistory(DrillEnv())
    observation, _ = with_image.reset(seed=0, options={"task": DRILL})
    assert observation in with_image.observation_space
    with_image.close()


def test_recorder_keeps_records_independent_of_callers():
    env = EpisodeRecorder(ToyEnv(), keep=2)
    for amount in (1, 2, 3):
        opening, info = env.reset(seed=amount, options=TASK)
        env.step(ADD % amount)
        *_, last = env.step(SUBMIT)
        env.record["steps"].clear()
    assert [len(episode["steps"]) for episode in env.episodes] == [2, 2]
    record = env.episodes[-1]
    assert record["opening"] == opening and record["task_hash"] == info["task_hash"]
    assert record["steps"][0]["action"] == ADD % 3
    assert record["status"] == last["status"] == "completed" and record["reward"] == 0.0
    assert env.record == record


def test_token_budget_truncates_with_the_verdict_so_far():
    env = TokenBudget(ToyEnv(), budget=60, counter="characters")
    env.reset(seed=0, options=TASK)
    assert env.step(ADD % 6)[3] is False
    _, reward, terminated, truncated, info = env.step(ADD % 6)
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["status"] == "truncated_length" and info["reward_terms"] == {"hit": 0.0}
    with pytest.raises(ResetNeeded):
        env.step(SUBMIT)
    env.reset(seed=0, options=TASK)
    assert env.used == 0


def test_token_budget_does_not_change_an_ended_episode():
    env = TokenBudget(ToyEnv(), budget=1)
    env.reset(seed=0, options=TASK)
    *_, terminated, truncated, info = env.step(SUBMIT)
    assert terminated and not truncated and info["status"] == "completed"


@pytest.mark.parametrize(("counter", "expected"), [("characters", 13), ("words", 2), ("bytes", 15)])
def test_token_budget_counts_by_name(counter, expected):
    env = TokenBudget(ToyEnv(), 1000, counter)
    env.reset(seed=0, options=TASK)
    env.step("naïve prosé..")
    assert env.used == expected


def test_token_budget_counts_by_registered_name_and_by_path():
    register_counter("letters-for-test", lambda text: sum(c.isalpha() for c in text))
    for counter in ("letters-for-test", "support.counting:letters"):
        env = TokenBudget(ToyEnv(), 1000, counter, count="all")
        opening, _ = env.reset(seed=0, options=TASK)
        assert env.used == sum(c.isalpha() for c in opening)
    with pytest.raises(ValueError, match="taken"):
        register_counter("letters-for-test", len)
    with pytest.raises(ValueError, match="unknown counter 'nope'"):
        TokenBudget(ToyEnv(), 1000, "nope")


def test_step_timeout_interrupts_a_busy_step():
    env = StepTimeout(SleepyEnv(), seconds=60)
    env.reset(seed=0, options=TASK)
    env.step(ADD % 1)
    env.seconds = 0.1
    started = time.monotonic()
    observation, reward, terminated, truncated, info = env.step(SUBMIT)
    assert time.monotonic() - started < 100  # instead of 200
    assert (reward, terminated, truncated, info["status"]) == (0.0, False, True, "truncated_time")
    assert observation in env.observation_space and info["turn"] == 2
    with pytest.raises(ResetNeeded):
        env.step(SUBMIT)
    assert env.reset(seed=0, options=TASK)[1]["status"] == "ongoing"


def test_step_timeout_as_a_fault():
    env = StepTimeout(SleepyEnv(), seconds=0.05, on_timeout="fault")
    env.reset(seed=0, options=TASK)
    with pytest.raises(DeadlineExceeded, match=r"0\.05 s") as caught:
        env.step(SUBMIT)
    assert caught.value.cause == "deadline"


def test_step_timeout_is_handed_to_environments_that_keep_deadlines():
    env = StepTimeout(DrillEnv(), seconds=0.1)
    env.reset(seed=0, options={"task": DRILL})
    *_, truncated, info = env.step(hang("awaiting"))
    assert truncated and info["status"] == "truncated_time"
    env.close()


def test_reward_terms_are_weighed_beside_the_score():
    env = RewardTerms(ToyEnv(), {"hit": 0.5, "absent": 9.0}, score=2.0)
    env.reset(seed=0, options=TASK)
    assert env.step(ADD % 9)[1] == 0.0
    env.step(ADD % (GOAL - 9))
    *_, info = result = env.step(SUBMIT)
    assert result[1] == 2.5 and info["reward_terms"] == {"hit": 1.0}


WRAPPERS = [
    (ChatHistory, {"form": "text"}),
    (EpisodeRecorder, {"keep": 3}),
    (TokenBudget, {"budget": 500, "counter": "words", "count": "all"}),
    (StepTimeout, {"seconds": 2.0, "on_timeout": "fault"}),
    (RewardTerms, {"weights": {"hit": 0.5}, "score": 1.0}),
]


@pytest.mark.parametrize(
    ("wrapper", "kwargs"), WRAPPERS, ids=lambda item: getattr(item, "__name__", "")
)
def test_specs_round_trip_through_json(wrapper, kwargs):
    gymnasium.register(
        "tests/Toy-v0", "support.toy:ToyEnv", order_enforce=False, disable_env_checker=True
    )
    try:
        env = wrapper(gymnasium.make("tests/Toy-v0"), **kwargs)
        again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))
        assert type(again) is wrapper
        assert again.spec.additional_wrappers[-1].kwargs == kwargs
        assert again.reset(seed=1)[0] == env.reset(seed=1)[0]
    finally:
        del gymnasium.registry["tests/Toy-v0"]


def test_wrapped_coroutine_environments_are_still_awaited_together():
    meeting = asyncio.Barrier(8)

    def make():
        return EpisodeRecorder(TokenBudget(MeetingEnv(meeting), budget=10_000))

    assert awaits(make()) and not awaits(gymnasium.wrappers.TimeLimit(DrillEnv(), 3))
    vector = VectorEnvironment([make] * 8)
    vector.reset(seed=0, options={"task": DRILL})
    _, rewards, *_ = vector.step([walk(1)] * 8)
    assert np.all(rewards == 0) and len(vector.envs[3].record["steps"]) == 1
    vector.close()


@pytest.mark.parametrize(
    "broken",
    [
        lambda env: ChatHistory(env, form="html"),
        lambda env: EpisodeRecorder(env, keep=0),
        lambda env: TokenBudget(env, 0),
        lambda env: StepTimeout(env, 0),
        lambda env: StepTimeout(env, 1, on_timeout="cry"),
    ],
)
def test_wrong_arguments_are_refused(broken):
    with pytest.raises(ValueError, match="must be|expected"):
        broken(ToyEnv())
