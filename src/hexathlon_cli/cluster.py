"""The options `--cluster` and `--workers`: where a command's trials are played."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hexathlon.baselines.cluster.connect import RayCluster
    from hexathlon.baselines.engines.base import Engine
    from hexathlon.baselines.harness.config import ExecutionConfig
    from hexathlon.baselines.harness.player import OpenPlayers
    from hexathlon.baselines.harness.processes import Distribute
    from hexathlon.baselines.harness.selftest import Mapped

__all__ = ["distributing", "judges_on", "mapped_on", "remote_players"]


@contextmanager
def remote_players(execution: "ExecutionConfig") -> Iterator["OpenPlayers"]:
    """Connect to the cluster of a configuration; without one, use processes of this machine."""
    table = execution.cluster
    if table is None:
        from hexathlon.baselines.harness.processes import processes_for

        yield processes_for
        return
    from hexathlon.baselines.cluster.connect import connect
    from hexathlon.baselines.harness.progress import Waiting

    cpus = sum(pool.workers * pool.cpus for pool in table.all_pools().values())
    resources: dict[str, float] = {}
    for pool in table.all_pools().values():
        for name, amount in pool.resources.items():
            resources[name] = resources.get(name, 0.0) + amount * pool.workers
    with Waiting(f"connecting to the cluster {table.address}"):
        cluster = connect(table.address, cpus=cpus, resources=resources)
    with cluster:
        from hexathlon.baselines.cluster.evaluation import workers_for

        yield partial(workers_for, cluster=cluster)


@contextmanager
def mapped_on(address: str | None) -> Iterator["Mapped | None"]:
    """Connect to a cluster for stateless work; None without an address."""
    with _connected(address) as cluster:
        if cluster is None:
            yield None
            return
        from hexathlon.baselines.cluster.tasks import mapped

        yield partial(mapped, cluster)


@contextmanager
def distributing(address: str | None) -> Iterator["Distribute"]:
    """Connect to a cluster to distribute records; without an address, use this machine."""
    from hexathlon.baselines.harness.processes import distributed

    with _connected(address) as cluster:
        if cluster is None:
            yield distributed
            return
        from hexathlon.baselines.cluster.tasks import distributed_on

        yield partial(distributed_on, cluster)


@contextmanager
def judges_on(
    address: str | None,
) -> Iterator["Callable[[Callable[[], Engine]], Engine] | None"]:
    """Connect to a cluster whose tasks run the judges' models; None without an address."""
    with _connected(address) as cluster:
        if cluster is None:
            yield None
            return
        from hexathlon.baselines.cluster.judges import judging_on

        yield judging_on(cluster)


@contextmanager
def _connected(address: str | None) -> Iterator["RayCluster | None"]:
    if address is None or address == "none":
        yield None
        return
    from hexathlon.baselines.cluster.connect import connect
    from hexathlon.baselines.harness.progress import Waiting

    with Waiting(f"connecting to the cluster {address}"):
        cluster = connect(address)
    with cluster:
        yield cluster
