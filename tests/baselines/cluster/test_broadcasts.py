"""Weights broadcast over vLLM's transfer API to the servers of replicas.

The servers are stand-ins whose workers receive over gloo. The replicas run in this process, and
their calls are pickled as Ray would; a real cluster with real servers is in `test_events.py`.
"""

import asyncio
import pickle
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("ray", reason="pip install 'hexathlon[cluster]'")

from hexathlon.baselines.cluster.broadcasts import TransferRound
from hexathlon.baselines.cluster.clients import ActorEngine
from hexathlon.baselines.cluster.engines import EngineReplica
from hexathlon.baselines.cluster.stored import WeightBoard
from hexathlon.baselines.cluster.weights import ReplicaBroadcastTransport
from hexathlon.baselines.distributed.transports import probe_of
from hexathlon.baselines.engines.errors import EngineError, EngineMissing, ServerError
from hexathlon.baselines.engines.interruption import InterruptedRequests
from hexathlon.baselines.engines.replicated import ReplicatedEngine
from hexathlon.baselines.engines.sending import HttpSettings
from hexathlon.baselines.engines.served.engine import ServedEngine
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling
from support.served import learner, sharp_policy
from support.token_server import TokenServer

DEADLINE = 60.0
ANY = 1e6
"""A tolerance, since the servers' log-probabilities are those of no model."""


class Handle:
    """Calls of an object in this process, with arguments that are pickled, as an actor's."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def __getattr__(self, name: str) -> Any:
        def remote(*arguments: Any) -> "asyncio.Future[Any]":
            sent = pickle.loads(pickle.dumps(arguments))
            return asyncio.ensure_future(getattr(self._actor, name)(*sent))

        return SimpleNamespace(remote=remote)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sharp_policy(tmp_path_factory.mktemp("policy") / "policy")


@pytest.fixture
def servers() -> Iterator[list[TokenServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(TokenServer()) for _ in range(2)]


def with_replicas(servers: list[TokenServer], scenario: Any) -> None:
    """Call a scenario with the replicas as one engine, and a transport to them."""

    async def run() -> None:
        board = WeightBoard(None)
        engines: dict[str, ActorEngine] = {}
        replicas = []
        for number, server in enumerate(servers):
            replica = EngineReplica(None)
            served = await ServedEngine.open(HttpSettings(server.root, retries=0))
            replica._engine = InterruptedRequests(served)
            replicas.append(replica)
            name = f"engine replica {number}"
            engines[name] = ActorEngine(name, Handle(replica), served.context, 0, DEADLINE)
        engine = ReplicatedEngine(engines)
        transport = ReplicaBroadcastTransport(
            Handle(board), engine, "gloo", len(servers), ANY, "127.0.0.1", DEADLINE
        )
        try:
            await scenario(engine, transport)
            with pytest.raises(EngineMissing, match="cannot be sent to a restarted replica"):
                await board.latest()
        finally:
            await transport.close()
            for replica in replicas:
                await replica.close()

    asyncio.run(asyncio.wait_for(run(), 4 * DEADLINE))


def assert_received(server: TokenServer, model: Any) -> None:
    (tensors,) = server.receiver.tensors
    sent = dict(model.named_parameters())
    assert tensors.keys() == sent.keys()
    assert all(torch.equal(tensors[name], value) for name, value in sent.items())


def test_every_server_receives_the_weights_between_pause_and_resume(
    servers: list[TokenServer], policy: Path
) -> None:
    model = learner(policy)

    async def scenario(engine: Any, transport: Any) -> None:
        await transport.publish(model, 1)
        for server in servers:
            assert_received(server, model)
        with torch.no_grad():
            model.get_output_embeddings().weight.add_(1.0)
        await transport.publish(model, 2)
        assert engine.version == 2
        reply = await engine.generate(TokenRequest([1], TokenSampling(max_tokens=3)))
        assert reply.spans == [(2, 0, 3)]

    with_replicas(servers, scenario)
    for server in servers:
        assert_received(server, model)
        paths = [path for path, _ in server.posted]
        update = ["/start_weight_update", "/update_weights", "/finish_weight_update", "/resume"]
        pause = "/pause?mode=keep"
        assert paths == [pause, "/init_weight_transfer_engine", *update, pause, *update]
    assert sorted(server.receiver.joined for server in servers) == [[1], [2]]


def test_a_fault_at_one_server_names_its_replica_and_another_update_succeeds(
    servers: list[TokenServer], policy: Path
) -> None:
    model = learner(policy)

    async def scenario(engine: Any, transport: Any) -> None:
        await transport.publish(model, 1)
        servers[1].behaviour.broken_path = "/start_weight_update"
        with pytest.raises(ServerError, match="engine replica 1/start_weight_update: HTTP 500"):
            await transport.publish(model, 2)
        with pytest.raises(EngineError):  # nothing is sampled until an update succeeds
            await engine.generate(TokenRequest([1], TokenSampling()))
        assert all(server.paths["/resume"] == 2 for server in servers)
        servers[1].behaviour.broken_path = ""
        await transport.publish(model, 3)
        assert engine.version == 3

    with_replicas(servers, scenario)


def test_a_server_that_cannot_be_paused_ends_the_update(
    servers: list[TokenServer], policy: Path
) -> None:
    async def scenario(engine: Any, transport: Any) -> None:
        transport._broadcast._deadline = 2.0  # that the other server waits for this one
        servers[0].behaviour.broken_path = "/pause"
        with pytest.raises(EngineError, match="engine replica 0: .*broken on purpose"):
            await transport.publish(learner(policy), 1)

    with_replicas(servers, scenario)


def test_a_restarted_server_or_replica_cannot_receive_a_broadcast_again(policy: Path) -> None:
    async def scenario() -> None:
        broadcast, server = TransferRound("key"), SimpleNamespace(url="here")
        broadcast.end()
        await broadcast.load(server)  # type: ignore[arg-type]
        assert await broadcast.paused() is server
        with pytest.raises(EngineMissing, match="cannot be sent to a restarted server"):
            await broadcast.load(server)  # type: ignore[arg-type]
        board = WeightBoard(None)
        with pytest.raises(EngineError, match="no weights have been published"):
            await board.latest()

    asyncio.run(scenario())


def test_the_probe_answers_as_the_learner_in_another_process(policy: Path) -> None:
    model = learner(policy)
    transport = ReplicaBroadcastTransport(None, None, "gloo", 1)
    here, there = probe_of(model), pickle.loads(pickle.dumps(transport.probe(model)))
    assert there.ids == here.ids and there.tolerance == here.tolerance
    ids = [*here.ids, 7]
    assert there.expect(ids) == pytest.approx(here.expect(ids), abs=1e-4)
