"""Engine replicas: each replies as a single process does, also after one was killed."""

import asyncio
import itertools
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
ray = pytest.importorskip("ray", reason="pip install 'hexathlon[cluster]'")

from hexathlon.baselines.agents.policy import session_name
from hexathlon.baselines.cluster.clients import ActorEngine, Replica, client
from hexathlon.baselines.cluster.connect import RayCluster
from hexathlon.baselines.cluster.engines import EngineReplica, ReplicaSettings
from hexathlon.baselines.cluster.stored import WeightBoard
from hexathlon.baselines.cluster.weights import ObjectStoreTransport, packed, stored
from hexathlon.baselines.engines.errors import EngineError, EngineMissing, WeightsDiffer
from hexathlon.baselines.engines.interruption import InterruptedRequests
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.replicated import ReplicatedEngine
from hexathlon.baselines.engines.tokens import Sleeper
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling
from support.served import learner, sharp_policy

RESTARTS = 2
DEADLINE = 240.0


class Opened(NamedTuple):
    """Two replicas with the weights of a model."""

    model: Any
    board: Any
    replicas: list[Replica]

    def engine(self) -> Any:
        return client(self.replicas, DEADLINE)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return learner(sharp_policy(tmp_path_factory.mktemp("policy") / "policy"))


VERSIONS = itertools.count(1)


@pytest.fixture(scope="module")
def shared(cluster: RayCluster, model: Any) -> Iterator[Opened]:
    with_replicas = replicas_of(model, 2)
    yield with_replicas
    end(with_replicas)


@pytest.fixture
def opened(shared: Opened) -> Opened:
    """The replicas, with the model's weights."""

    async def work() -> None:
        transport = ObjectStoreTransport(shared.engine(), shared.board)
        await transport.publish(shared.model, next(VERSIONS))

    run(work)
    return shared


def replicas_of(model: Any, count: int, **more: Any) -> Opened:
    settings = ReplicaSettings(model.config, "float32", 512, 16, invariant=True, **more)
    board = ray.remote(WeightBoard).options(num_cpus=0).remote(settings)
    ray.get(board.publish.remote(stored(model, 0)))
    handles = [started(board) for _ in range(count)]
    facts = ray.get([handle.open.remote() for handle in handles], timeout=DEADLINE)
    replicas = [
        Replica(f"engine replica {number}", handle, *fact)
        for number, (handle, fact) in enumerate(zip(handles, facts, strict=True))
    ]
    return Opened(model, board, replicas)


def started(board: Any, restarts: int = RESTARTS) -> Any:
    """Return the handle of a replica that has not loaded the board's weights."""
    options = EngineReplica.options(restarts)
    return ray.remote(EngineReplica).options(num_cpus=0, **options).remote(board)


def end(opened: Opened) -> None:
    for actor in (opened.board, *(replica.handle for replica in opened.replicas)):
        ray.kill(actor)


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        return await asyncio.wait_for(work(), DEADLINE)

    return asyncio.run(bounded())


def requests(count: int, tokens: int = 24) -> list[TokenRequest]:
    return [
        TokenRequest([1, 2, 3, number], TokenSampling(seed=number, max_tokens=tokens), f"s{number}")
        for number in range(count)
    ]


async def replies(engine: Any, asked: list[TokenRequest]) -> list[TokenReply]:
    return list(await asyncio.gather(*(engine.generate(request) for request in asked)))


def in_process(model: Any, asked: list[TokenRequest]) -> list[TokenReply]:
    return run(lambda: replies(LocalEngine(model, context=512, invariant=True), asked))


def shifted(model: Any, amount: float) -> Any:
    """Return a copy of a model whose logits differ."""
    import copy

    other = copy.deepcopy(model)
    with torch.no_grad():
        other.get_output_embeddings().weight.view(-1)[: 64 * 20] += amount
    return other


