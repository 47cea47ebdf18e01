"""The short cut for turns of texts gives what the general way does, byte for byte."""

import pickle

import pytest
from gymnasium.error import ResetNeeded
from hypothesis import given, settings
from hypothesis import strategies as st

from hexathlon.envs.tools import ToolTable
from hexathlon.tasks.taskset import TaskSet
from support.toy import ADD, SUBMIT, TOOLS, ToyEnv

TASK = "toy/count/easy/test/00003"
WORDS = ("hello", " hello", "é", "\ud800", "", "\n{", "[", "[]", "x" * 65_537, "\u3000[]", "end")
ACTIONS = (*WORDS, ADD % 5, f"  {ADD % 7}", ADD % 99, f"[{ADD % 1},{ADD % 2}]", SUBMIT, 7)


class TalkingEnv(ToyEnv):
    """Answers prose in several ways."""

    def on_text(self, text: str) -> str:
        if text == "end":
            self.finish()
        if text == "hello":
            return f"{len(self.transcript)} messages, the last is {self.transcript[-1]!r}"
        return "é" if text == "" else "a" * 400 if text == "é" else super().on_text(text)


class SlowTalkingEnv(TalkingEnv):
    """The same, with a method overridden, so that every turn goes the general way."""

    def _settle(self, answers, frame):
        return super()._settle(answers, frame)


def outcome(env, method, action):
    """Return the result of a turn, or the error."""
    try:
        return getattr(env, method)(action)
    except (TypeError, ResetNeeded) as error:
        return type(error), str(error)


def test_only_the_subclass_takes_its_own_turns():
    assert ToyEnv()._short_turns
    assert not SlowTalkingEnv()._short_turns
    assert not ToyEnv(action_format="message")._short_turns


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(ACTIONS), st.sampled_from(["step", "advance", "read"]))),
    st.integers(1, 6),
)
def test_short_and_general_turns_agree(turns, limit):
    short, general = (
        each(limits={"turns": limit, "observation_chars": 200})
        for each in (TalkingEnv, SlowTalkingEnv)
    )
    assert short.reset(seed=1, options={"task": TASK}) == general.reset(
        seed=1, options={"task": TASK}
    )
    for action, how in turns:
        method = "step" if how == "read" else how
        results = [outcome(env, method, action) for env in (short, general)]
        assert results[0] == results[1]
        if how == "read":
            assert short.transcript == general.transcript
    assert short.message_count == general.message_count
    assert short.messages_since(1) == general.messages_since(1)
    states = [env.snapshot() for env in (short, general)]
    assert states[0] == states[1]
    assert pickle.loads(pickle.dumps(states[0])) == states[1]
    assert short.verdict() == general.verdict()
    assert short.fork(1)[0].transcript == general.transcript


def test_a_turn_that_raises_leaves_its_text_in_the_transcript():
    class Broken(ToyEnv):
        def on_text(self, text):
            raise RuntimeError("broken")

    env = Broken()
    env.reset(seed=0, options={"task": TASK})
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            env.step("hello")
    assert [message["role"] for message in env.transcript] == ["user", "assistant", "assistant"]
    assert env.transcript[2]["content"] == "hello"


def test_a_message_is_the_same_object_whenever_it_is_read():
    env = TalkingEnv()
    env.reset(seed=0, options={"task": TASK})
    env.step("go")
    assert env.transcript[0] is env.transcript[0]
    assert env.transcript[2] is env.transcript[2]


def test_an_opening_that_is_no_ascii_text_is_scrubbed():
    class Greeting(ToyEnv):
        def on_reset(self, task):
            super().on_reset(task)
            return "\ud800 good day"

    observation, _ = Greeting().reset(seed=0, options={"task": TASK})
    assert observation == "\ufffd good day"


def test_environments_of_one_kind_share_the_table_of_tools():
    first, second = ToyEnv(), ToyEnv()
    first.reset(seed=0, options={"task": TASK})
    second.reset(seed=1)
    assert first._table is second._table
    assert first._table.schemas == ToolTable(TOOLS).schemas


def test_an_index_and_an_id_give_the_same_task_however_often():
    env, tasks = ToyEnv(split="test"), TaskSet("toy", "test")
    for index in (3, 3, 17, 3):
        env.reset(seed=0, options={"index": index})
        assert env.task == tasks[index]
        by_id = env.task
        env.reset(seed=0, options={"task": tasks.task_id(index)})
        assert env.task == by_id
    with pytest.raises(IndexError):
        env.reset(seed=0, options={"index": 40})
    with pytest.raises(ValueError, match="whole number"):
        env.reset(seed=0, options={"index": True})
    with pytest.raises(ValueError, match="whole number"):
        env.reset(seed=0, options={"index": -1})


def test_limits_of_another_task_or_state_apply():
    env = ToyEnv(limits={"turns": 1})
    env.reset(seed=0, options={"task": TASK})
    state = env.snapshot()
    assert env.step("hello")[3]
    other = ToyEnv()
    other.reset(seed=0, options={"task": TASK})
    other.restore(state)
    assert other.step("hello")[3]
