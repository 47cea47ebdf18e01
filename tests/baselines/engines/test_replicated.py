"""Several engines as one: routing of requests, updates, and lost replicas."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.distributed.transports import InProcessTransport, probe_of
from hexathlon.baselines.engines.errors import (
    ConnectionFailed,
    ContextOverflow,
    EngineError,
    EngineMissing,
    WeightsDiffer,
)
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.replicated import ReplicatedEngine
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling
from support.served import learner, moved, sharp_policy


class Observed:
    """A torch engine that records the requests it receives, and can be made unreachable or held."""

    def __init__(self, model: Any) -> None:
        self.engine = LocalEngine(model, batch=8)
        self.sessions: list[str] = []
        self.forgotten: list[str] = []
        self.gone = False
        self.gate = asyncio.Event()
        self.gate.set()

    @property
    def version(self) -> int:
        return self.engine.version

    @property
    def context(self) -> int:
        return self.engine.context

    async def generate(self, request: TokenRequest) -> Any:
        self.sessions.append(request.session)
        await self.gate.wait()
        if self.gone:
            raise ConnectionFailed("the connection was reset")
        return await self.engine.generate(request)

    def forget(self, session: str) -> None:
        self.forgotten.append(session)
        self.engine.forget(session)

    async def abort(self, session: str | None = None) -> None:
        await self.engine.abort(session)

    async def clear(self) -> None:
        await self.engine.clear()

    async def update(self, weights: Weights, version: int) -> float:
        if self.gone:
            raise ConnectionFailed("the connection was refused")
        return await self.engine.update(weights, version)

    async def close(self) -> None:
        await self.engine.close()


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sharp_policy(tmp_path_factory.mktemp("replicas") / "policy")


def with_replicas(policy: Path, scenario: Any, count: int = 2) -> Any:
    async def run() -> Any:
        parts = [Observed(learner(policy)) for _ in range(count)]
        engine = ReplicatedEngine({f"replica {n}": part for n, part in enumerate(parts)})
        try:
            return await scenario(engine, *parts)
        finally:
            await engine.close()

    return asyncio.run(run())


def request(ids: Any = (5, 6, 7), session: str = "", seed: int = 0, tokens: int = 4) -> Any:
    return TokenRequest(list(ids), TokenSampling(max_tokens=tokens, seed=seed), session)


async def ask(engine: ReplicatedEngine, *sessions: str) -> Any:
    """Ask once for each session, with different prompts, all at the same time."""
    asked = [
        request((int.from_bytes(name.encode(), "big") % 250,), name, number)
        for number, name in enumerate(sessions)
    ]
    return await asyncio.gather(*(engine.generate(one) for one in asked))


def test_new_sessions_go_to_the_least_loaded_and_stay(policy: Path) -> None:
    async def scenario(engine: Any, first: Observed, second: Observed) -> Any:
        await ask(engine, "a", "b", "c", "d")
        await ask(engine, "d", "b", "a", "c", "b")
        return first.sessions, second.sessions

    first, second = with_replicas(policy, scenario)
    assert set(first) == {"a", "c"} and set(second) == {"b", "d"}
    assert (len(first), len(second)) == (4, 5)


def test_sessions_that_ended_make_room(policy: Path) -> None:
    async def scenario(engine: Any, first: Observed, second: Observed) -> Any:
        await ask(engine, "a", "b", "c")
        for session in ("a", "c"):
            engine.forget(session)
        engine.forget("never seen")
        assert first.forgotten == ["a", "c"] and second.forgotten == []
        await ask(engine, "d", "e")
        return first.sessions, second.sessions

    first, second = with_replicas(policy, scenario)
    assert first == ["a", "c", "d"]
    assert second == ["b", "e"]


def test_requests_without_a_session_go_to_the_least_busy_replica(policy: Path) -> None:
    async def scenario(engine: Any, first: Observed, second: Observed) -> Any:
        first.gate.clear()
        held = asyncio.ensure_future(engine.generate(request((1,))))
        while not first.sessions:
            await asyncio.sleep(0)
        for number in range(3):
            await engine.generate(request((2 + number,)))
        first.gate.set()
        await held
        return len(first.sessions), len(second.sessions)

    assert with_replicas(policy, scenario) == (1, 3)


def test_a_group_prefills_its_prompt_on_one_replica_until_the_others_are_idle(policy: Path) -> None:
    async def scenario(engine: Any, first: Observed, second: Observed) -> Any:
        for member in range(4):
            await engine.generate(request((9, 9, 9), f"one {member}"))
        return first.sessions, second.sessions

    first, second = with_replicas(policy, scenario)
    assert first[:2] == ["one 0", "one 1"]  # the second member shares the first one's cache
    assert abs(len(first) - len(second)) <= 2 and second


def test_tokens_do_not_depend_on_the_number_of_replicas(policy: Path) -> None:
    async def scenario(engine: Any, *parts: Observed) -> Any:
        replies = await ask(engine, *"abcdef")
        return [(reply.ids, reply.log_probabilities) for reply in replies]

    alone, three = (with_replicas(policy, scenario, count) for count in (1, 3))
    assert [ids for ids, _ in alone] == [ids for ids, _ in three]
    for (_, values), (_, others) in zip(alone, three, strict=True):
        assert values == pytest.approx(others, abs=1e-5)


def test_an_update_reaches_and_verifies_every_replica(policy: Path) -> None:
    async def scenario(engine: Any, *parts: Observed) -> Any:
        model = moved(learner(policy))
        difference = await InProcessTransport(engine).publish(model, 3)
        replies = await ask(engine, "a", "b", "c")
        return difference, engine.version, [part.version for part in parts], replies

    difference, version, versions, replies = with_replicas(policy, scenario, 3)
    assert 0 <= difference < 1e-4
    assert (version, versions) == (3, [3, 3, 3])
    assert [reply.spans for reply in replies] == [[(3, 0, 4)]] * 3


def test_wrong_weights_at_one_replica_stop_all_and_name_it(policy: Path) -> None:
    async def scenario(engine: Any, first: Observed, second: Observed) -> Any:
        model = moved(learner(policy))
        sound, wrong = second.engine.update, moved(learner(policy), 2)

        async def planted(weights: Weights, version: int) -> float:
            return await sound(Weights(weights.probe, model=wrong), version)

        second.engine.update = planted  # type: ignore[method-assign]
        with pytest.raises(WeightsDiffer, match="^replica 1: log-probabilities .* differ"):
            await engine.update(Weights(probe_of(model), model=model), 1)
        for session in ("a", "b"):
            with pytest.raises(WeightsDiffer, match="replica 1"):
                await engine.generate(request(session=session))
        second.engine.update = sound  # type: ignore[method-assign]
        await engine.update(Weights(probe_of(model), model=model), 2)
        return [reply.spans for reply in await ask(engine, "a", "b")]

    assert with_replicas(policy, scenario) == [[(2, 0, 4)], [(2, 0, 4)]]


def test_requests_of_a_lost_replica_go_to_the_others_until_an_update_reaches_it(
    policy: Path,
) -> None:
    async def scenario(engine: Any, first: Observed, second: Observed) -> Any:
        before = await ask(engine, "a", "b")
        second.gone = True
        after = await ask(engine, "a", "b")
        assert [reply.ids for reply in before] == [reply.ids for reply in after]
        assert list(engine.lost) == ["replica 1"]
        assert "the connection was reset" in engine.lost["replica 1"]
        model = moved(learner(policy))
        await engine.update(Weights(probe_of(model), model=model), 1)
        assert list(engine.lost) == ["replica 1"] and engine.version == 1
        await ask(engine, "c")
        assert second.sessions == ["b", "b"]
        second.gone = False
        await engine.update(Weights(probe_of(model), model=model), 2)
        assert engine.lost == {}
        return await ask(engine, "d", "e"), second.sessions

    replies, sessions = with_replicas(policy, scenario)
    assert [reply.spans for reply in replies] == [[(2, 0, 4)]] * 2
    assert set(sessions) > {"b"}


def test_losing_all_replicas_is_fatal_and_names_them(policy: Path) -> None:
    async def scenario(engine: Any, first: Observed, second: Observed) -> None:
        first.gone = second.gone = True
        with pytest.raises(EngineMissing, match="replica 0: .* reset; replica 1: .* reset") as it:
            await engine.generate(request())
        assert it.value.fatal
        with pytest.raises(EngineMissing):
            await engine.generate(request())
        model = learner(policy)
        with pytest.raises(EngineMissing, match="no engine can be reached"):
            await engine.update(Weights(probe_of(model), model=model), 1)

    with_replicas(policy, scenario)


def test_other_errors_are_raised_with_the_name_of_the_replica(policy: Path) -> None:
    async def scenario(engine: Any, first: Observed, second: Observed) -> None:
        with pytest.raises(ContextOverflow, match="^replica 0: a prompt of"):
            await engine.generate(request([1] * (engine.context + 1)))
        assert engine.lost == {}

    with_replicas(policy, scenario)


def test_an_interrupted_update_blocks_sampling(policy: Path) -> None:
    async def scenario(engine: Any, first: Observed, second: Observed) -> None:
        started = asyncio.Event()

        async def stuck(weights: Weights, version: int) -> float:
            started.set()
            await asyncio.Event().wait()
            return 0.0

        second.engine.update = stuck  # type: ignore[method-assign]
        model = learner(policy)
        updating = asyncio.ensure_future(engine.update(Weights(probe_of(model), model=model), 1))
        await started.wait()
        updating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await updating
        with pytest.raises(EngineError, match="version 1 was interrupted"):
            await engine.generate(request())

    with_replicas(policy, scenario)


def test_clear_and_abort_reach_every_replica(policy: Path) -> None:
    async def scenario(engine: Any, first: Observed, second: Observed) -> Any:
        waiting = [
            asyncio.ensure_future(engine.generate(request((n,), f"s{n}", tokens=4_000)))
            for n in range(4)
        ]
        while len(first.sessions) + len(second.sessions) < 4:
            await asyncio.sleep(0)
        await engine.abort("s1")
        one = await waiting[1]
        await engine.clear()
        return [one, *(await asyncio.gather(*waiting))], len(first.forgotten + second.forgotten)

    replies, forgotten = with_replicas(policy, scenario)
    assert [reply.finish for reply in replies] == ["abort"] * 5
    assert forgotten == 4


def test_at_least_one_replica_is_needed() -> None:
    with pytest.raises(ValueError, match="at least one replica"):
        ReplicatedEngine({})
