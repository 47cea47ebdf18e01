"""Times GRPO steps on the trainer workload; prints one JSON line.

    python trainer_steps.py steps THREADS STEPS [RANKS]    whole steps
    python trainer_steps.py agree FOLDER                   the peer's first step, computed by ours

A step is one of the training loop: the engine continues 8 prompts 8 times, rewards are
group-relative, the learner makes one update, the engine loads the new weights. With several ranks,
each is a process that plays and learns its share of the groups.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import trainer_workload as work

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.baselines.distributed.collectives import DistributedRanks
from hexathlon.baselines.distributed.transports import InProcessTransport
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling
from hexathlon.tasks.seeding import derive_seed, generator_for


def learner_of(model: Any, steps: int, ranks: Ranks = ALONE) -> Learner:
    """Return TRL's defaults: DAPO average, clip 0.2, linear AdamW decay, gradient clipping at 1."""
    optimiser = OptimiserConfig(
        learning_rate=work.LEARNING_RATE, betas=(0.9, 0.999), clip=1.0, decay="linear"
    )
    config = LearnerConfig(optimiser, Objective(aggregation="token_mean"))
    return Learner(model, config, steps, ranks=ranks)


def sample_of(prompt: list[int], ids: list[int], logs: list[float]) -> Sample:
    """Return a prompt with its completion as one turn."""
    drawn = np.arange(len(prompt) + len(ids)) >= len(prompt)
    behaviour = np.zeros(len(drawn))
    behaviour[len(prompt) :] = logs
    return Sample(
        ids=np.array([*prompt, *ids]),
        sampled=drawn,
        observed=np.zeros(len(drawn), dtype=bool),
        behaviour=behaviour,
        turn=np.where(drawn, 0, -1),
        rewards=(work.reward(work.decoded(ids)),),
    )


async def completions(
    engine: LocalEngine, chosen: list[tuple[int, str]], step: int
) -> list[TokenReply]:
    """Continue each prompt once for every member."""
    return await asyncio.gather(
        *(
            engine.generate(
                TokenRequest(
                    work.encoded(prompt),
                    TokenSampling(
                        max_tokens=work.COMPLETION,
                        seed=derive_seed("trainer speed", step, number, member) % 2**31,
                    ),
                )
            )
            for number, prompt in chosen
            for member in range(work.MEMBERS)
        )
    )


def examples(groups: list[Group], eps: float) -> list[Example]:
    credit = ESTIMATORS["grpo"](groups, eps=eps)
    samples = [sample for group in groups for sample in group.samples]
    return [Example(*row) for row in zip(samples, credit.advantages, credit.weights, strict=True)]


def steps(threads: int, count: int, ranks: Ranks = ALONE) -> dict[str, list[float]]:
    """Time whole steps, and sampling and update within each."""
    torch.set_num_threads(threads)
    model = work.make_model()
    size = work.GROUPS * work.MEMBERS
    engine = LocalEngine(model, batch=size, rows=size)
    transport = InProcessTransport(engine)
    learner = learner_of(model, count, ranks)
    spent: dict[str, list[float]] = {k: [] for k in ("wall_s", "cpu_s", "generate_s", "work_s")}
    for step in range(count):
        started, cpu = time.perf_counter(), time.process_time()
        draw = generator_for("trainer speed", step)
        every = [work.prompts()[int(n)] for n in draw.permutation(256)[: work.GROUPS]]
        chosen = ranks.share(list(enumerate(every)))
        replies = asyncio.run(completions(engine, chosen, step))
        drawn = time.perf_counter()
        made = [
            sample_of(
                work.encoded(chosen[number // work.MEMBERS][1]), reply.ids, reply.log_probabilities
            )
            for number, reply in enumerate(replies)
        ]
        groups = [
            Group(prompt, tuple(made[number * work.MEMBERS : (number + 1) * work.MEMBERS]))
            for number, (_, prompt) in enumerate(chosen)
        ]
        model.train()
        learner.update(examples(groups, 1e-4))
        model.eval()
        asyncio.run(transport.publish(model, step + 1))
        ended = time.perf_counter()
        spent["wall_s"].append(ended - started)
        spent["cpu_s"].append(time.process_time() - cpu)
        spent["generate_s"].append(drawn - started)
        spent["work_s"].append(ended - drawn)
    assert all(sample.tokens == work.COMPLETION for sample in made)
    return spent


def agree(folder: Path) -> dict[str, float]:
    """Return maximum differences from the peer's advantages, loss and gradient on one batch."""
    kept = torch.load(folder / "first.pt", weights_only=False)
    model = work.make_model()
    prompts, answers = kept["prompt_ids"].tolist(), kept["completion_ids"].tolist()
    made = []
    for prompt, answer, mask in zip(prompts, answers, kept["completion_mask"], strict=True):
        ids = answer[: int(mask.sum())]
        made.append(sample_of(prompt, ids, [0.0] * len(ids)))
    # The peer's sampler repeats each prompt for its members, and shuffles within the step.
    by_prompt: dict[tuple[int, ...], list[int]] = {}
    for number, prompt in enumerate(prompts):
        by_prompt.setdefault(tuple(prompt), []).append(number)
    groups = [Group(str(k), tuple(made[n] for n in ns)) for k, ns in by_prompt.items()]
    order = [number for numbers in by_prompt.values() for number in numbers]
    batch = examples(groups, 1e-4)
    ours = np.array([example.advantage[example.sample.sampled][0] for example in batch])
    learner = learner_of(model, 10)
    learner.optimisers.step = lambda: (0.0, 0.0)  # type: ignore[method-assign]
    metrics = learner.update(batch)
    result = torch.cat([p.grad.flatten() for p in model.parameters()])
    expected = torch.cat(
        [kept["gradients"][name].flatten() for name, _ in model.named_parameters()]
    )
    return {
        "advantage": float(np.abs(ours - kept["advantages"].numpy()[order]).max()),
        "loss": abs(metrics["loss/policy"] - float(kept["loss"])),
        "gradient": float((result - expected).norm() / expected.norm()),
    }


def ranks(threads: int, count: int, size: int) -> dict[str, list[float]]:
    """Time whole steps of `size` processes; the times are those of the first one."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        command = [sys.executable, __file__, "rank", str(threads), str(count), str(size)]
        others = [subprocess.Popen([*command, str(n), str(store)]) for n in range(1, size)]
        try:
            return joined_steps(threads, count, size, 0, store)
        finally:
            for process in others:
                process.wait(60.0)


def joined_steps(
    threads: int, count: int, size: int, rank: int, store: Path
) -> dict[str, list[float]]:
    """Run the steps of one rank."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    shared = dist.FileStore(str(store), size)
    dist.init_process_group("gloo", store=shared, rank=rank, world_size=size)
    try:
        return steps(threads, count, DistributedRanks())
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    mode, *given = sys.argv[1:]
    if mode == "agree":
        print(json.dumps(agree(Path(given[0]))))
    elif mode == "rank":
        joined_steps(*map(int, given[:4]), store=Path(given[4]))
    elif len(given) > 2 and int(given[2]) > 1:
        print(json.dumps(ranks(*map(int, given))))
    else:
        print(json.dumps(steps(int(given[0]), int(given[1]))))
