"""The backend of training on a cluster: engine replicas, and environment workers that use them.

It runs in the process of rank 0, which plays the rollouts of all ranks. A rollout's worker
exchanges tokens with one replica directly; rank 0 only receives finished trajectories.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from hexathlon.baselines.agents.policy import PolicyAgent
from hexathlon.baselines.cluster.addresses import node_address, use_interface
from hexathlon.baselines.cluster.clients import Replica, WorkerAgent, client
from hexathlon.baselines.cluster.connect import ClusterError, RayCluster
from hexathlon.baselines.cluster.engines import EngineReplica, ReplicaSettings
from hexathlon.baselines.cluster.executor import RayExecutor
from hexathlon.baselines.cluster.fleet import Fleet
from hexathlon.baselines.cluster.handles import answer_within, reason_of
from hexathlon.baselines.cluster.log import note
from hexathlon.baselines.cluster.pools import Bundles, reserve_async
from hexathlon.baselines.cluster.stored import WeightBoard
from hexathlon.baselines.cluster.weights import (
    ObjectStoreTransport,
    ReplicaBroadcastTransport,
    stored,
)
from hexathlon.baselines.distributed.transports import WeightTransport
from hexathlon.baselines.engines.errors import EngineError, EngineMissing
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.rollout.executor import Executor
from hexathlon.baselines.training.backend import InProcess
from hexathlon.baselines.training.engines import OpenedEngine, settings_for
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.tables import ClusterTable, EnginePoolTable, EngineTable
from hexathlon.envs.base import Environment

__all__ = ["ClusterBackend"]


class ClusterBackend:
    """Opens engine replicas and workers on a cluster; a `TrainingBackend`.

    Args:
        cluster: The cluster, to which this process is connected.
        table: Number of processes of each kind, and their resources.
    """

    def __init__(self, cluster: RayCluster, table: ClusterTable) -> None:
        self._cluster, self._table = cluster, table
        self._local = InProcess()
        self._folder: Path | None = None
        self._fleet: Fleet | None = None
        self._bundles: list[Bundles] = []
        self._actors: list[Any] = []
        self.replicas: list[Replica] = []
        """The engine replicas, once they are open."""

    def central(self, recipe: Recipe) -> bool:
        """Return True: rank 0 plays the rollouts of all ranks."""
        return True

    async def open_engine(
        self, recipe: Recipe, model: Any, checkpoint: Path, folder: Path
    ) -> OpenedEngine:
        """Start the replicas with the model's weights; see `TrainingBackend.open_engine`.

        Raises:
            ClusterError: If the replicas do not fit on the cluster.
        """
        if recipe.engine.urls:
            if self._table.workers:
                raise EngineMissing(
                    "engine.urls names servers, which environment workers do not use: leave it out "
                    "to start servers on the cluster, or set cluster.workers = 0"
                )
            return await self._local.open_engine(recipe, model, checkpoint, folder)
        self._folder = folder
        within = self._table.start_within
        places = await self._reserved()
        settings = self._settings(recipe, model, checkpoint)
        # On this node, so that the loss of another one does not take the weights along.
        board = _actor(WeightBoard, settings, num_cpus=0, scheduling_strategy=_this_node())
        self._actors.append(board)
        weights = stored(model, 0, tolerance=recipe.engine.tolerance)
        await answer_within(within, board.publish.remote(weights), "the board of weights to start")
        options = EngineReplica.options(self._table.restarts)
        started = [
            _actor(EngineReplica, board, place.pool, **place.options, **options) for place in places
        ]
        self._actors += started
        opened = zip(places, started, await _opened(started, within), strict=True)
        self.replicas = [
            Replica(place.name(number), handle, *facts, place.families)
            for number, (place, handle, facts) in enumerate(opened)
        ]
        numbers = asyncio.gather(*(handle.process.remote() for handle in started))
        pids = await answer_within(within, numbers, "the process ids of the engine replicas")
        note(
            folder, f"{len(started)} engine replicas started: processes {', '.join(map(str, pids))}"
        )
        engine = client(self.replicas, self._table.reply_within)
        return OpenedEngine(engine, self._transport(recipe.engine, engine, board))

    def executor(
        self, recipe: Recipe, agent: PolicyAgent, make: Callable[[str], Environment]
    ) -> Executor:
        """Create an executor that plays in the workers, or here if there are none."""
        if not self._table.workers:
            return self._local.executor(recipe, agent, make)
        if self._fleet is None:
            report = partial(note, self._folder) if self._folder else lambda line: None
            self._fleet = Fleet(self._cluster, self._table, make, report=report)
        made = WorkerAgent(
            self.replicas, self._table.reply_within, agent.renderer, agent.codec, agent.sampling
        )
        return RayExecutor(self._fleet, made)

    def close(self) -> None:
        """Stop the workers and the replicas, and release their resources."""
        if self._fleet is not None:
            self._fleet.close()
        with contextlib.suppress(RayError):
            closing = [replica.handle.close.remote() for replica in self.replicas]
            ray.get(closing, timeout=30.0)
        for actor in self._actors:
            ray.kill(actor)
        for bundles in self._bundles:
            bundles.release()
        self._fleet, self._bundles, self._actors, self.replicas = None, [], [], []

    def _transport(self, table: EngineTable, engine: TokenEngine, board: Any) -> WeightTransport:
        """Return the transport of weights to the replicas."""
        deadline = self._table.reply_within
        if table.kind == "vllm" and table.transfer in ("gloo", "nccl"):
            use_interface()
            return ReplicaBroadcastTransport(
                board,
                engine,
                table.transfer,
                len(self.replicas),
                table.tolerance,
                node_address(),
                deadline,
            )
        return ObjectStoreTransport(engine, board, table.tolerance, deadline)

    async def _reserved(self) -> list["_Place"]:
        """Reserve the places of all replicas, pool by pool."""
        table = self._table
        pools = {"": EnginePoolTable(families=("",), engines=table.engines, place=table.engine)}
        places: list[_Place] = []
        for pool, chosen in {**pools, **table.engine_pools}.items():
            bundles = await reserve_async(
                self._cluster,
                [chosen.place.bundle()] * chosen.engines,
                name=f"engine replicas, {pool}" if pool else "engine replicas",
                spread=True,
                within=table.start_within,
            )
            self._bundles.append(bundles)
            families = chosen.families if pool else ()
            places += [_Place(pool, families, bundles.options(n)) for n in range(chosen.engines)]
        return places

    def _settings(self, recipe: Recipe, model: Any, checkpoint: Path) -> ReplicaSettings:
        table, capacity = recipe.engine, recipe.rollout.concurrency
        if self._table.workers:
            pools = self._table.all_pools().values()
            capacity = max(capacity, sum(pool.workers * pool.slots for pool in pools))
        gpu = self._table.engine.gpus > 0
        served = table.kind == "vllm"
        if served and model.config.tie_word_embeddings and not gpu:
            raise EngineMissing(
                f"a vLLM server on a CPU does not take updates of tied embeddings, which "
                f'{checkpoint} has: untie them, or train with [engine] kind = "local"'
            )
        return ReplicaSettings(
            config=model.config,
            dtype=str(model.get_input_embeddings().weight.dtype).removeprefix("torch."),
            context=table.context,
            batch=capacity,
            invariant=table.invariant,
            speculate=table.speculate,
            gpu=gpu,
            more={name: pool.more for name, pool in self._table.engine_pools.items()},
            interrupts=recipe.asynchrony.update == "abort",
            vllm=settings_for(recipe, model) if served else None,
            files=_files(checkpoint) if served else {},
        )


class _Place(NamedTuple):
    """Where a replica runs, and for which families."""

    pool: str
    families: tuple[str, ...]
    options: dict[str, Any]
    """Ray's options for its actor."""

    def name(self, number: int) -> str:
        """Return the replica's name, for errors."""
        return f"engine replica {number}" + (f" ({self.pool})" if self.pool else "")


