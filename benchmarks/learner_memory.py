"""Peak memory and time of updates by learners whose state is replicated on every rank or sharded.

    python benchmarks/learner_memory.py [--ranks 2] [--steps 3] [--checkpointing]

Every rank is a process with one thread. Memory is what a process uses beyond its size before the
model is created; the full policy, from which an engine in the process samples, is included where
the rank keeps it. The model is a Qwen3 of about 26 million parameters.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measuring import Figure, print_findings

from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.distributed.launch import join, leave
from hexathlon.baselines.distributed.sharding import Sharded
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.learner.ranks import ALONE
from hexathlon.tasks.seeding import generator_for

VOCABULARY, LENGTH, EXAMPLES = 512, 128, 8
KINDS = ("replicated", "sharded", "sharded, no whole policy")
MEBI = 1 << 20


def make_model() -> Any:
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=VOCABULARY,
            hidden_size=512,
            intermediate_size=1536,
            num_hidden_layers=8,
            num_attention_heads=8,
            num_key_value_heads=4,
            head_dim=64,
            max_position_embeddings=512,
            tie_word_embeddings=True,
        )
    )


def make_examples(count: int) -> list[Example]:
    draw = generator_for("learner memory", count)
    sampled = np.arange(LENGTH) >= LENGTH // 4
    made = []
    for number in range(count):
        sample = Sample(
            ids=draw.integers(0, VOCABULARY, size=LENGTH),
            sampled=sampled,
            observed=np.zeros(LENGTH, dtype=bool),
            behaviour=np.where(sampled, -6.0, 0.0),
            turn=np.where(sampled, 0, -1),
            rewards=(float(number % 2),),
        )
        made.append(Example(sample, sampled * (number % 2 - 0.5), sampled.astype(np.float64)))
    return made


def resident() -> float:
    """Return the resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / MEBI


class Peak:
    """Samples the resident memory in a thread; the largest value is `value`."""

    def __init__(self) -> None:
        self.start = self.value = resident()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.005):
            self.value = max(self.value, resident())

    def end(self) -> float:
        self._ended.set()
        self._thread.join()
        return self.value - self.start


def rank(number: int, count: int, store: str, kind: str, steps: int, recompute: bool) -> None:
    """Make the updates of one rank; the first prints its figures."""
    torch.set_num_threads(1)
    ranks = join(Path(store), number, count) if count > 1 else ALONE
    share = ranks.share(make_examples(EXAMPLES))
    started = Peak()
    model = make_model().train()
    config = LearnerConfig(token_budget=4 * LENGTH, checkpointing=recompute)
    parallelism = Sharded(ranks, keeps=kind == "sharded") if kind != "replicated" else None
    learner = Learner(model, config, steps + 1, ranks=ranks, parallelism=parallelism)
    learner.update(share)
    made = started.end()
    steady, cpu, wall = Peak(), time.process_time(), time.perf_counter()
    base = steady.start - started.start
    for _ in range(steps):
        learner.update(share)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    figures = {"peak": base + steady.end(), "first": made, "cpu": cpu / steps, "wall": wall / steps}
    every = ranks.joined([figures])
    if ranks.first:
        largest = {name: max(row[name] for row in every) for name in figures}
        largest["parameters"] = float(sum(p.numel() for p in learner.model.parameters()))
        print(json.dumps(largest))
    if count > 1:
        leave()


def measured(kind: str, options: argparse.Namespace) -> dict[str, float]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        more = [f"{folder}/store", kind, str(options.steps), str(int(options.checkpointing))]
        command = [sys.executable, __file__, "rank"]
        ranks = [
            subprocess.Popen(
                [*command, str(number), str(options.ranks), *more],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(options.ranks)
        ]
        outputs = [process.communicate(timeout=1_200.0)[0] for process in ranks]
    if any(process.returncode for process in ranks):
        raise RuntimeError(f"a rank of the {kind} learner failed; its error is above")
    result: dict[str, float] = json.loads(outputs[0].strip().rpartition("\n")[2])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--checkpointing", action="store_true")
    options = parser.parse_args()
    figures = []
    for kind in KINDS:
        result = measured(kind, options)
        figures += [
            Figure(f"{kind}: peak of a rank, updates", result["peak"], "MiB"),
            Figure(f"{kind}: peak of a rank, with its start", result["first"], "MiB"),
            Figure(f"{kind}: CPU of a rank per update", result["cpu"], "s"),
            Figure(f"{kind}: time per update", result["wall"], "s"),
        ]
    figures.append(Figure("parameters in float32", result["parameters"] * 4 / MEBI, "MiB"))
    print_findings(figures)


if __name__ == "__main__":
    if sys.argv[1:2] == ["rank"]:
        given = sys.argv[2:]
        rank(int(given[0]), int(given[1]), given[2], given[3], int(given[4]), given[5] == "1")
    else:
        main()
