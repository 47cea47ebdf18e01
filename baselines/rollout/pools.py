"""Settings of worker pools, which play the rollouts of environment families.

A pool reserves cores, memory or named resources for its workers, so that web environments run on
nodes with browsers and simulated worlds anywhere. Starting workers is left to
`hexathlon.baselines.cluster`; a single process needs no pools.
"""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hexathlon.envs.registry import ENVIRONMENTS

__all__ = ["DEFAULT_POOL", "PoolTable", "WorkersTable", "family_of"]

DEFAULT_POOL = "workers"
"""The pool of all families that no other pool names."""

Count = Annotated[int, Field(ge=1)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Wait = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class PoolTable(BaseModel):
    """Workers with equal shares of the machines, for some environment families."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    families: tuple[str, ...] = ()
    """Families, such as `web`; empty for all that no other pool names."""

    workers: Count = 1
    """Number of processes."""

    slots: Count = 2
    """Concurrent rollouts per process; the pool plays at most `workers * slots`."""

    cpus: Amount = 1.0
    """Cores reserved for each worker."""

    gpus: Amount = 0.0
    """GPUs reserved for each worker; environments need none."""

    memory_gib: Amount = 0.0
    """Memory reserved for each worker; 0 reserves none."""

    resources: Mapping[str, Amount] = {}
    """Named resources reserved for each worker, as the nodes declare them."""

    spread: bool = False
    """Spread the workers over the nodes instead of filling one node after the other."""

    def bundle(self) -> dict[str, float]:
        """Return the reservation of one worker by resource name, memory in bytes."""
        amounts = {"CPU": self.cpus, "GPU": self.gpus, "memory": self.memory_gib * 2**30}
        bundle = {name: amount for name, amount in {**amounts, **self.resources}.items() if amount}
        return bundle or {"CPU": 0.001}  # Ray rejects empty bundles


class WorkersTable(BaseModel):
    """Pools of environment workers on a cluster."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workers: Count = 2
    """Workers of the default pool."""

    slots: Count = 2
    """Concurrent rollouts per worker of the default pool."""

    cpus: Amount = 1.0
    """Cores reserved for each worker of the default pool."""

    pools: Mapping[str, PoolTable] = {}
    """Further pools by name; one named `workers` replaces the default pool."""

    lives: Count = 3
    """Workers that one rollout may lose before it is recorded as an infrastructure failure."""

    start_within: Wait = 300.0
    """Seconds within which a worker must be placed and ready."""

    silent_within: Wait = 1800.0
    """Seconds within which a busy worker must finish a turn; one that does not is replaced."""

    @model_validator(mode="after")
    def _families_once(self) -> Self:
        pools: dict[str, str] = {}
        for name, pool in self.pools.items():
            if not pool.families and name != DEFAULT_POOL:
                raise ValueError(
                    f"pools.{name}.families is empty: list the families that it plays; only the "
                    f"pool {DEFAULT_POOL!r} plays those that no other pool names"
                )
            for family in pool.families:
                if family in pools:
                    raise ValueError(
                        f"the family {family!r} is in two pools, {pools[family]} and {name}: "
                        "list it in one"
                    )
                pools[family] = name
        return self

    def all_pools(self) -> dict[str, PoolTable]:
        """Return the pools by name, the default pool last."""
        default = PoolTable(workers=self.workers, slots=self.slots, cpus=self.cpus)
        named = {name: pool for name, pool in self.pools.items() if name != DEFAULT_POOL}
        return {**named, DEFAULT_POOL: self.pools.get(DEFAULT_POOL, default)}

    def pool_of(self, family: str) -> str:
        """Return the name of the pool that plays a family."""
        named = (name for name, pool in self.pools.items() if family in pool.families)
        return next(named, DEFAULT_POOL)


def family_of(env_id: str) -> str:
    """Return the family of a registered environment; empty for others."""
    info = ENVIRONMENTS.get(env_id)
    return info.family if info is not None else ""