def test_replicas_update_abort_and_recover(opened: Opened) -> None:
    other, asked = shifted(opened.model, 0.5), requests(12)

    async def work() -> None:
        engine = opened.engine()
        transport = ObjectStoreTransport(engine, opened.board)
        first, new = await replies(engine, asked), next(VERSIONS)
        assert {span.version for reply in first for span in reply.spans} == {new - 1}

        assert await transport.publish(other, new) < 1e-4
        assert engine.version == new
        await engine.clear()
        second = await replies(engine, asked)
        assert {span.version for reply in second for span in reply.spans} == {new}
        assert [reply.ids for reply in second] != [reply.ids for reply in first]
        assert_equal(second, in_thread(other, asked))

        # Both replicas are asked, and a killed one replies as if it had not been killed.
        await engine.clear()
        pids = [await replica.handle.process.remote() for replica in opened.replicas]
        assert len(set(pids)) == 2
        waiting = [asyncio.create_task(engine.generate(request)) for request in asked]
        await asyncio.sleep(0)
        os.kill(pids[0], signal.SIGKILL)
        third = list(await asyncio.gather(*waiting))
        assert_equal(third, second)
        assert {span.version for reply in third for span in reply.spans} == {new}
        again = [await replica.handle.process.remote() for replica in opened.replicas]
        assert again[0] != pids[0]
        assert again[1] == pids[1]

        # Aborted requests return what they have; the requests of other clients continue.
        long = TokenRequest([1, 2, 3], TokenSampling(max_tokens=480), "long")
        mine = asyncio.create_task(engine.generate(long))
        while not mine.done():
            await engine.abort()
            await asyncio.sleep(0.05)
        assert mine.result().finish in ("abort", "length", "stop")
        await engine.close()

    run(work)


def test_an_update_interrupts_requests_that_then_continue(cluster: RayCluster, model: Any) -> None:
    """With the same weights again, an interrupted reply is that of an undisturbed request."""
    opened = replicas_of(model, 1, interrupts=True)
    long = TokenRequest([1, 2, 3], TokenSampling(max_tokens=400), "long")

    async def work() -> None:
        engine, new = opened.engine(), 1
        transport, handle = ObjectStoreTransport(engine, opened.board), opened.replicas[0].handle
        waiting = asyncio.create_task(engine.generate(long))
        while not (waiting.done() or await handle.interrupted.remote()):
            await transport.publish(opened.model, new)
            new += 1
        reply = await waiting
        assert await handle.interrupted.remote() >= 1
        versions = [span.version for span in reply.spans]
        assert len(versions) > 1 and versions == sorted(versions) and versions[-1] < new
        assert_equal([reply], in_thread(model, [long]))
        await engine.close()

    run(work)
    end(opened)


class Sleepy:
    """A server that can release its memory."""

    slept = 0

    async def sleep(self) -> None:
        self.slept += 1


def test_replicas_let_their_servers_sleep(opened: Opened) -> None:
    """A torch engine has nothing to release, and still replies."""
    server, replica = Sleepy(), EngineReplica(None)
    replica._engine = InterruptedRequests(server)  # type: ignore[arg-type]
    asyncio.run(replica.sleep())
    assert server.slept == 1

    async def work() -> None:
        engine = opened.engine()
        assert isinstance(engine, Sleeper)
        await engine.sleep()
        assert len(await replies(engine, requests(2))) == 2
        await engine.close()

    run(work)


def test_pools_of_replicas_serve_their_families(opened: Opened) -> None:
    """Sessions of other families, and those without one, go to the other replica."""
    pages = opened.replicas[1]._replace(families=("web", "gui"))
    engine = client([opened.replicas[0], pages], DEADLINE)
    envs = ["hexathlon/Web-v0", "hexathlon/GUI-v0", "hexathlon/SQL-v1", "of-nobody/Env-v0"]
    sessions = [session_name((env, "task", 0, trial), 0) for env in envs for trial in range(3)]
    asked = [
        TokenRequest([1, number], TokenSampling(max_tokens=2), session)
        for number, session in enumerate([*sessions, "", "probe"])
    ]

    async def work() -> list[int]:
        handles = [replica.handle for replica in opened.replicas]
        before = [await handle.replies.remote() for handle in handles]
        await replies(engine, asked)
        after = [await handle.replies.remote() for handle in handles]
        await engine.close()
        return [new - old for new, old in zip(after, before, strict=True)]

    assert run(work) == [8, 6]


def assert_equal(one: list[TokenReply], other: list[TokenReply]) -> None:
    for reply, same in zip(one, other, strict=True):
        assert reply.ids == same.ids
        assert reply.log_probabilities == pytest.approx(same.log_probabilities, abs=1e-5)


