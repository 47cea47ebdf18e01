"""Engine replicas: token engines in processes of a cluster.

A replica runs a torch engine, or a vLLM server on its own node that listens only on the loopback
address. If a replica dies, Ray restarts it and resends its requests; the replica first reloads the
weights from the board, so the replies are the same. Routing sessions to replicas is left to
`hexathlon.baselines.engines.replicated`.
"""

import asyncio
import os
import shutil
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hexathlon.baselines.cluster.addresses import use_interface
from hexathlon.baselines.cluster.broadcasts import TransferRound
from hexathlon.baselines.cluster.clients import SampledReply
from hexathlon.baselines.cluster.scratch import ScratchFolder
from hexathlon.baselines.cluster.stored import StoredWeights
from hexathlon.baselines.cluster.weights import TensorSource
from hexathlon.baselines.engines.comparison import LogProbabilityProbe
from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.engines.interruption import InterruptedRequests
from hexathlon.baselines.engines.served.settings import VllmSettings
from hexathlon.baselines.engines.tokens import Sleeper, TokenEngine
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenRequest

__all__ = ["EngineReplica", "ReplicaSettings"]

_REQUESTS = 4_096
"""Maximum number of concurrent requests to a replica; its engine queues them."""


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """Settings of a run's replicas."""

    config: Any
    """The model's Hugging Face configuration."""

    dtype: str
    """Name of the parameters' torch dtype, such as float32."""

    context: int
    """Maximum number of tokens of a prompt and its reply; 0 means the model's limit."""

    batch: int
    """Maximum number of sequences decoded concurrently."""

    invariant: bool = False
    """Whether replies of a torch engine do not depend on the rest of the batch, bit for bit."""

    speculate: int = 0
    """Maximum number of tokens that a torch engine proposes and checks in one pass."""

    gpu: bool = False
    """Whether the replica has a GPU."""

    interrupts: bool = False
    """Whether updates interrupt the requests in flight, which then continue with the new weights;
    otherwise the engine keeps them."""

    vllm: VllmSettings | None = None
    """Settings of the replica's server; None uses the torch engine."""

    more: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further arguments of the servers of each pool, by its name."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files of the checkpoint other than the weights, for a server."""


