"""Paused, aborted or forked rollouts of a policy keep their tokens and sample the same ones."""

import asyncio
import json
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.loading import load_tokenizer
from hexathlon.baselines.pipeline.collect import Collector, GroupPlan
from hexathlon.baselines.pipeline.structures import ForkPoint
from hexathlon.baselines.rollout.executor import LocalExecutor, Outcome, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Prefix
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling
from hexathlon.baselines.tokens.trajectory import Trajectory
from support.resuming import EVENTS, FORMS, finished, key_of, paused, record_bytes, slot_of, whole
from support.served import learner, sharp_policy
from support.training import update_hashes, weight_hashes

TESTS = Path(__file__).resolve().parents[1]
LIMITS = {"turns": 4}
TURNS = 4


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sharp_policy(tmp_path_factory.mktemp("policy"))


class CountingEngine(LocalEngine):
    """Aborts all requests once after a number of tokens, through the executor if there is one."""

    abort_at: int | None = None
    executor: LocalExecutor | None = None

    def watch(self, tokens: int, executor: LocalExecutor | None) -> None:
        self.abort_at, self.executor = self.counts["drawn"] + tokens, executor

    async def generate(self, request: TokenRequest) -> TokenReply:
        asking = asyncio.ensure_future(super().generate(request))
        while not asking.done():
            await asyncio.sleep(0)
            if self.abort_at is not None and self.counts["drawn"] >= self.abort_at:
                self.abort_at = None
                await (self.abort() if self.executor is None else self.executor.abort())
        return await asking


def agent_of(checkpoint: Path, tokens: int = 12) -> PolicyAgent:
    engine = CountingEngine(learner(checkpoint))
    renderer = ChatRenderer(load_tokenizer(checkpoint))
    sampling = TokenSampling(max_tokens=tokens, seed=3)
    return PolicyAgent(engine, renderer, get_codec("compact"), sampling)


@pytest.fixture(params=EVENTS)
def event(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def require_same(again: Trajectory, first: Trajectory, tolerance: float = 0.0) -> None:
    """Compare records byte for byte, and tokens."""
    assert record_bytes(again) == record_bytes(first)
    assert again.tokens is not None and first.tokens is not None
    if not tolerance:
        assert again.tokens == first.tokens
        return
    for one, other in zip(again.tokens.nodes, first.tokens.nodes, strict=True):
        assert (one.ids, one.kind, one.parent, one.versions) == (
            other.ids, other.kind, other.parent, other.versions,
        )  # fmt: skip
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=tolerance)


def test_policy_resumes_its_session_bit_for_bit(event: str, checkpoint: Path) -> None:
    here, there = slot_of(event, limits=LIMITS), slot_of(event, limits=LIMITS)
    agent, key = agent_of(checkpoint), key_of(event)
    first = whole(agent, here, key)
    assert len(first.record["steps"]) == TURNS
    for after in range(TURNS):
        for name, form in FORMS.items():
            if name == "without_memory" or (after > 1 and name != "snapshot"):
                continue
            prefix = paused(agent, here, key, after)
            require_same(finished(agent, there, key, form(prefix)), first)
    here.close()
    there.close()


def test_prefill_from_scratch_samples_the_same_tokens(event: str, checkpoint: Path) -> None:
    slot, key = slot_of(event, limits=LIMITS), key_of(event)
    agent, other = agent_of(checkpoint), agent_of(checkpoint)
    first = whole(agent, slot, key)
    prefix = paused(agent, slot, key, 2)
    require_same(finished(other, slot, key, prefix), first, 1e-5)
    asyncio.run(agent.engine.clear())
    require_same(finished(agent, slot, key, prefix), first, 1e-5)
    slot.close()


def executor_of(agent: PolicyAgent) -> LocalExecutor:
    return LocalExecutor(agent, lambda name: slot_of(name, limits=LIMITS).get(), 3)


def played(executor: LocalExecutor, requests: Sequence[Request]) -> list[Trajectory]:
    """Play until the end."""
    outcomes = asyncio.run(executor.run(requests))
    assert all(isinstance(outcome, Trajectory) for outcome in outcomes)
    return [outcome for outcome in outcomes if isinstance(outcome, Trajectory)]


def going_on(requests: Sequence[Request], outcomes: Sequence[Outcome]) -> list[Request]:
    return [
        request._replace(start=outcome if isinstance(outcome, Prefix) else None)
        for request, outcome in zip(requests, outcomes, strict=True)
    ]


@pytest.mark.parametrize(("tokens", "members"), [(0, 1), (5, 1), (30, 1), (5, 3), (60, 3)])
def test_an_abort_in_a_turn_loses_nothing(
    tokens: int, members: int, event: str, checkpoint: Path
) -> None:
    agent = agent_of(checkpoint)
    requests = [Request(key_of(event, trial=trial)) for trial in range(members)]
    executor = executor_of(agent)
    first = played(executor, requests)
    asyncio.run(agent.engine.clear())
    engine = agent.engine
    assert isinstance(engine, CountingEngine)
    engine.watch(tokens, executor)
    reached = asyncio.run(executor.run(requests))
    assert all(isinstance(one, Prefix) for one in reached)
    drawn = engine.counts["drawn"]
    for again, undisturbed in zip(
        played(executor, going_on(requests, reached)), first, strict=True
    ):
        # Several resume in a different batch than before, which rounds differently.
        require_same(again, undisturbed, 0.0 if members == 1 else 1e-5)
    total = sum(
        len(node.ids)
        for one in first
        if one.tokens is not None
        for node in one.tokens.nodes
        if node.kind == "sampled"
    )
    assert engine.counts["drawn"] - drawn < total or not tokens
    executor.close()


