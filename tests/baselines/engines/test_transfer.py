"""Weights over vLLM's transfer API: the phases against fake servers, whose workers receive over
gloo.
"""

import asyncio
import sys
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import (
    EngineError,
    EngineMissing,
    ReplyTimeout,
    ServerError,
    VersionDiffers,
    WeightsDiffer,
)
from hexathlon.baselines.engines.replicated import ReplicatedEngine
from hexathlon.baselines.engines.sending import HttpSettings
from hexathlon.baselines.engines.served.engine import ServedEngine
from hexathlon.baselines.engines.served.senders import GlooSender, nccl_sender
from hexathlon.baselines.engines.served.transfer import (
    Broadcast,
    TransferClient,
    loading_adapter,
)
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenRequest, TokenSampling
from support.token_server import Behaviour, TokenServer

PROBE = LogProbabilityProbe(
    [4, 5, 6], lambda ids: [-1.0, -1.0, *(-0.5 - n for n in range(len(ids) - 3))]
)


@pytest.fixture(scope="module")
def running() -> Any:
    with ExitStack() as stack:
        yield [stack.enter_context(TokenServer()) for _ in range(2)]


@pytest.fixture
def servers(running: list[TokenServer]) -> list[TokenServer]:
    for server in running:
        server.reset()
    return sorted(running, key=lambda server: server.root)


def model(seed: int = 0) -> Any:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Linear(5, 2, bias=False))


def with_replicas(servers: list[TokenServer], scenario: Any) -> Any:
    async def run() -> Any:
        opened = {
            server.root: await ServedEngine.open(HttpSettings(server.root, retries=0))
            for server in servers
        }
        engine = ReplicatedEngine(opened)
        try:
            return await scenario(engine)
        finally:
            await engine.close()

    return asyncio.run(run())


def broadcast(learner: Any, receivers: int = 2, deadline: float = 60.0) -> Broadcast:
    def make(client: TransferClient) -> GlooSender:
        return GlooSender(client, learner.named_parameters, "127.0.0.1", deadline)

    return Broadcast(receivers, make, deadline)


async def send(engine: ReplicatedEngine, sending: Broadcast, version: int) -> float:
    return await engine.update(Weights(PROBE, transfer=sending.round(version)), version)


def assert_received(server: TokenServer, learner: Any) -> None:
    assert server.receiver.tensors
    for tensors in server.receiver.tensors:
        assert set(tensors) == set(dict(learner.named_parameters()))
        for name, value in learner.named_parameters():
            assert torch.equal(tensors[name], value)


def test_every_worker_of_every_server_receives_every_tensor(servers: Any) -> None:
    learner = model()
    servers[0].behaviour.world = 2

    async def scenario(engine: Any) -> Any:
        sending = broadcast(learner)
        difference = await send(engine, sending, 1)
        for server in servers:
            assert_received(server, learner)
        with torch.no_grad():
            learner[0].weight.add_(1.0)
        await send(engine, sending, 2)
        for server in servers:
            assert_received(server, learner)
        await sending.close()
        return difference, engine.version

    difference, version = with_replicas(servers, scenario)
    assert difference == pytest.approx(0.0)
    assert version == 2
    assert [server.receiver.joined for server in servers] == [[1, 2], [3]]


def test_phases_come_in_order_between_pause_and_resume(servers: Any) -> None:
    async def scenario(engine: Any) -> None:
        sending = broadcast(model())
        await send(engine, sending, 7)
        await send(engine, sending, 8)
        await sending.close()

    with_replicas(servers, scenario)
    for server in servers:
        paths = [path for path, _ in server.posted]
        update = ["/start_weight_update", "/update_weights", "/finish_weight_update", "/resume"]
        pause = "/pause?mode=keep"
        assert paths == [pause, "/init_weight_transfer_engine", *update, pause, *update]
        bodies = [body for path, body in server.posted if path == "/finish_weight_update"]
        assert bodies == [{"weight_version": "7"}, {"weight_version": "8"}]
        (info,) = [b["update_info"] for p, b in server.posted if p == "/update_weights"][:1]
        assert info["names"] == ["0.weight", "0.bias", "1.weight"]
        assert info["dtype_names"] == ["float32"] * 3
        assert info["shapes"] == [[5, 3], [5], [2, 5]]


@pytest.mark.parametrize(
    ("plant", "error", "words"),
    [
        ({"shift": 0.01}, WeightsDiffer, "does not sample from the weights it was sent"),
        ({"takes_version": False}, VersionDiffers, "reports version 0, expected 1"),
        (
            {"broken_path": "/start_weight_update"},
            ServerError,
            "start_weight_update: HTTP 500",
        ),
        (
            {"broken_path": "/finish_weight_update"},
            ServerError,
            "finish_weight_update: HTTP 500",
        ),
        ({"broken_path": "/get_world_size"}, ServerError, "broken on purpose"),
    ],
)
def test_fault_at_one_server_stops_the_update_and_names_it(
    servers: Any, plant: Any, error: Any, words: str
) -> None:
    learner = model()

    async def scenario(engine: Any) -> None:
        sending = broadcast(learner)
        for name, value in plant.items():
            setattr(servers[1].behaviour, name, value)
        with pytest.raises(error, match=words) as raised:
            await send(engine, sending, 1)
        assert str(raised.value).startswith(servers[1].root) or error is ServerError
        assert servers[0].root not in str(raised.value)
        with pytest.raises(EngineError):
            await engine.generate(TokenRequest([1], TokenSampling()))
        assert all(server.paths["/resume"] == 1 for server in servers)
        servers[1].behaviour = Behaviour()
        await send(engine, sending, 2)  # in a new group, if the transfer itself failed
        await sending.close()
        reply = await engine.generate(TokenRequest([1], TokenSampling(max_tokens=3)))
        assert reply.spans == [(2, 0, 3)]

    with_replicas(servers, scenario)
    for server in servers:
        assert_received(server, learner)


