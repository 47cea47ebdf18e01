"""Processor time of a rollout's tokens with and without speculative decoding.

    python benchmarks/speculation.py --recipe sql-tiny --policy runs/sql-tiny/policy [--rounds 5]

The policy plays groups of training tasks once; its requests are recorded and then replayed, turn by
turn, at several numbers of concurrent sequences and by engines that propose at most 0, 4 and 8
tokens per pass. Each engine has one thread and replays everything once as a warm-up; then they
alternate. Every reply must equal the recorded one. Shown are the tokens per second of processor
time over those of plain decoding, as median and range of the rounds, and the shares of proposed
tokens that were accepted and of tokens that cost no pass of their own.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

import torch
from rollout_workload import RecordingEngine

from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.loading import load_checkpoint
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.training.recipe import load_recipe
from hexathlon.baselines.training.trainer import Trainer

SIZES = (1, 4, 16, 64)
LENGTHS = (0, 4, 8)


def recorded(recipe_name: str, policy: Path) -> RecordingEngine:
    """Return the requests of one step's rollouts, with their replies."""
    changes = {"rollout.groups": 8, "rollout.members": 8, "engine.invariant": True}
    recipe = load_recipe(recipe_name, {**changes, "rollout.concurrency": 64})
    checkpoint = load_checkpoint(policy, device="cpu")
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(recipe, checkpoint.model, checkpoint.tokenizer, make_env, Path(folder))
        parts = trainer.components
        engine = parts.opened.engine
        assert isinstance(engine, LocalEngine)
        recording = RecordingEngine(engine)
        parts.executor.agent.engine = recording  # type: ignore[assignment]
        plans = parts.generation.plans(parts.generation.tasks(0, 0), 0, 0)
        parts.complete(parts.collector.collect(plans))
        trainer.close()
    return recording


async def replayed(engine: LocalEngine, recording: RecordingEngine, concurrent: int) -> int:
    """Ask for all recorded replies again; return the number of tokens."""
    slots = asyncio.Semaphore(concurrent)

    async def episode(session: str) -> int:
        drawn = 0
        async with slots:
            pairs = zip(recording.asked[session], recording.drawn[session], strict=True)
            for request, ids in pairs:
                reply = await engine.generate(request)
                assert reply.ids == ids
                drawn += len(ids)
            engine.forget(session)
        return drawn

    return sum(await asyncio.gather(*map(episode, recording.asked)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--recipe", default="sql-tiny")
    options.add_argument("--policy", type=Path, required=True)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    torch.set_num_threads(1)
    recording = recorded(given.recipe, given.policy)
    findings = []
    for size in SIZES:
        engines = {
            length: LocalEngine(
                load_checkpoint(given.policy, device="cpu").model,
                batch=size, invariant=True, speculate=length,
            )
            for length in LENGTHS
        }  # fmt: skip
        rates: dict[int, list[float]] = {length: [] for length in LENGTHS}
        for number in range(given.rounds + 1):
            for length, engine in engines.items():
                asyncio.run(engine.clear())
                started = time.process_time()
                drawn = asyncio.run(replayed(engine, recording, size))
                if number:
                    rates[length].append(drawn / (time.process_time() - started))
        for length in LENGTHS[1:]:
            pairs = zip(rates[length], rates[0], strict=True)
            ratios = sorted(ahead / plain for ahead, plain in pairs)
            counts = engines[length].counts
            findings.append({
                "concurrent": size, "longest": length,
                "plain": round(statistics.median(rates[0])),
                "ratio": round(statistics.median(ratios), 2),
                "range": [round(ratios[0], 2), round(ratios[-1], 2)],
                "accepted": round(counts["accepted"] / max(counts["proposed"], 1), 3),
                "free": round(counts["accepted"] / counts["drawn"], 3),
            })  # fmt: skip
            if not given.json:
                print(findings[-1], flush=True)
    if given.json:
        print(json.dumps(findings))


if __name__ == "__main__":
    main()