def in_thread(model: Any, asked: list[TokenRequest]) -> list[TokenReply]:
    """Return the replies of an engine in this process, from inside an event loop."""
    import threading

    result: list[list[TokenReply]] = []
    thread = threading.Thread(target=lambda: result.append(in_process(model, asked)))
    thread.start()
    thread.join(DEADLINE)
    return result[0]


class Swapped:
    """An engine that receives different weights from those it is compared with."""

    def __init__(self, engine: ActorEngine, wrong: Any) -> None:
        self._engine, self._wrong = engine, wrong

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    async def update(self, weights: Weights, version: int) -> float:
        planted = weights.model._replace(tensors=ray.put(packed(self._wrong)))
        return await self._engine.update(Weights(weights.probe, model=planted), version)


@pytest.mark.parametrize("amount", [0.05, float("nan")])
def test_wrong_weights_on_one_replica_stop_by_name(opened: Opened, amount: float) -> None:
    async def work() -> None:
        good, bad = (
            ActorEngine(one.name, one.handle, one.context, one.version, DEADLINE)
            for one in opened.replicas
        )
        wrong = Swapped(bad, shifted(opened.model, amount))
        engine = ReplicatedEngine({"engine replica 0": good, "engine replica 1": wrong})
        transport = ObjectStoreTransport(engine, opened.board)
        with pytest.raises(WeightsDiffer, match="engine replica 1: .*engine does not sample from"):
            await transport.publish(opened.model, next(VERSIONS))
        with pytest.raises(WeightsDiffer):  # and nothing is sampled until an update succeeds
            await engine.generate(requests(1)[0])
        with pytest.raises(WeightsDiffer):
            await bad.generate(requests(1)[0])
        engine = ReplicatedEngine({"engine replica 0": good, "engine replica 1": bad})
        version = next(VERSIONS)
        await ObjectStoreTransport(engine, opened.board).publish(opened.model, version)
        assert (await engine.generate(requests(1)[0])).spans[0].version == version

    run(work)


def test_a_replica_that_dies_too_often_is_named(shared: Opened) -> None:
    handle = started(shared.board, restarts=0)
    try:
        os.kill(ray.get(handle.process.remote(), timeout=DEADLINE), signal.SIGKILL)
        engine = client([Replica("engine replica 0", handle, 512, 0)], DEADLINE)
        with pytest.raises(EngineMissing, match="engine replica 0.* died and has no restarts left"):
            run(lambda: replies(engine, requests(1)))
    finally:
        ray.kill(handle)


def test_weights_must_be_in_the_object_store(cluster: RayCluster, model: Any) -> None:
    engine = ActorEngine("engine replica 0", None, 16, 0, 1.0)
    with pytest.raises(
        EngineError, match="publish them with ObjectStoreTransport, got Qwen3ForCausalLM"
    ):
        run(lambda: engine.update(Weights(stored(model, 0).probe.probe(), model=model), 1))


def test_recorded_probes_answer_for_one_more_token(cluster: RayCluster, model: Any) -> None:
    weights = stored(model, 0)
    probe = weights.probe.probe()
    with torch.no_grad():
        ids = [*probe.ids, 7]
        scores = model(torch.tensor([ids])).logits[0].log_softmax(-1)
    expected = [float(scores[place, token]) for place, token in enumerate(ids[1:])]
    assert probe.expect(ids) == pytest.approx(expected, abs=1e-4)
    assert probe.expect(probe.ids) == pytest.approx(expected[:-1], abs=1e-4)
    with pytest.raises(EngineError, match="does not extend the probe"):
        probe.expect([*ids, 8])


def test_bfloat16_weights_travel_unchanged(cluster: RayCluster, tmp_path: Path) -> None:
    from hexathlon.baselines.cluster.weights import TensorSource

    policy = learner(sharp_policy(tmp_path / "policy")).to(torch.bfloat16)
    received = dict(TensorSource(ray.get(ray.put(packed(policy)))).named_parameters())
    sent = dict(policy.named_parameters())
    assert received.keys() == sent.keys()
    assert all(torch.equal(received[name], sent[name]) for name in sent)
