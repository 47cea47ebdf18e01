"""A policy's rollout that is paused, aborted or forked keeps its tokens, and draws the same ones."""

import asyncio
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.loading import load_tokenizer
from hexathlon.baselines.engines.tokens import TokenReply, TokenRequest, TokenSampling
from hexathlon.baselines.executor import LocalExecutor
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.trajectory import Trajectory
from support.resuming import EVENTS, FORMS, finished, key_of, paused, record_bytes, slot_of, whole
from support.served import learner, sharp_policy

TESTS = Path(__file__).resolve().parents[1]
LIMITS = {"turns": 4}
TURNS = 4


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sharp_policy(tmp_path_factory.mktemp("policy"))


class CountingEngine(LocalEngine):
    """Aborts everything after so many tokens, once; `executor` is told, or nobody is."""

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


def test_a_policy_goes_on_with_its_session_bit_for_bit(event: str, checkpoint: Path) -> None:
    here, there = slot_of(event, limits=LIMITS), slot_of(event, limits=LIMITS)
    agent, key = agent_of(checkpoint), key_of(event)
    first = whole(agent, here, key)
    assert len(first.record["steps"]) == TURNS
    for after in range(TURNS):
        for name, form in FORMS.items():
            if name == "told" or (after > 1 and name != "snapshot"):
                continue
            prefix = paused(agent, here, key, after)
            require_same(finished(agent, there, key, form(prefix)), first)
    here.close()
    there.close()


def test_an_engine_that_reads_anew_draws_the_same_tokens(event: str, checkpoint: Path) -> None:
    slot, key = slot_of(event, limits=LIMITS), key_of(event)
    agent, other = agent_of(checkpoint), agent_of(checkpoint)
    first = whole(agent, slot, key)
    prefix = paused(agent, slot, key, 2)
    require_same(finished(other, slot, key, prefix), first, 1e-5)
    asyncio.run(agent.engine.clear())
    require_same(finished(agent, slot, key, prefix), first, 1e-5)
    slot.close()
