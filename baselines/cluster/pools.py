"""Reservation of cluster resources: named placement groups, with a deadline.

The caller decides what runs in the bundles: environment workers, engines or learner ranks.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import ray
from ray.exceptions import GetTimeoutError
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from hexathlon.baselines import interrupts
from hexathlon.baselines.cluster.connect import ClusterError, RayCluster

__all__ = ["Bundles", "reserve", "reserve_async"]

_POLL_S = 0.5
"""Interval between checks for an interruption."""


class Bundles:
    """A placement group that is ready; its bundles are in the order of the request.

    Args:
        name: Name of the pool, for errors.
        group: Ray's placement group.
        wanted: Resources of each bundle.
    """

    def __init__(self, name: str, group: Any, wanted: Sequence[Mapping[str, float]]) -> None:
        self.name = name
        self.wanted = tuple(dict(bundle) for bundle in wanted)
        self._group = group

    def __len__(self) -> int:
        return len(self.wanted)

    def options(self, number: int) -> dict[str, Any]:
        """Return the options of an actor or task that uses a whole bundle."""
        bundle = dict(self.wanted[number])
        memory = bundle.pop("memory", 0.0)
        return {
            "num_cpus": bundle.pop("CPU", 0.0),
            "num_gpus": bundle.pop("GPU", 0.0),
            **({"memory": memory} if memory else {}),
            "resources": bundle,
            "scheduling_strategy": self.place(number),
        }

    def place(self, number: int) -> PlacementGroupSchedulingStrategy:
        """Return the scheduling strategy that places an actor or task in a bundle."""
        return PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=number)

    def release(self) -> None:
        """Release the bundles; Ray kills the actors in them."""
        remove_placement_group(self._group)


def reserve(
    cluster: RayCluster,
    wanted: Sequence[Mapping[str, float]],
    *,
    name: str,
    spread: bool = False,
    within: float = 300.0,
) -> Bundles:
    """Reserve bundles of resources on a cluster.

    Args:
        cluster: The cluster.
        wanted: Resources of each bundle: `CPU`, `GPU`, `memory` in bytes, and named ones.
        name: Name of the pool, for errors.
        spread: Whether to spread the bundles over as many nodes as possible.
        within: Seconds to wait, for example for an autoscaler.

    Raises:
        ClusterError: If the resources are not free within the deadline.
    """
    group = _placement_group(wanted, spread)
    ready, until = group.ready(), time.monotonic() + within
    try:
        while True:
            interrupts.check()
            try:
                ray.get(ready, timeout=min(_POLL_S, max(until - time.monotonic(), 0.0)))
                return Bundles(name, group, wanted)
            except GetTimeoutError:
                if time.monotonic() >= until:
                    raise ClusterError(_missing(cluster, wanted, name, within)) from None
    except BaseException:
        remove_placement_group(group)
        raise


async def reserve_async(
    cluster: RayCluster,
    wanted: Sequence[Mapping[str, float]],
    *,
    name: str,
    spread: bool = False,
    within: float = 300.0,
) -> Bundles:
    """Reserve bundles without blocking the event loop; see `reserve`."""
    group = _placement_group(wanted, spread)
    try:
        await asyncio.wait_for(_answer(group.ready()), within)
    except TimeoutError:
        remove_placement_group(group)
        raise ClusterError(_missing(cluster, wanted, name, within)) from None
    except BaseException:
        remove_placement_group(group)
        raise
    return Bundles(name, group, wanted)


def _placement_group(wanted: Sequence[Mapping[str, float]], spread: bool) -> Any:
    strategy = "SPREAD" if spread else "PACK"
    return placement_group([dict(bundle) for bundle in wanted], strategy=strategy)


async def _answer(reference: Any) -> Any:
    return await reference


def _missing(
    cluster: RayCluster, wanted: Sequence[Mapping[str, float]], name: str, within: float
) -> str:
    total: dict[str, float] = {}
    for bundle in wanted:
        for resource, amount in bundle.items():
            total[resource] = total.get(resource, 0.0) + amount
    has = cluster.resources()
    rows = ", ".join(f"{key} {total[key]:g} of {has.get(key, 0.0):g}" for key in sorted(total))
    return (
        f"the pool {name!r} could not be placed within {within:.0f} s: it needs {rows} (of the "
        "cluster's total, some of which may be in use or on nodes too small for one process); "
        "request fewer workers, or add nodes that declare these resources"
    )
