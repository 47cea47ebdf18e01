"""Durations of a step on given hardware, and the division of GPUs between engines and learner.

    mean rollout = sampled tokens x seconds per token + prompt tokens x seconds + environment
    collect      = rollouts x mean rollout / slots, and the wait for the longest one if synchronous
    learn        = 3 x forward pass of all tokens (4 x with checkpointing) / learner GPUs
    sync         = bytes of the weights / link
    step         = collect + learn + sync, or max(collect, learn) + sync if asynchronous

Decoding is bound by memory: each step of a batch reads the weights (of a mixture, those of the
experts that the batch chooses) and the batch's keys and values.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from hexathlon.baselines.sizing.devices import Device, Efficiency
from hexathlon.baselines.sizing.footprint import GIB, ModelSize, engine_memory, learner_memory
from hexathlon.baselines.sizing.workload import StepWorkload

__all__ = [
    "GpuCluster",
    "StepEstimate",
    "GpuLayout",
    "StepPlan",
    "best_by_mode",
    "estimate",
    "estimates",
    "layouts",
]

_ROUNDS = 60
"""Iterations of the fixed point for the batch size; each at least halves the error."""

_USABLE = 0.92
"""Usable fraction of a GPU's memory."""

Mode = Literal["shared", "apart", "asynchronous"]


class GpuCluster(NamedTuple):
    """The hardware."""

    device: Device
    gpus: int
    """Total number of GPUs."""

    efficiency: Efficiency = Efficiency()
    network: float = 0.0
    """Bandwidth between machines in GB/s, one direction; 0 if all GPUs are in one machine."""


class StepPlan(NamedTuple):
    """Hardware demands of a recipe."""

    model: ModelSize
    workload: StepWorkload
    slots: int
    """Rollouts in flight."""

    forward_tokens: int
    """Tokens of one forward pass of a learner rank."""

    checkpointing: bool = False


class GpuLayout(NamedTuple):
    """A division of the GPUs."""

    mode: Mode
    """`shared`: engines and learner alternate on all GPUs; `apart`: each has its own GPUs, and they
    wait for each other; `asynchronous`: each has its own and neither waits."""

    engines: int
    learners: int


class StepEstimate(NamedTuple):
    """Predicted durations in seconds and memory in bytes."""

    layout: GpuLayout
    collect: float
    learn: float
    sync: float
    step: float
    engine_memory: float
    """Of one engine GPU."""

    learner_memory: float
    """Of one learner GPU."""

    available: float
    """Usable memory of one GPU."""

    @property
    def fits(self) -> bool:
        """Whether both fit into memory; an engine on shared GPUs sleeps while the learner works."""
        return max(self.engine_memory, self.learner_memory) <= self.available

    @property
    def engine_use(self) -> float:
        """Share of the step in which engine GPUs sample."""
        return self.collect / self.step

    @property
    def learner_use(self) -> float:
        """Share of the step in which learner GPUs compute."""
        return self.learn / self.step


def layouts(gpus: int) -> Iterator[GpuLayout]:
    """Yield every division of some GPUs."""
    yield GpuLayout("shared", gpus, gpus)
    for engines in range(1, gpus):
        yield GpuLayout("apart", engines, gpus - engines)
        yield GpuLayout("asynchronous", engines, gpus - engines)


def estimate(plan: StepPlan, cluster: GpuCluster, layout: GpuLayout) -> StepEstimate:
    """Predict a step."""
    model, work = plan.model, plan.workload
    mean = _rollout_seconds(plan, cluster, layout.engines)
    waves = max(1.0, work.rollouts / plan.slots)
    if layout.mode == "asynchronous":
        collect = work.rollouts / plan.slots * mean
    else:
        collect = (waves + work.longest(min(work.rollouts, plan.slots)) - 1.0) * mean
    passes = 4.0 if plan.checkpointing else 3.0
    flops = passes * work.rollouts * work.tokens * model.forward_flops(work.context)
    rate = cluster.device.tflops * 1e12 * cluster.efficiency.learn * layout.learners
    learn = flops / rate
    link = min(cluster.device.link, cluster.network or cluster.device.link)
    sync = 2.0 * model.parameters / (link * 1e9 * cluster.efficiency.sync)
    step = (max(collect, learn) if layout.mode == "asynchronous" else collect + learn) + sync
    memory = learner_memory(
        model, layout.learners, plan.forward_tokens, checkpointing=plan.checkpointing
    )
    return StepEstimate(
        layout,
        collect,
        learn,
        sync,
        step,
        engine_memory(model, plan.slots / layout.engines, work.context),
        memory.total,
        _USABLE * cluster.device.memory * GIB,
    )


def estimates(plan: StepPlan, cluster: GpuCluster) -> list[StepEstimate]:
    """Predict a step for every division of the GPUs, the fastest that fits first."""
    found = [estimate(plan, cluster, layout) for layout in layouts(cluster.gpus)]
    return sorted(found, key=lambda one: (not one.fits, one.step))


def best_by_mode(found: Iterable[StepEstimate]) -> list[StepEstimate]:
    """Return the first estimate of each mode, in order."""
    best: dict[Mode, StepEstimate] = {}
    for one in found:
        best.setdefault(one.layout.mode, one)
    return list(best.values())


def _rollout_seconds(plan: StepPlan, cluster: GpuCluster, engines: int) -> float:
    """Return the mean duration of a rollout while `slots` rollouts are in flight.

    The batch that an engine decodes depends on how long rollouts stay in it, which depends on the
    batch: a fixed point.
    """
    model, work, device = plan.model, plan.workload, cluster.device
    flops = model.forward_flops(work.context)
    compute = device.tflops * 1e12 * cluster.efficiency.prefill
    bandwidth = device.bandwidth * 1e9 * cluster.efficiency.decode
    prefill = (work.tokens - work.sampled) * flops / compute
    slots = plan.slots / engines
    batch = slots
    for _ in range(_ROUNDS):
        moved = 2.0 * model.used_parameters(max(1.0, batch)) + batch * work.context * model.kv_bytes
        token = max(moved / bandwidth, batch * flops / compute)
        # Prefill of the other rollouts in the batch interrupts decoding.
        inside = work.sampled * token + max(1.0, batch) * prefill
        batch = (batch + slots * inside / (inside + work.env_seconds)) / 2.0
    return inside + work.env_seconds
