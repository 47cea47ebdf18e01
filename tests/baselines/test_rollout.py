"""Rollouts: records, budgets, faults and retries, synchronously and on an event loop."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import pytest

from hexathlon.baselines.agents.base import Agent, Episode, GaveUp, Turn
from hexathlon.baselines.agents.function import FunctionAgent
from hexathlon.baselines.agents.scripted import ScriptedAgent
from hexathlon.baselines.agents.trivial import NoopAgent, RandomAgent
from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.engines.errors import AuthRejected, ContextOverflow, Refused, ServerError
from hexathlon.baselines.rollout.drivers import play, play_async
from hexathlon.baselines.rollout.faults import POLICIES
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, FatalError, Rollout
from hexathlon.envs.errors import BackendMissing, EnvFault, VerifierFault, WorkerCrashed
from hexathlon.envs.messages import Message
from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.evaluators.records.trial import record_fault
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.task import Task
from support.events import FIRST, TOY
from support.toy import ADD, SUBMIT, ToyEnv

KEY = (TOY, FIRST, 0, 0)


def slot(make: Callable[[], ToyEnv] = ToyEnv) -> EnvironmentSlot:
    return EnvironmentSlot(make, "1")


def trial(agent: Agent, make: Callable[[], ToyEnv] = ToyEnv, **settings: Any) -> dict[str, Any]:
    """Play one trial and check the invariants of every record."""
    record = dict(play(Rollout(agent, **settings).trial(slot(make), KEY)).record)
    assert record_fault(record) is None
    assert record["turns"] == len(record["steps"])
    assert record["final_state_hash"] == content_hash(record["final_state"])
    return record


class Saying:
    """An agent that returns, or raises, the next item of a list in each turn."""

    name, version, asynchronous = "saying", "1", False

    def __init__(self, *turns: Turn | Exception) -> None:
        self.turns = turns

    def begin(self, episode: Episode) -> Any:
        turns = iter(self.turns)

        class Player:
            def act(self, messages: Sequence[Message]) -> Turn:
                turn = next(turns, None)
                if turn is None:
                    raise GaveUp
                if isinstance(turn, Exception):
                    raise turn
                return turn

        return Player()


def test_the_oracle_scores_one() -> None:
    record = trial(ScriptedAgent("oracle"))
    assert (record["status"], record["stop"], record["reward"]) == ("scored", "completed", 1.0)
    assert record["key"] == {"env": TOY, "task": FIRST, "seed": 0, "trial": 0}
    assert (record["template"], record["level"], record["split"]) == ("count", "tiny", "test")
    assert record["checks"] == [{"name": "toy_count", "version": "1", "deterministic": True}]
    assert record["steps"][-1]["status"] == "completed" and record["steps"][-1]["reward"] == 1.0
    assert record["usage"] == {} and record["flags"] == [] and record["earlier"] == []
    env: Any = gymnasium.make(TOY)
    assert record["opening"] == env.reset(seed=0, options={"task": FIRST})[0]


def test_noop_exhausts_turns_and_scores_zero() -> None:
    record = trial(NoopAgent())
    assert (record["turns"], record["stop"], record["reward"]) == (12, "truncated_turns", 0.0)
    assert record["tool_errors"] == 12


def test_failed_calls_are_counted_by_turn() -> None:
    said = Saying(*map(Turn, (ADD % 9, "prose", f"[{ADD % 99}, {ADD % 98}]", ADD % 1)))
    played = play(Rollout(said).trial(slot(), KEY))
    assert played.errors == (0, 1, 2, 0)
    assert played.record["tool_errors"] == 3


def test_random_calls_are_well_formed_and_reproducible() -> None:
    record = trial(RandomAgent())
    assert record["turns"] > 0
    assert not any("needs the argument" in step["observation"] for step in record["steps"])
    again = trial(RandomAgent())
    assert again["steps"] == record["steps"]


def test_giving_up_is_graded() -> None:
    record = trial(Saying(Turn(ADD % 9)))
    assert (record["stop"], record["status"], record["reward"]) == ("aborted", "scored", 0.0)
    assert record["flags"] == ["gave_up"]
    assert record["final_state"] == {"counter": 9, "submitted": False}


USED = Turn(ADD % 1, Usage(input=100, output=10, calls=1, cost=0.5))
BUDGETS = [
    ({"output_tokens": 25}, 3, "output_tokens", "truncated_length"),
    ({"total_tokens": 220}, 2, "total_tokens", "truncated_length"),
    ({"cost": 1.0}, 2, "cost", "truncated_length"),
    ({"wall_seconds": 1e-9}, 1, "wall_seconds", "truncated_time"),
    ({"working_seconds": 1e-9}, 1, "working_seconds", "truncated_time"),
]


@pytest.mark.parametrize(("limits", "turns", "name", "stop"), BUDGETS)
def test_exhausted_budget_ends_the_trial_and_is_graded(
    limits: dict[str, Any], turns: int, name: str, stop: str
) -> None:
    record = trial(Saying(*[USED] * 9), limits=TrialLimits(**limits))
    assert (record["turns"], record["stop"], record["status"]) == (turns, stop, "scored")
    assert record["flags"] == [f"limit:{name}"]
    assert record["final_state"]["counter"] == turns
    assert record["usage"]["agent"]["output"] == 10 * turns
    assert all(step["tokens"] == {"input": 100, "output": 10} for step in record["steps"])


def test_queueing_is_not_working_time() -> None:
    waited = Turn(ADD % 1, waited=1000.0)
    record = trial(Saying(waited, waited), limits=TrialLimits(working_seconds=50.0))
    assert record["flags"] == ["gave_up"]


@pytest.mark.parametrize(
    ("error", "flag", "stop"),
    [
        (Refused("no"), "refused", "aborted"),
        (ContextOverflow("too long"), "context_overflow", "truncated_length"),
    ],
)
def test_agent_failures_are_graded_and_not_retried(error: Exception, flag: str, stop: str) -> None:
    record = trial(Saying(Turn(ADD % 5), error))
    assert (record["status"], record["stop"], record["attempt"]) == ("scored", stop, 1)
    assert record["flags"] == [flag] and record["cause"] is None


def test_fault_policies_are_consistent() -> None:
    for cause, policy in POLICIES.items():
        assert policy.grade == policy.counts == (policy.blame == "agent"), cause
        assert not (policy.retry and policy.counts), cause


class Flaky(ToyEnv):
    """Fails a number of times before it works."""

    left = 0
    error: Exception = WorkerCrashed("the worker ended")

    def on_reset(self, task: Task) -> str:
        opening = super().on_reset(task)
        if Flaky.left > 0:
            Flaky.left -= 1
            raise Flaky.error
        return opening


@pytest.fixture
def flaky(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def fail(times: int, error: Exception) -> None:
        monkeypatch.setattr(Flaky, "left", times)
        monkeypatch.setattr(Flaky, "error", error)

    return fail


def test_a_fault_of_the_environment_is_retried_and_recorded(flaky: Callable[..., None]) -> None:
    flaky(2, WorkerCrashed("the worker ended"))
    record = trial(ScriptedAgent("oracle"), Flaky)
    assert (record["status"], record["reward"], record["attempt"]) == ("scored", 1.0, 3)
    fault = {"cause": "env", "message": "worker_crashed: the worker ended"}
    assert record["earlier"] == [{"attempt": 1, **fault}, {"attempt": 2, **fault}]


@pytest.mark.parametrize(
    ("error", "cause", "attempts"),
    [
        (EnvFault("gone"), "env", 3),
        (EnvFault("no sandbox", cause="sandbox_failed"), "sandbox", 3),
        (ServerError("HTTP 500"), "provider", 3),
        (ValueError("a defect"), "unclassified", 3),
    ],
)
def test_infrastructure_never_becomes_a_reward_of_zero(
    flaky: Callable[..., None], error: Exception, cause: str, attempts: int
) -> None:
    flaky(99, error)
    record = trial(ScriptedAgent("oracle"), Flaky)
    assert (record["status"], record["reward"], record["cause"]) == ("infra", None, cause)
    assert (record["stop"], record["attempt"]) == ("error_env", attempts)
    assert len(record["earlier"]) == attempts - 1
    assert str(error) in record["error"]
    assert record["env_version"] == "1"


def test_unclassified_error_is_recorded_with_its_location(flaky: Callable[..., None]) -> None:
    flaky(9, ValueError("a defect"))
    record = trial(ScriptedAgent("oracle"), Flaky, retries=0)
    assert record["error"].startswith(f"ValueError: a defect ({__name__}, line ")


def test_environment_is_recreated_after_a_fault(flaky: Callable[..., None]) -> None:
    made: list[ToyEnv] = []

    def make() -> ToyEnv:
        made.append(Flaky())
        return made[-1]

    flaky(1, WorkerCrashed("the worker ended"))
    trial(ScriptedAgent("oracle"), make)
    assert len(made) == 2


def test_without_retries_the_first_fault_is_recorded(flaky: Callable[..., None]) -> None:
    flaky(1, EnvFault("gone"))
    record = trial(ScriptedAgent("oracle"), Flaky, retries=0)
    assert (record["status"], record["attempt"]) == ("infra", 1)


@pytest.mark.parametrize("error", [AuthRejected("HTTP 401"), BackendMissing("no docker")])
def test_fatal_errors_stop_the_run(flaky: Callable[..., None], error: Exception) -> None:
    flaky(1, error)
    with pytest.raises(FatalError, match=str(error)):
        trial(ScriptedAgent("oracle"), Flaky)


class Unjudged(ToyEnv):
    """An environment whose verifier always fails."""

    def verdict(self) -> Verdict:
        raise VerifierFault("the verifier failed")


def test_verifier_failure_leaves_a_complete_unscored_trial() -> None:
    record = trial(ScriptedAgent("oracle"), Unjudged)
    assert (record["status"], record["cause"], record["reward"]) == ("unscored", "verifier", None)
    assert (record["stop"], record["attempt"]) == ("error_judge", 1)
    assert record["final_state"]["submitted"] is True
    assert record["steps"][-1]["action"] == SUBMIT
    assert record["steps"][-1]["observation"] == "Submitted."


def test_a_function_can_be_an_agent() -> None:
    heard: list[list[Message]] = []

    def adder(messages: list[Message]) -> dict[str, Any]:
        heard.append(messages)
        calls = [{"name": "add", "arguments": {"amount": 4}}]
        done = {"role": "assistant", "content": "", "tool_calls": [{"name": "submit"}]}
        again = {"role": "assistant", "content": "Four more.", "tool_calls": calls}
        return again if len(heard) < 3 else done

    record = trial(FunctionAgent(adder))
    assert record["final_state"] == {"counter": 8, "submitted": True}
    assert record["steps"][0]["said"] == "Four more."
    assert [m["role"] for m in heard[-1]] == [
        "system", "user", "assistant", "tool", "assistant", "tool",
    ]  # fmt: skip


class Waiting:
    """Plays the oracle's script, but waits before each turn."""

    name, version, asynchronous = "waiting", "1", True

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def begin(self, episode: Episode) -> Any:
        player, seconds = ScriptedAgent("oracle").begin(episode), self.seconds

        class Player:
            async def act(self, messages: Sequence[Message]) -> Turn:
                await asyncio.sleep(seconds)
                return player.act(messages)

        return Player()


def test_sync_and_async_drivers_give_the_same_record() -> None:
    ordinary = trial(ScriptedAgent("oracle"))
    looped = asyncio.run(play_async(Rollout(Waiting()).trial(slot(), KEY))).record
    assert {**looped, "timing": None} == {**ordinary, "timing": None}


def test_asynchronous_player_is_limited_by_wall_clock() -> None:
    rollout = Rollout(Waiting(60.0), TrialLimits(wall_seconds=0.05))
    record = asyncio.run(play_async(rollout.trial(slot(), KEY))).record
    assert (record["stop"], record["status"]) == ("truncated_time", "scored")
    assert record["flags"] == ["limit:wall_seconds"]


def test_faults_are_retried_on_an_event_loop_too(flaky: Callable[..., None]) -> None:
    flaky(1, EnvFault("gone"))
    record = asyncio.run(play_async(Rollout(Waiting()).trial(slot(Flaky), KEY))).record
    assert (record["status"], record["attempt"]) == ("scored", 2)
