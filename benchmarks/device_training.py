"""Training steps, weight transfers and memory on GPUs, from random weights.

    python benchmarks/device_training.py [--shape 0.6b] [--device cuda] [--engine-device cuda:1]
    python benchmarks/device_training.py --vllm [--transfer nccl] [--sleep]    with a vLLM server
    python benchmarks/device_training.py --shape tiny --device cpu --steps 2    smoke test

Layouts of a step, on the event of `signals.py` without sleeps:

* shared: the engine samples from the learner's model, in float32.
* apart: the engine has its own copy, on a GPU in bfloat16, on ENGINE-DEVICE (by default the
  learner's).
* asynchronous: the same, with rollouts that continue while the learner updates.

With `--vllm` the engine is a server in every layout, which shares the learner's GPU unless
CUDA_VISIBLE_DEVICES of its interpreter says otherwise. A transfer includes its verification; the
plain copy of the same tensors is the bound. Utilisation is that of `device_speed.py`, at 8
operations per parameter and token of a rollout, which is sampled once and trained on once.
"""

import argparse
import asyncio
import copy
import gc
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import signals
import torch
from device_speed import SHAPES, model_of
from measuring import Figure, print_findings
from signals import TURNS, WORDS, SignalsEnv

from hexathlon.baselines.distributed.transports import (
    BroadcastTransport,
    FolderTransport,
    InProcessTransport,
    WeightTransport,
)
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.loading import load_checkpoint
from hexathlon.baselines.engines.served.launched import LaunchedEngine
from hexathlon.baselines.engines.served.settings import VllmSettings
from hexathlon.baselines.engines.tokens import TokenEngine
from hexathlon.baselines.training.backend import InProcess
from hexathlon.baselines.training.engines import OpenedEngine
from hexathlon.baselines.training.recipe import Recipe, recipe_of
from hexathlon.baselines.training.trainer import Trainer
from hexathlon.baselines.warmstart.initial import make_tokenizer, save_policy

TOLERANCE = 0.3
"""Of log-probabilities in bfloat16."""


class Apart(InProcess):
    """A backend whose engine samples from a copy of the policy.

    Args:
        device: The copy's device.
    """

    def __init__(self, device: str) -> None:
        self._device = device

    async def open_engine(
        self, recipe: Recipe, model: Any, checkpoint: Path, folder: Path
    ) -> OpenedEngine:
        """Open the engine; see `TrainingBackend.open_engine`."""
        engine = engine_apart(model, self._device, recipe.rollout.concurrency)
        return OpenedEngine(engine, InProcessTransport(engine, TOLERANCE))


def engine_apart(model: Any, device: str, batch: int) -> LocalEngine:
    """Return an engine with a copy of a model, on a GPU in bfloat16."""
    kind = torch.float32 if device == "cpu" else torch.bfloat16
    copied = copy.deepcopy(model).to(device, kind).requires_grad_(False).eval()
    return LocalEngine(copied, batch=batch, rows=batch)


def recipe(options: Any, checkpoint: Path, asynchronous: bool) -> Recipe:
    """Return the recipe of a layout."""
    served: dict[str, Any] = {}
    if options.vllm:
        memory = [] if options.device == "cpu" else ["--gpu-memory-utilization=0.4"]
        served = {"kind": "vllm", "transfer": options.transfer, "more": memory}
        served |= {"sleep": options.sleep and not asynchronous, "tolerance": TOLERANCE}
        served |= {"ready_within": 900.0}
    return recipe_of(
        {
            "name": "device-training",
            "steps": options.steps,
            "tasks": {"env": signals.ENV, "source": "signals", "level": "easy", "turns": TURNS},
            "policy": {"checkpoint": str(checkpoint)},
            "rollout": {
                "groups": options.groups,
                "members": 8,
                "max_tokens": options.drawn,
                "concurrency": 8 * options.groups,
            },
            "engine": served,
            "learn": {
                "optimiser": {"learning_rate": 1e-6},
                "precision": "float32" if options.device == "cpu" else "bfloat16",
                "token_budget": 16_384,
            },
            "asynchrony": {"staleness": 1, "ratio": "none"} if asynchronous else {},
            "evaluation": {"tasks": 1},
        }
    )


@contextmanager
def measured_memory(device: str) -> Iterator[Callable[[], float]]:
    """Yield a function that returns a block's peak memory in GB, of the GPUs or of the process."""
    gc.collect()
    if device != "cpu":
        for number in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(number)

    def peak() -> float:
        if device == "cpu":
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
        count = torch.cuda.device_count()
        return sum(torch.cuda.max_memory_allocated(number) for number in range(count)) / 1e9

    yield peak
    gc.collect()
    if device != "cpu":
        torch.cuda.empty_cache()


