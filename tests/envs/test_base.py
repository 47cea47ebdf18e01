"""The base environment, tested on the toy world."""

import json
import pickle

import gymnasium
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from hexathlon.envs.errors import UnknownOption, WrongState
from hexathlon.envs.messages import Message
from hexathlon.tasks.source import play
from support.toy import ADD, SUBMIT, ToyEnv, ToySource

TASK = "toy/count/easy/test/00003"


@pytest.fixture
def env() -> ToyEnv:
    return ToyEnv()


def solve(env: ToyEnv, seed: int = 0) -> tuple[list, float]:
    observation, info = env.reset(seed=seed, options={"task": TASK})
    seen, reward = [observation, info], 0.0

    def respond(action: str) -> str | None:
        nonlocal reward
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append((observation, reward, terminated, truncated, info))
        return None if terminated or truncated else observation

    play(ToySource().oracle(env.task), respond)
    return seen, reward


@pytest.mark.parametrize("action_format", ["text", "message"])
def test_passes_gymnasiums_checker_without_warnings(action_format):
    check_env(ToyEnv(action_format=action_format), skip_render_check=True)


def test_oracle_scores_one_and_seed_fixes_every_byte():
    first, reward = solve(ToyEnv())
    assert reward == 1.0
    assert solve(ToyEnv())[0] == first
    assert solve(ToyEnv(), seed=1)[0] != first


def test_seed_without_options_picks_the_task(env):
    chosen = [env.reset(seed=seed)[1]["task_id"] for seed in range(12)]
    assert chosen == [ToyEnv().reset(seed=seed)[1]["task_id"] for seed in range(12)]
    assert len(set(chosen)) > 6


def test_task_chosen_by_seed_or_by_name_sees_the_same_bytes(env):
    observation, info = env.reset(seed=5)
    again, same = ToyEnv().reset(seed=5, options={"task": env.task.id})
    assert (observation, info) == (again, same)


def test_unseeded_resets_follow_the_first_seed(env):
    def ids(env):
        env.reset(seed=9)
        return [env.reset()[1]["seed"] for _ in range(3)]

    assert ids(env) == ids(ToyEnv())
    assert len(set(ids(env))) == 3


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"tsk": TASK}, UnknownOption),
        ({"task": TASK, "split": "dev"}, ValueError),
        ({"split": "test", "index": 40}, IndexError),
    ],
)
def test_wrong_options_are_refused(env, options, error):
    with pytest.raises(error):
        env.reset(seed=0, options=options)


def test_unknown_option_suggests_the_similar_one(env):
    with pytest.raises(UnknownOption, match="did you mean 'split'"):
        env.reset(options={"splitt": "dev"})


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("hello", "no tool call"),
        ("", "no tool call"),
        ("{", "not valid JSON"),
        ("[]", "list of calls is empty"),
        ("[[]]", 'needs a "name"'),
        ('{"name": "ad", "arguments": {}}', "Did you mean 'add'"),
        ('{"name": "add"}', "needs the argument 'amount'"),
        ('{"name": "add", "arguments": {"amount": "3"}}', "must be of type integer"),
        ('{"name": "add", "arguments": {"amount": true}}', "must be of type integer"),
        ('{"name": "add", "arguments": {"amount": 10}}', "must lie in -9…9"),
        ('{"name": "add", "arguments": {"amount": 1, "x": 1}}', "has no argument 'x'"),
        ('{"name": "add", "arguments": [1]}', "must be an object"),
        ('{"name": "add", "arguments": "{"}', "not valid JSON"),
        ('{"name": "add", "args": {"amount": 1}}', "has no key 'args'"),
        ('{"name": "add", "arguments": {"amount": 1,}}', "the turn is not valid JSON. Call a tool"),
        ('{"name": "add"} and on', "something follows its end"),
        ("[" * 5_000, "not valid JSON"),
        ("[" * 70 + "]" * 70, "not valid JSON"),
        ("[" * 60 + "]" * 60, 'needs a "name"'),
        ('[{"name": "ad", "arguments": {"x": "' + "[{" * 70 + '\\""}}]', "Did you mean 'add'"),
        ("x" * 70_000, "at most 65,536"),
        ("\ud800", "no tool call"),
    ],
)
def test_malformed_actions_are_answered_not_raised(env, action, expected):
    env.reset(seed=0, options={"task": TASK})
    observation, reward, terminated, truncated, info = env.step(action)
    assert observation.startswith("Error: ")
    assert expected in observation
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["tool_errors"] == 1
    observation.encode()


def test_several_calls_in_one_turn_run_in_order(env):
    env.reset(seed=0, options={"task": TASK})
    both = "[" + ADD % 2 + "," + ADD % 3 + "]"
    observation, *_ = env.step(both)
    assert observation.index("stands at 2") < observation.index("stands at 5")


