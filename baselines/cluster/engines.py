"""Engine replicas: token engines in processes of a cluster, and the client of one.

A replica holds a torch engine, or a vLLM server on its own node that listens on the loopback
address only. Ray restarts a replica that died and sends its requests again; the replica then loads
the weights on the board first, so replies are those that it would have given. Routing sessions over
several replicas is left to `hexathlon.baselines.engines.replicated`.
"""

import asyncio
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ray.exceptions import RayActorError, RayError, RayTaskError

from hexathlon.baselines.cluster.weights import StoredWeights, TensorSource
from hexathlon.baselines.engines.errors import ConnectionFailed, EngineError, EngineMissing
from hexathlon.baselines.engines.served.server import VllmSettings
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.engines.weights import Weights
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest

__all__ = ["ActorEngine", "EngineReplica", "ReplicaSettings", "SampledReply"]

_REQUESTS = 4_096
"""Requests that one replica takes at a time; its engine queues them."""


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """Settings of a replica; the same for all of a run."""

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

    gpu: bool = False
    """Whether the replica has a GPU."""

    vllm: VllmSettings | None = None
    """Settings of the replica's server; None uses the torch engine."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files of the checkpoint beside the weights, for a server."""


class SampledReply(NamedTuple):
    """A reply and the version of the policy at the replica."""

    reply: TokenReply
    version: int


class EngineReplica:
    """A token engine in a process of its own; an actor, created by `options`.

    Args:
        board: Handle of the `WeightBoard`, which has its settings: arguments of a constructor might
            be lost before a restart.
    """

    def __init__(self, board: Any) -> None:
        self._board = board
        self._engine: TokenEngine | None = None
        self._opening = asyncio.Lock()
        self._serves = False
        self._folder = Path(tempfile.mkdtemp(prefix="hexathlon-replica-"))

    @staticmethod
    def options(restarts: int) -> dict[str, Any]:
        """Return the options with which Ray creates the actor, besides its resources.

        Args:
            restarts: Times that it may be restarted; its requests are then sent again.
        """
        return {
            "max_restarts": restarts,
            "max_task_retries": -1,
            "max_concurrency": _REQUESTS,
        }

    async def open(self) -> tuple[int, int]:
        """Load the weights on the board; return the context length and the version."""
        engine = await self._ready()
        return engine.context, engine.version

    async def process(self) -> int:
        """Return the id of the replica's process."""
        return os.getpid()

    async def generate(self, request: TokenRequest) -> SampledReply:
        """Continue a prompt; see `TokenEngine.generate`."""
        engine = await self._ready()
        reply = await engine.generate(request)
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
        return await self._load(engine, weights, version), engine.version

    async def close(self) -> None:
        """Close the engine and stop its server."""
        engine, self._engine = self._engine, None
        try:
            if engine is not None:
                await engine.close()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _ready(self) -> TokenEngine:
        """Return the engine, opened with the weights on the board where there is none."""
        if self._engine is None:
            async with self._opening:
                if self._engine is None:
                    settings: ReplicaSettings = await self._board.settings.remote()
                    weights: StoredWeights = await self._board.latest.remote()
                    engine = await self._opened(settings, weights)
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
            )
        from hexathlon.baselines.engines.served.launched import LaunchedEngine

        checkpoint = self._folder / "checkpoint"
        checkpoint.mkdir()
        for name, content in settings.files.items():
            (checkpoint / name).write_bytes(content)
        _write(checkpoint, await weights.tensors)
        engine = LaunchedEngine(checkpoint, self._folder / "vllm.log", settings.vllm)
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
        # Until the next update, since a restarted server reads them again.
        place = self._folder / f"weights-{version}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        _write(place, tensors)
        difference = await engine.update(Weights(probe, folder=place), version)
        for other in self._folder.glob("weights-*"):
            if other != place:
                shutil.rmtree(other, ignore_errors=True)
        return difference


class ActorEngine:
    """A token engine that asks a replica; each process that samples has its own.

    Args:
        name: The replica's name, for errors.
        replica: Handle of the `EngineReplica`.
        context: Maximum number of tokens of a prompt and its reply.
        version: Version of the replica's policy.
        deadline: Seconds that one request may take, restarts of the replica included.
    """

    def __init__(
        self, name: str, replica: Any, context: int, version: int, deadline: float
    ) -> None:
        self.name = name
        self.context = context
        self._replica = replica
        self._version = version
        self._deadline = deadline
        self._sessions: Counter[str] = Counter()

    @property
    def version(self) -> int:
        """Version of the policy that the replica reported last."""
        return self._version

    async def generate(self, request: TokenRequest) -> TokenReply:
        """Continue a prompt; see `TokenEngine.generate`.

        Raises:
            ConnectionFailed: If the replica does not answer within the deadline.
            EngineMissing: If it died more often than it may be restarted.
        """
        session = request.session
        self._sessions[session] += 1
        try:
            result = await self._answer("a reply", self._replica.generate.remote(request))
        except asyncio.CancelledError:
            self._replica.abort.remote([session])
            raise
        finally:
            self._sessions[session] -= 1
            if not self._sessions[session]:
                del self._sessions[session]
        reply: TokenReply = result.reply
        self._version = result.version
        return reply

    def forget(self, session: str) -> None:
        """Drop the cache of a session at the replica, without waiting for it."""
        self._replica.forget.remote(session)

    async def abort(self, session: str | None = None) -> None:
        """Abort the request of a session, or all of this client; others' are not touched."""
        sessions = list(self._sessions) if session is None else [session]
        if sessions:
            await self._answer("an abort", self._replica.abort.remote(sessions))

    async def clear(self) -> None:
        """Abort the requests of all clients and drop all caches."""
        await self._answer("the release of caches", self._replica.clear.remote())

    async def update(self, weights: Weights, version: int) -> float:
        """Load weights from the object store and verify them; see `TokenEngine.update`.

        Args:
            weights: `StoredWeights` in the place of the model.
            version: The new policy version.

        Raises:
            EngineError: If the weights are not in the object store.
        """
        if not isinstance(weights.model, StoredWeights):
            raise EngineError(
                "a replica on a cluster loads weights from the object store: publish them with "
                f"ObjectStoreTransport, got {type(weights.model or weights.folder).__name__}"
            )
        work = self._replica.update.remote(weights.model, version)
        difference, self._version = await self._answer("an update", work)
        return float(difference)

    async def close(self) -> None:
        """Abort this client's requests; the replica is ended by the process that created it."""
        if self._sessions:
            await self.abort()

    async def _answer(self, what: str, work: Any) -> Any:
        """Wait for a call of the replica."""
        try:
            async with asyncio.timeout(self._deadline):
                return await work
        except TimeoutError:
            raise ConnectionFailed(
                f"{self.name} did not give {what} within {self._deadline:g} s"
            ) from None
        except RayTaskError as error:
            raise _cause(self.name, error) from error
        except RayActorError as error:
            raise EngineMissing(
                f"{self.name} is gone, and was not restarted again: {_first_line(error)}"
            ) from error
        except RayError as error:
            raise EngineError(f"{self.name} gave no {what}: {_first_line(error)}") from error


def _cause(name: str, error: RayTaskError) -> EngineError:
    """Return the error that a replica raised, as its own class."""
    cause = error.cause
    if isinstance(cause, EngineError):
        return cause
    return EngineError(f"{name} failed: {type(cause).__name__}: {_first_line(cause)}")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]


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