class EngineReplica:
    """A token engine in its own process; an actor, created by `options`.

    Args:
        board: Handle of the `WeightBoard`. Settings are read from there because a constructor's
            arguments may no longer exist when Ray restarts the actor.
        pool: Name of the replica's pool; empty for the default one.
    """

    def __init__(self, board: Any, pool: str = "") -> None:
        self._board, self._pool = board, pool
        self._engine: InterruptedRequests | None = None
        self._opening = asyncio.Lock()
        self._round: TransferRound | None = None
        self._serves = self._interrupts = False
        self._replies = 0
        self._scratch = ScratchFolder("hexathlon-replica-")
        self._folder = self._scratch.path

    @staticmethod
    def options(restarts: int) -> dict[str, Any]:
        """Return Ray's options for creating the actor, except its resources.

        Args:
            restarts: Maximum number of restarts; its requests are then resent.
        """
        return {
            "max_restarts": restarts,
            "max_task_retries": -1,
            "max_concurrency": _REQUESTS,
        }

    async def open(self) -> tuple[int, int]:
        """Load the weights from the board; return the context length and the version."""
        engine = await self._ready()
        return engine.context, engine.version

    async def process(self) -> int:
        """Return the id of the replica's process."""
        return os.getpid()

    async def generate(self, request: TokenRequest) -> SampledReply:
        """Continue a prompt; see `TokenEngine.generate`."""
        engine = await self._ready()
        reply = await engine.generate(request)
        self._replies += 1
        return SampledReply(reply, engine.version)

    async def forget(self, session: str) -> None:
        """Drop the cache of a session, if there is one."""
        if self._engine is not None:
            self._engine.forget(session)

    async def abort(self, sessions: list[str]) -> None:
        """Abort the requests of sessions; they return the tokens sampled so far."""
        if self._engine is not None:
            for session in sessions:
                await self._engine.abort(session)

    async def clear(self) -> None:
        """Abort all requests and drop all caches."""
        if self._engine is not None:
            await self._engine.clear()

    async def update(self, weights: StoredWeights, version: int) -> tuple[float, int]:
        """Load weights and verify them; return the difference and the version read back."""
        engine = await self._ready()
        async with engine.held() if self._interrupts else nullcontext():
            return await self._load(engine, weights, version), engine.version

    async def receive(
        self, key: str, probe: LogProbabilityProbe, version: int
    ) -> tuple[float, int]:
        """Receive weights that the learner broadcasts, and verify them; see `update`.

        Args:
            key: Of the broadcast, whose phases arrive as calls of `control` while this call runs.
            probe: The learner's log-probabilities.
            version: The new policy version.
        """
        transfer = self._opened_round(key)
        try:
            engine = await self._ready()
            async with engine.held() if self._interrupts else nullcontext():
                weights = Weights(probe, transfer=transfer.load)
                return await engine.update(weights, version), engine.version
        except Exception as error:
            transfer.fail(error)
            raise

    async def paused(self, key: str) -> str:
        """Wait until the server is paused for a broadcast; return the identity of its process."""
        return f"{os.getpid()} {(await self._opened_round(key).paused()).url}"

    async def control(self, key: str, path: str, body: dict[str, Any] | None) -> None:
        """Call a control route of the server that is paused for a broadcast."""
        server = await self._round_of(key).paused()
        await server.control(path, body)

    async def world(self, key: str) -> int:
        """Return the number of workers of the server that is paused for a broadcast."""
        server = await self._round_of(key).paused()
        return await server.world()

    async def transferred(self, key: str, reason: str = "") -> None:
        """End the transfer of a broadcast; a reason means that it failed."""
        self._opened_round(key).end(reason)

    async def sleep(self) -> None:
        """Release the memory of a server until the next update; see `Sleeper.sleep`."""
        if self._engine is not None and isinstance(self._engine.engine, Sleeper):
            await self._engine.engine.sleep()

    async def replies(self) -> int:
        """Return the number of replies since the process started."""
        return self._replies

    async def interrupted(self) -> int:
        """Return the number of requests that updates have interrupted since the process started."""
        return self._engine.interrupted if self._engine is not None else 0

    async def close(self) -> None:
        """Close the engine and stop its server."""
        engine, self._engine = self._engine, None
        try:
            if engine is not None:
                await engine.close()
        finally:
            self._scratch.close()

    def _opened_round(self, key: str) -> TransferRound:
        """Return the round of a broadcast; the first call opens it."""
        if self._round is None or self._round.key != key:
            self._round = TransferRound(key)
        return self._round

    def _round_of(self, key: str) -> TransferRound:
        """Return the round of a broadcast that was opened before."""
        if self._round is None or self._round.key != key:
            raise EngineError("a call belongs to an earlier broadcast: publish the weights again")
        return self._round

    async def _ready(self) -> InterruptedRequests:
        """Return the engine; open it first with the weights from the board if necessary."""
        if self._engine is None:
            async with self._opening:
                if self._engine is None:
                    settings: ReplicaSettings = await self._board.settings.remote()
                    weights: StoredWeights = await self._board.latest.remote()
                    engine = InterruptedRequests(await self._opened(settings, weights))
                    self._interrupts = settings.interrupts
                    try:
                        await self._load(engine, weights, weights.version)
                    except BaseException:
                        await engine.close()
                        raise
                    self._engine = engine
        return self._engine

    async def _opened(self, settings: ReplicaSettings, weights: StoredWeights) -> TokenEngine:
        self._serves = settings.vllm is not None
        if not settings.gpu:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        if settings.vllm is None:
            from hexathlon.baselines.engines.local.engine import LocalEngine

            batch = settings.batch
            return LocalEngine(
                _model(settings),
                context=settings.context,
                batch=batch,
                rows=batch,
                invariant=settings.invariant,
                speculate=settings.speculate,
            )
        from hexathlon.baselines.engines.served.launched import LaunchedEngine

        checkpoint = self._folder / "checkpoint"
        checkpoint.mkdir()
        for name, content in settings.files.items():
            (checkpoint / name).write_bytes(content)
        _write(checkpoint, await weights.tensors)
        more = (*settings.vllm.more, *settings.more.get(self._pool, ()))
        served = replace(settings.vllm, more=more)
        if served.receives == "gloo":
            use_interface()
        engine = LaunchedEngine(checkpoint, self._folder / "vllm.log", served)
        try:
            await engine.start()
        except BaseException:
            await engine.close()
            raise
        return engine

    async def _load(self, engine: TokenEngine, weights: StoredWeights, version: int) -> float:
        tensors, probe = await weights.tensors, weights.probe.probe()
        if not self._serves:
            return await engine.update(Weights(probe, model=TensorSource(tensors)), version)
        # Kept until the next update, since a restarted server reads them again.
        place = self._folder / f"weights-{version}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        _write(place, tensors)
        difference = await engine.update(Weights(probe, folder=place), version)
        for other in self._folder.glob("weights-*"):
            if other != place:
                shutil.rmtree(other, ignore_errors=True)
        return difference


def _model(settings: ReplicaSettings) -> Any:
    """Return a model with arbitrary weights, in evaluation mode."""
    import torch
    from transformers import AutoModelForCausalLM

    from hexathlon.baselines.engines.local.loading import quiet

    quiet()
    if not settings.gpu:
        torch.set_num_threads(1)
    kind: Any = AutoModelForCausalLM
    model: Any = kind.from_config(
        settings.config, dtype=getattr(torch, settings.dtype), attn_implementation="sdpa"
    )
    return model.to("cuda" if settings.gpu else "cpu").eval().requires_grad_(False)


def _write(folder: Path, tensors: Mapping[str, Any]) -> None:
    """Write packed parameters as a checkpoint's safetensors."""
    from safetensors.torch import save_file

    named = dict(TensorSource(tensors).named_parameters())
    save_file(named, str(folder / "model.safetensors"), metadata={"format": "pt"})