def _this_node() -> NodeAffinitySchedulingStrategy:
    node = ray.get_runtime_context().get_node_id()
    return NodeAffinitySchedulingStrategy(node, soft=False)


def _actor(kind: type, *arguments: Any, **options: Any) -> Any:
    actor: Any = ray.remote(kind)
    return actor.options(**options).remote(*arguments)


async def _opened(replicas: Sequence[Any], within: float) -> list[tuple[int, int]]:
    """Wait until all replicas have loaded the weights; return each one's context and version."""
    try:
        async with asyncio.timeout(within):
            return list(await asyncio.gather(*(replica.open.remote() for replica in replicas)))
    except TimeoutError:
        raise ClusterError(
            f"the engine replicas did not load the weights within {within:.0f} s: raise "
            "cluster.start_within if the nodes are slow"
        ) from None
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, EngineError):
            raise cause from error
        raise ClusterError(f"an engine replica cannot start: {reason_of(error)}") from error
    except RayActorError as error:
        raise ClusterError(f"an engine replica died while starting: {reason_of(error)}") from error


def _files(checkpoint: Path) -> dict[str, bytes]:
    """Return a checkpoint's files other than the weights."""
    weights = (".safetensors", ".bin", ".pt", ".index.json")
    return {
        path.name: path.read_bytes()
        for path in checkpoint.iterdir()
        if path.is_file() and not path.name.endswith(weights)
    }