def test_servers_that_do_not_get_ready_are_counted(servers: Any) -> None:
    async def scenario(engine: Any) -> None:
        sending = broadcast(model(), receivers=3, deadline=0.2)
        with pytest.raises(ReplyTimeout, match="[12] of 3 servers were ready .* within 0.2 s"):
            await send(engine, sending, 1)

    with_replicas(servers, scenario)


def test_broadcast_weights_are_not_sent_again(servers: Any) -> None:
    async def scenario(engine: Any) -> None:
        sending = broadcast(model())
        weights = Weights(PROBE, transfer=sending.round(1))
        await engine.update(weights, 1)
        with pytest.raises(EngineMissing, match="version 1 were broadcast before"):
            await engine.update(weights, 1)
        await sending.close()

    with_replicas(servers, scenario)


def test_adapters_are_loaded_in_place_and_sampled_by_their_name(
    servers: Any, tmp_path: Path
) -> None:
    async def scenario(engine: Any) -> Any:
        for version in (1, 2):
            place = tmp_path / str(version)
            await engine.update(Weights(PROBE, transfer=loading_adapter(place, version)), version)
        return await engine.generate(TokenRequest([1], TokenSampling(max_tokens=3)))

    reply = with_replicas(servers, scenario)
    assert reply.spans == [(2, 0, 3)]
    assert {request["model"] for request in servers[0].requests[-1:]} == {"policy"}
    for server in servers:
        loads = [body for path, body in server.posted if path == "/v1/load_lora_adapter"]
        assert loads == [
            {"lora_name": "policy", "lora_path": str(tmp_path / str(n)), "load_inplace": True}
            for n in (1, 2)
        ]


def test_a_sleeping_server_wakes_in_two_steps_around_new_weights(servers: Any) -> None:
    """Sleep needs a GPU: the calls are those of vLLM 0.32, whose effect is not seen here."""

    async def scenario(engine: Any) -> None:
        sending = broadcast(model())
        await send(engine, sending, 1)
        for server in servers:
            server.posted.clear()
        await engine.sleep()
        await send(engine, sending, 2)
        await send(engine, sending, 3)
        await sending.close()

    with_replicas(servers, scenario)
    update = ["/start_weight_update", "/update_weights", "/finish_weight_update"]
    for server in servers:
        assert [path for path, _ in server.posted] == [
            "/sleep?level=2&mode=abort",
            "/pause?mode=keep",
            "/wake_up?tags=weights",
            *update,
            "/wake_up?tags=kv_cache",
            "/resume",
            "/pause?mode=keep",
            *update,
            "/resume",
        ]


class Client:
    """Servers with five workers, for the NCCL sender."""

    world = 6


@pytest.mark.parametrize("version", ["0.26.1", "0.34.0", "1.0"])
def test_nccl_names_the_versions_that_it_knows(version: str) -> None:
    with pytest.raises(EngineMissing, match=f"supports vLLM 0.27 to 0.33, got {version}"):
        nccl_sender(Client(), None, "here", version=version)  # type: ignore[arg-type]


def test_nccl_needs_vllm_beside_the_learner() -> None:
    with pytest.raises(EngineMissing, match="needs vLLM in the learner's environment"):
        nccl_sender(Client(), None, "here")  # type: ignore[arg-type]


def test_nccl_is_opened_by_the_trainer_api_of_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for vLLM's modules; `test_vllm.py` compares their names with the real ones."""
    calls: dict[str, Any] = {}

    class Info:
        def __init__(self, **settings: Any) -> None:
            calls["info"] = settings

    class Factory:
        @staticmethod
        def trainer_init(info: Any, *, client: Any, source: Any) -> str:
            calls.update(client=client, source=source)
            return "sender"

    names = ("base", "factory", "nccl_engine")
    modules = {f"vllm.distributed.weight_transfer.{name}": ModuleType(name) for name in names}
    parents = ("vllm", "vllm.distributed", "vllm.distributed.weight_transfer")
    for name, module in {**{n: ModuleType(n) for n in parents}, **modules}.items():
        monkeypatch.setitem(sys.modules, name, module)
    base, factory, nccl = modules.values()
    base.ModuleSource = lambda learner: ("source", learner)  # type: ignore[attr-defined]
    factory.WeightTransferTrainerFactory = Factory  # type: ignore[attr-defined]
    nccl.NCCLTrainerInitInfo = Info  # type: ignore[attr-defined]
    client: Any = Client()
    assert nccl_sender(client, "model", "here", 29_500, version="0.32.0") == "sender"
    assert calls["info"] == {
        "master_address": "here",
        "master_port": 29_500,
        "world_size": 6,
        "rank": 0,
    }
    assert calls["client"] is client
    assert calls["source"] == ("source", "model")
