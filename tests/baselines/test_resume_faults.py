"""Faults while a rollout resumes, and resources counted across the pause."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from hexathlon.baselines.agents.base import Agent, AgentMismatch, Episode, PastTurn, Turn
from hexathlon.baselines.agents.function import FunctionAgent
from hexathlon.baselines.agents.llm import LlmAgent
from hexathlon.baselines.agents.scripted import ScriptedAgent, ScriptPlayer
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.engines.base import Sampling, Usage
from hexathlon.baselines.engines.http import HttpEngine
from hexathlon.baselines.engines.limiter import AdaptiveLimit
from hexathlon.baselines.engines.prices import PriceTable
from hexathlon.baselines.engines.sending import HttpSettings
from hexathlon.baselines.engines.served.routes import TokenRoute
from hexathlon.baselines.rollout.drivers import play_async
from hexathlon.baselines.rollout.executor import LocalExecutor, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Pause, Prefix, PrefixDiffers, resume_player
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.envs.errors import WorkerCrashed
from hexathlon.envs.messages import Message
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task
from support.chat_server import ChatServer
from support.events import FIRST, TOY
from support.resuming import copied, finished, paused, record_bytes, stretch, whole
from support.toy import ADD, ToyEnv

KEY = (TOY, FIRST, 0, 0)
ORACLE = ScriptedAgent("oracle")


def slot(make: Any = ToyEnv) -> EnvironmentSlot:
    return EnvironmentSlot(make)


class Crashing(ToyEnv):
    """An environment whose worker crashes after a number of steps."""

    at: tuple[int, ...] = ()
    taken = 0

    def step(self, action: Any) -> Any:
        Crashing.taken += 1
        if Crashing.taken in Crashing.at:
            raise WorkerCrashed("the worker ended")
        return super().step(action)


@pytest.mark.parametrize("form", ["snapshot", "actions"])
def test_a_fault_is_retried_from_the_prefix(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed = whole(ORACLE, slot(), KEY).record
    prefix = paused(ORACLE, slot(), KEY, 1)
    monkeypatch.setattr(Crashing, "taken", 0)
    monkeypatch.setattr(Crashing, "at", (1, 2))
    start = prefix if form == "snapshot" else prefix.portable()
    record = finished(ORACLE, slot(Crashing), KEY, start).record
    fault = {"cause": "env", "message": "worker_crashed: the worker ended"}
    assert record["earlier"] == [{"attempt": 1, **fault}, {"attempt": 2, **fault}]
    assert (record["attempt"], record["status"]) == (3, "scored")
    assert record["steps"] == undisturbed["steps"]
    repeated = 0 if form == "snapshot" else 1
    assert Crashing.taken == 2 + repeated + len(undisturbed["steps"]) - 1


def test_earlier_attempts_are_carried_across_the_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Crashing, "taken", 0)
    monkeypatch.setattr(Crashing, "at", (1, 3))
    prefix = paused(ORACLE, slot(Crashing), KEY, 1)
    assert [one["attempt"] for one in prefix.earlier] == [1]
    record = finished(ORACLE, slot(Crashing), KEY, prefix).record
    assert [one["attempt"] for one in record["earlier"]] == [1, 2]
    assert record["attempt"] == 3 and record["reward"] == 1.0


class Luckier(ToyEnv):
    """A changed environment with different observations."""

    def tool_add(self, amount: int) -> str:
        return super().tool_add(amount).replace("Luck", "Fortune")


class Reworded(ToyEnv):
    """A changed environment with a different opening."""

    def on_reset(self, task: Task) -> str:
        return super().on_reset(task).replace("lucky", "happy")


@pytest.mark.parametrize(
    ("make", "said"), [(Luckier, "turn 0: observation was"), (Reworded, "the opening was")]
)
def test_changed_environment_is_rejected(make: type[ToyEnv], said: str) -> None:
    prefix = paused(ORACLE, slot(), KEY, 1).portable()
    with pytest.raises(PrefixDiffers, match=said):
        finished(ORACLE, slot(make), KEY, prefix)


class Costly:
    """Adds one in each turn and reports usage."""

    name, version, asynchronous = "costly", "1", False

    def begin(self, episode: Episode) -> "Costly":
        return self

    def act(self, messages: Sequence[Message]) -> Turn:
        return Turn(ADD % 1, Usage(input=100, output=10, calls=1, cost=0.5), waited=2.0)


def test_usage_is_kept_across_the_pause() -> None:
    limits = TrialLimits(output_tokens=45)
    undisturbed = stretch(Costly(), slot(), KEY, limits=limits)
    prefix = stretch(Costly(), slot(), KEY, after=3, limits=limits)
    assert isinstance(prefix, Prefix) and prefix.spent.usage.output == 30
    for start in (prefix, copied(prefix), prefix.portable()):
        again = stretch(Costly(), slot(), KEY, start, limits=limits)
        assert isinstance(again, Trajectory) and isinstance(undisturbed, Trajectory)
        assert record_bytes(again) == record_bytes(undisturbed)
        assert again.record["flags"] == ["limit:output_tokens"] and again.record["turns"] == 5
        assert again.record["timing"]["waited"] == 10.0
        assert len(again.record["timing"]["latencies"]) == 5


@pytest.mark.parametrize("form", ["snapshot", "actions"])
def test_wall_clock_is_kept_across_the_pause(form: str) -> None:
    prefix = paused(ORACLE, slot(), KEY, 1)
    late = prefix.spent._replace(seconds=100.0)
    start = Prefix(
        prefix.key, prefix.opening, prefix.steps, prefix.system_prompt, prefix.tools,
        prefix.state if form == "snapshot" else None, None, late,
    )  # fmt: skip
    again = stretch(ORACLE, slot(), KEY, start, limits=TrialLimits(wall_seconds=60.0))
    assert isinstance(again, Trajectory)
    # Replayed turns do not count towards the budget; the next turn exceeds it.
    assert again.record["flags"] == ["limit:wall_seconds"] and again.record["turns"] == 2


def silent() -> Script:
    """A script without turns."""
    yield from ()


def test_tool_errors_of_replayed_turns_are_counted() -> None:
    class Silent:
        name, version, asynchronous = "silent", "1", False

        def begin(self, episode: Episode) -> Any:
            return ScriptPlayer(silent())

    first = stretch(FunctionAgent(lambda messages: {"content": "hm"}), slot(), KEY)
    assert isinstance(first, Trajectory)
    again = stretch(Silent(), slot(), KEY, Prefix.of(first, 2))
    assert isinstance(again, Trajectory)
    assert (again.record["turns"], again.record["tool_errors"]) == (2, 2)
    assert again.errors == (1, 1)
    assert again.record["flags"] == ["gave_up"]


def test_function_agent_receives_recorded_actions() -> None:
    heard: list[list[str]] = []

    def sayer(messages: list[Message]) -> dict[str, Any]:
        heard.append([str(message["content"]) for message in messages])
        return {"content": f"turn {len(heard)}"}

    prefix = paused(ORACLE, slot(), KEY, 2)
    stretch(FunctionAgent(sayer), slot(), KEY, prefix.without_memory(), after=3)
    assert len(heard) == 1
    assert [text for text in heard[0] if text.startswith("{")] == [
        step["action"] for step in prefix.steps
    ]


def test_asynchronous_player_without_memory_is_rejected() -> None:
    class Forgetful:
        async def act(self, messages: Sequence[Message]) -> Turn:
            return Turn("")

    with pytest.raises(AgentMismatch, match="Forgetful cannot continue from recorded turns"):
        resume_player(Forgetful(), [PastTurn((), "")], None)


def test_environment_without_fork_resumes_by_replay() -> None:
    class Rigid(ToyEnv):
        supports_fork, fork_obstacle = False, "it is rigid"

    undisturbed = whole(ORACLE, slot(Rigid), KEY)
    for after in range(1, len(undisturbed.record["steps"])):
        prefix = paused(ORACLE, slot(Rigid), KEY, after)
        assert prefix.state is None
        again = finished(ORACLE, slot(Rigid), KEY, prefix)
        assert record_bytes(again) == record_bytes(undisturbed)


def test_past_pause_takes_effect_immediately() -> None:
    prefix = paused(ORACLE, slot(), KEY, 2)
    again = stretch(ORACLE, slot(), KEY, prefix, after=1)
    assert isinstance(again, Prefix) and again.steps == prefix.steps


def chatting(server: ChatServer) -> LlmAgent:
    settings = HttpSettings(server.url, "solver")
    engine = HttpEngine(settings, AdaptiveLimit(), PriceTable("", "", {}))
    return LlmAgent(engine, get_codec("openai"), Sampling(seed=4))


@pytest.mark.parametrize("form", ["snapshot", "actions", "pickled", "without_memory"])
def test_served_model_resumes(form: str, chat_server: ChatServer) -> None:
    def all_of(bodies: list[dict[str, Any]]) -> list[str]:
        return [json.dumps(body, sort_keys=True) for body in bodies]

    forms = {
        "snapshot": lambda prefix: prefix, "actions": Prefix.portable,
        "pickled": copied, "without_memory": Prefix.without_memory,
    }  # fmt: skip

    async def stretches(after: int | None) -> tuple[Trajectory, list[str]]:
        agent, started = chatting(chat_server), len(chat_server.requests)
        try:
            rollout, start = Rollout(agent), None
            if after is not None:
                course = rollout.advance(slot(), KEY, pause=Pause(after))
                reached = await play_async(course)
                assert isinstance(reached, Prefix)
                start = forms[form](reached)
            outcome = await play_async(rollout.advance(slot(), KEY, start=start))
        finally:
            await agent.engine.close()
        assert isinstance(outcome, Trajectory)
        return outcome, all_of(chat_server.requests[started:])

    undisturbed, asked = asyncio.run(stretches(None))
    assert len(undisturbed.record["steps"]) > 2
    for after in (0, 1, 2):
        again, asked_again = asyncio.run(stretches(after))
        assert record_bytes(again) == record_bytes(undisturbed)
        if form != "without_memory":  # identifiers of calls are the server's own
            assert asked_again == asked


def test_aborted_executor_returns_unstarted_requests() -> None:
    executor = LocalExecutor(ORACLE, lambda name: ToyEnv(), 1)
    keys = [(TOY, FIRST, seed, 0) for seed in range(3)]

    class Aborting:
        name, version, asynchronous = "aborting", "1", True

        def begin(self, episode: Episode) -> Any:
            player = ORACLE.begin(episode)

            class Player:
                async def act(self, messages: Sequence[Message]) -> Turn:
                    if messages and episode.seed == 1:
                        await executor.abort()
                    return player.act(messages)

            return Player()

    agent: Agent = Aborting()
    executor.agent = agent
    outcomes = asyncio.run(executor.run([Request(key) for key in keys]))
    first, second, third = outcomes
    assert isinstance(first, Trajectory)
    assert isinstance(second, Prefix) and second.turns == 1
    assert third == Prefix(keys[2])
    executor.agent = ORACLE
    rest = asyncio.run(
        executor.run([Request(keys[1], start=second), Request(keys[2], start=third)])
    )
    for key, one in zip(keys[1:], rest, strict=True):
        assert isinstance(one, Trajectory)
        assert record_bytes(one) == record_bytes(whole(ORACLE, slot(), key))
    executor.close()


def test_continued_served_reply_has_its_own_seed() -> None:
    def seed(skip: int) -> int:
        sampling = TokenSampling(seed=2**63 + 5, skip=skip)
        body = TokenRoute().body(TokenRequest([1], sampling), "a", "b", prompt=False)
        return int(json.loads(body)["sampling_params"]["seed"])

    assert seed(0) == 5
    assert len({seed(0), seed(1), seed(2)}) == 3 and seed(2) == seed(2)