def test_unrequested_abort_is_a_fault(checkpoint: Path) -> None:
    event = "hexathlon/RolePlay-v1"
    agent, request = agent_of(checkpoint), Request(key_of(event))
    executor = executor_of(agent)
    (first,) = played(executor, [request])
    engine = agent.engine
    assert isinstance(engine, CountingEngine)
    engine.watch(20, None)
    (again,) = played(executor, [request])
    assert [one["cause"] for one in again.record["earlier"]] == ["provider"]
    assert again.record["attempt"] == 2
    assert again.record["steps"] == first.record["steps"]
    executor.close()


@pytest.mark.parametrize("after", [1, 3])
def test_fork_shares_tokens_and_samples_its_own(after: int, event: str, checkpoint: Path) -> None:
    agent, key = agent_of(checkpoint), key_of(event)
    executor = executor_of(agent)
    (alone,) = played(executor, [Request(key)])
    kept: list[Trajectory] = []

    def keep(batch: list[Trajectory]) -> list[Trajectory]:
        kept.extend(batch)
        return batch

    plan = GroupPlan(key[1], event, TrialLimits(), 3, key[2])
    asyncio.run(agent.engine.clear())
    actual = asyncio.run(Collector(executor, (ForkPoint(after, 3),), keep).collect([plan]))
    # The prompts of its group are prefilled in the same pass, which rounds differently.
    require_same(kept[0], alone, 1e-5)
    paths = []
    for one in kept:
        assert one.tokens is not None and alone.tokens is not None
        shared = [node for node in one.tokens.nodes if 0 <= node.turn < after]
        assert shared == [node for node in alone.tokens.nodes if 0 <= node.turn < after]
        assert one.record["steps"][:after] == alone.record["steps"][:after]
        assert len(one.record["steps"]) == TURNS
        paths.append(tuple(one.tokens.ids(len(one.tokens.nodes) - 1)))
    assert len(set(paths)) == 3
    (group,) = actual.groups
    names = [sample.branches for sample in group.samples]
    assert len({name[:after] for name in names}) == 1
    assert len({name[after] for name in names}) == 3
    executor.close()


def test_collector_resumes_aborted_rollouts(checkpoint: Path) -> None:
    event = "hexathlon/RolePlay-v1"
    agent, key = agent_of(checkpoint), key_of(event)
    executor = executor_of(agent)
    plan = GroupPlan(key[1], event, TrialLimits(), 4, key[2])
    kept: list[Trajectory] = []

    def keep(batch: list[Trajectory]) -> list[Trajectory]:
        kept.extend(batch)
        return batch

    collector = Collector(executor, (ForkPoint(2, 2),), keep)
    asyncio.run(collector.collect([plan]))
    asyncio.run(agent.engine.clear())
    engine = agent.engine
    assert isinstance(engine, CountingEngine)
    engine.watch(15, executor)
    asyncio.run(collector.collect([plan]))
    assert engine.abort_at is None
    assert [one.key for one in kept[4:]] == [one.key for one in kept[:4]]
    for again, undisturbed in zip(kept[4:], kept[:4], strict=True):
        require_same(again, undisturbed, 1e-5)
    executor.close()


def test_fork_of_an_aborted_turn_receives_messages_once(checkpoint: Path) -> None:
    event = "hexathlon/RolePlay-v1"
    agent, key = agent_of(checkpoint), key_of(event)
    executor = executor_of(agent)
    sibling = Request((*key[:3], 5))
    (own,) = played(executor, [sibling])
    engine = agent.engine
    assert isinstance(engine, CountingEngine)
    engine.watch(1, executor)
    (reached,) = asyncio.run(executor.run([Request(key)]))
    assert isinstance(reached, Prefix) and reached.turns == 0
    (forked,) = played(executor, [sibling._replace(start=reached)])
    require_same(forked, own, 1e-5)
    executor.close()


def test_another_process_makes_the_same_update(checkpoint: Path, tmp_path: Path) -> None:
    """From trajectories written as JSON, and from pickled ones."""
    executor = executor_of(agent_of(checkpoint))
    requests = [Request(key_of("hexathlon/RolePlay-v1", trial=trial)) for trial in range(2)]
    trajectories = played(executor, requests)
    executor.close()
    written = tmp_path / "trajectories.json"
    lines = [json.dumps(trajectory.as_json()) + "\n" for trajectory in trajectories]
    written.write_text("".join(lines), "utf-8")
    pickled = tmp_path / "trajectories.pickle"
    pickled.write_bytes(pickle.dumps(trajectories))
    command = [sys.executable, "-m", "support.training", checkpoint, written, pickled]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    here = update_hashes(checkpoint, trajectories)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [here, here]
    assert here != weight_hashes(learner(checkpoint))