def test_every_call_of_a_turn_counts_towards_the_budget():
    env = ToyEnv(limits={"turns": 5})
    env.reset(seed=0, options={"task": TASK})
    *_, truncated, _ = env.step(f"[{','.join([ADD % 1] * 3)}]")
    assert not truncated
    twin = env.fork()[0]
    for each in (env, twin):
        observation, _, _, truncated, info = each.step(f"[{','.join([ADD % 1] * 3)}]")
        assert truncated and observation.count("was not run") == 1
        assert (info["turn"], info["status"]) == (2, "truncated_turns")
        assert each.final_state()["counter"] == 5
    env.reset(seed=0, options={"task": TASK})
    for turn in range(5):
        *_, truncated, _ = env.step(ADD % 1)
        assert truncated is (turn == 4)


def test_calls_after_the_end_are_not_run(env):
    env.reset(seed=0, options={"task": TASK})
    observation, _, terminated, _, _ = env.step(f"[{SUBMIT},{ADD % 1}]")
    assert terminated
    assert "was not run" in observation
    assert env.final_state()["counter"] == 0


def test_tool_error_is_an_observation(env):
    env.reset(seed=0, options={"task": TASK})
    for _ in range(11):
        observation, *_ = env.step(ADD % 9)
    assert observation == "The counter stands at 99. Luck: " + observation[32:]
    observation, _, _, truncated, info = env.step(ADD % 1)
    assert observation == "Error: the counter ends at 99"
    assert truncated
    assert info["status"] == "truncated_turns"


def test_stepping_before_reset_and_after_the_end_is_an_error(env):
    with pytest.raises(ResetNeeded):
        env.step(SUBMIT)
    env.reset(seed=0)
    env.step(SUBMIT)
    with pytest.raises(ResetNeeded, match="completed"):
        env.step(SUBMIT)


def test_a_fork_continues_identically_and_does_not_affect_the_parent(env):
    env.reset(seed=3, options={"task": TASK})
    env.step(ADD % 4)
    before = pickle.dumps(env.snapshot())
    left, right = env.fork(2)
    assert [left.step(ADD % 5), left.step("x")] == [right.step(ADD % 5), right.step("x")]
    assert pickle.dumps(env.snapshot()) == before
    assert env.step(ADD % 5)[0] == left.transcript[4]["content"]


def test_state_survives_pickle_and_refuses_another_family(env):
    env.reset(seed=3, options={"task": TASK})
    env.step(ADD % 4)
    state = pickle.loads(pickle.dumps(env.snapshot()))
    other = ToyEnv()
    other.restore(state)
    assert other.step(ADD % 2) == env.step(ADD % 2)

    class Other(ToyEnv):
        family = "other"

    with pytest.raises(WrongState, match="expected a state of 'other'"):
        Other().restore(state)


def test_message_format_links_answers_to_calls():
    env = ToyEnv(action_format="message")
    opening, _ = env.reset(seed=0, options={"task": TASK})
    assert opening in env.observation_space
    call = {"id": "abc", "name": "add", "arguments": json.dumps({"amount": 2})}
    action = Message(role="assistant", content="", tool_calls=(call,), tool_call_id="")
    observation, *_ = env.step(action)
    assert observation in env.observation_space
    assert [(m["role"], m["tool_call_id"]) for m in observation] == [("tool", "abc")]
    observation, *_ = env.step({"role": "user"})
    assert "must be a message whose role" in observation[0]["content"]


def test_long_observations_are_cut_in_the_middle_with_a_count():
    class Loud(ToyEnv):
        def on_text(self, text: str) -> str:
            return "a" * 5_000 + "b" * 5_000

    env = Loud(limits={"observation_chars": 1_000})
    env.reset(seed=0)
    observation, *_, info = env.step("hello")
    assert len(observation) <= 1_000
    assert observation.startswith("aaa") and observation.endswith("bbb")
    assert f"{info['cut_chars']:,} characters cut" in observation
    assert info["cut_chars"] + observation.count("a") + observation.count("b") - 2 == 10_000


def test_limits_can_be_replaced():
    env = ToyEnv(limits={"turns": 2})
    env.reset(seed=0)
    assert not env.step("x")[3]
    assert env.step("x")[3]


def test_render_gives_the_transcript():
    env = ToyEnv(render_mode="ansi")
    env.reset(seed=0, options={"task": TASK})
    env.step(ADD % 2)
    assert "[user]\nBring the counter" in env.render()
    assert 'add {"amount": 2}' in env.render()


def test_made_by_gymnasium_without_wrappers():
    gymnasium.register(
        "test/Toy-v0", entry_point=ToyEnv, disable_env_checker=True, order_enforce=False
    )
    try:
        env = gymnasium.make("test/Toy-v0", split="dev")
        assert type(env) is ToyEnv
        env.reset(seed=0)
        assert env.task.split == "dev"
    finally:
        del gymnasium.registry["test/Toy-v0"]


def test_tools_come_in_the_form_of_a_provider():
    plain, openai, anthropic = (
        ToyEnv(tool_format=form).reset(seed=1)[1]["tools"]
        for form in ("plain", "openai", "anthropic")
    )
    assert openai == tuple({"type": "function", "function": tool} for tool in plain)
    assert [tool["input_schema"] for tool in anthropic] == [tool["parameters"] for tool in plain]
    assert plain[0].keys() == {"name", "description", "parameters"}
    with pytest.raises(ValueError, match="tool_format must be one of"):
        ToyEnv(tool_format="gemini")