def trained(options: Any, layout: str, checkpoint: Path, folder: Path) -> list[Figure]:
    """Train in one layout; the first step warms up and is not counted."""
    chosen = recipe(options, checkpoint, layout == "asynchronous")
    with measured_memory(options.device) as peak:
        loaded = load_checkpoint(checkpoint, dtype="float32", device=options.device)
        backend = InProcess()
        if layout != "shared" and not options.vllm:
            backend = Apart(options.engine_device)
        run = Trainer(
            chosen,
            loaded.model,
            loaded.tokenizer,
            lambda _: SignalsEnv(),
            folder / layout,
            backend=backend,
        )
        try:
            run.resume()
            run.advance()
            began = time.perf_counter()
            rows = [run.advance() for _ in range(options.steps - 1)]
            seconds = time.perf_counter() - began
        finally:
            run.close()
        rollouts = options.groups * 8 * len(rows)
        tokens = statistics.mean(row["tokens/all"] for row in rows) * rollouts
        drawn = sum(row["tokens/drawn"] for row in rows)
        work = 8 * parameters_of(loaded.model) * tokens
        return [
            Figure(f"{layout}: step", seconds / len(rows), "s"),
            Figure(
                f"{layout}: of which collecting",
                statistics.mean(row["seconds/collect"] for row in rows),
                "s",
            ),
            Figure(
                f"{layout}: of which learning",
                statistics.mean(row["seconds/learn"] for row in rows),
                "s",
            ),
            Figure(f"{layout}: tokens drawn", drawn / seconds, "/s"),
            Figure(f"{layout}: utilisation", work / seconds / options.peak),
            Figure(f"{layout}: peak memory", peak(), "GB"),
        ]


def parameters_of(model: Any) -> int:
    """Return the number of a model's parameters."""
    return sum(parameter.numel() for parameter in model.parameters())


def timed(device: str, work: Callable[[], object], times: int = 5) -> float:
    """Return the median time of a call, after one warm-up call."""
    seconds = []
    for _ in range(times + 1):
        began = time.perf_counter()
        work()
        if device != "cpu":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[1:])


def transfers(options: Any, checkpoint: Path, folder: Path) -> list[Figure]:
    """Time the transfer of weights from a learner to an engine, and a plain copy of them."""
    model = load_checkpoint(checkpoint, dtype="float32", device=options.device).model
    sent, bound = plain_copy(model, options)
    with asyncio.Runner() as runner:
        engine, transport = runner.run(opened(options, model, checkpoint, folder))
        version = iter(range(1, 1_000))

        def publish() -> None:
            runner.run(transport.publish(model, next(version)))

        try:
            whole = timed(options.device, publish)
            result = [
                Figure("plain copy", sent / bound / 1e9, "GB/s"),
                Figure("transfer", whole, "s"),
                Figure("transfer, verified", sent / whole / 1e9, "GB/s"),
                Figure("transfer / plain copy, in bandwidth", bound / whole),
            ]
            if options.vllm and options.sleep:
                began = time.perf_counter()
                runner.run(engine.sleep())
                asleep = time.perf_counter()
                publish()
                result.append(Figure("falling asleep", asleep - began, "s"))
                result.append(Figure("waking with weights", time.perf_counter() - asleep, "s"))
            return result
        finally:
            runner.run(engine.close())
            runner.run(transport.close())


def plain_copy(model: Any, options: Any) -> tuple[int, float]:
    """Return the bytes of an engine's weights, and the time in which a copy of them is written."""
    kind = torch.float32 if options.engine_device == "cpu" else torch.bfloat16
    place = [
        torch.empty_like(weight, dtype=kind, device=options.engine_device)
        for weight in model.parameters()
    ]

    def copied() -> None:
        for target, weight in zip(place, model.parameters(), strict=True):
            target.copy_(weight.detach())

    sent = sum(target.numel() * target.element_size() for target in place)
    return sent, timed(options.device, copied)


async def opened(
    options: Any, model: Any, checkpoint: Path, folder: Path
) -> tuple[Any, WeightTransport]:
    """Return the engine that receives weights, and its transport."""
    if not options.vllm:
        engine: TokenEngine = engine_apart(model, options.engine_device, 8)
        return engine, InProcessTransport(engine, TOLERANCE)
    gpu = options.device != "cpu"
    settings = VllmSettings(
        2048,
        64,
        dtype="bfloat16" if gpu else "float32",
        ready_within=900.0,
        receives=options.transfer if options.transfer != "folder" else "",
        sleeps=options.sleep,
        whole_prompts=not gpu,
        eager=not gpu,
        more=("--gpu-memory-utilization=0.4",) if gpu else (),
    )
    served = LaunchedEngine(checkpoint, folder / "vllm.log", settings)
    await served.start()
    if options.transfer == "folder":
        return served, FolderTransport(served, folder, TOLERANCE)
    return served, BroadcastTransport(served, options.transfer, 1, TOLERANCE)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--shape", choices=sorted(SHAPES), default="0.6b")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--engine-device", default="")
    parser.add_argument("--peak", type=float, default=989e12)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--drawn", type=int, default=128)
    parser.add_argument("--vllm", action="store_true")
    parser.add_argument("--transfer", choices=("folder", "gloo", "nccl"), default="folder")
    parser.add_argument("--sleep", action="store_true")
    options = parser.parse_args()
    options.engine_device = options.engine_device or options.device
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        checkpoint = folder / "policy"
        texts = [f"Press keys. Signal {word}: press its key." for word in WORDS]
        save_policy(checkpoint, model_of(options.shape, options.device), make_tokenizer(texts, 300))
        layouts = (
            ("shared", "asynchronous") if options.vllm else ("shared", "apart", "asynchronous")
        )
        for layout in layouts:
            print_findings(trained(options, layout, checkpoint, folder))
        print_findings(transfers(options, checkpoint, folder))


if __name__ == "__main__":
    main()
