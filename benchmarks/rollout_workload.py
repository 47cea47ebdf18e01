"""Times rollouts on SQL, and the engine alone on the same requests; prints one JSON line.

The requests of a rollout are recorded turn by turn. Replayed, they request the same tokens from the
same engine, without environment, chat template or trajectory.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch

from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest
from hexathlon.baselines.training.recipe import load_recipe
from hexathlon.baselines.training.trainer import Trainer
from hexathlon.baselines.warmstart.demonstrations import Demonstrator, transcript
from hexathlon.baselines.warmstart.initial import make_model, make_tokenizer
from hexathlon.tasks.registry import get_source

ROUNDS = 3
CHANGES = {
    "clone.demonstrations": 0,
    "rollout.groups": 1,
    "rollout.members": 8,
    "rollout.max_tokens": 32,
    "rollout.concurrency": 8,
}


class RecordingEngine:
    """An engine that records its requests and replies."""

    def __init__(self, engine: LocalEngine) -> None:
        self.engine = engine
        self.asked: dict[str, list[TokenRequest]] = defaultdict(list)
        self.drawn: dict[str, list[list[int]]] = defaultdict(list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    async def generate(self, request: TokenRequest) -> TokenReply:
        reply = await self.engine.generate(request)
        self.asked[request.session].append(request)
        self.drawn[request.session].append(reply.ids)
        return reply


async def replay(engine: LocalEngine, recorded: RecordingEngine) -> None:
    async def episode(session: str) -> None:
        for request, ids in zip(recorded.asked[session], recorded.drawn[session], strict=True):
            reply = await engine.generate(request)
            assert reply.ids == ids
        engine.forget(session)

    await asyncio.gather(*(episode(session) for session in recorded.asked))


def main(threads: int) -> None:
    torch.set_num_threads(threads)
    recipe = load_recipe("sql-tiny", CHANGES)
    spent: dict[str, list[float]] = defaultdict(list)
    table = recipe.tasks[0]
    source = get_source(table.source)
    addresses = [source.address("train", number, "tiny") for number in range(6)]
    with Demonstrator(table.env, make_env, recipe.clone.noise) as demonstrator:
        played = [demonstrator.demonstrate(address) for address in addresses]
    messages = [m for one in played for m in transcript(one, recipe.policy.dialect)]
    shape = recipe.policy.shape
    texts = [message["content"] for message in messages]
    tokenizer = make_tokenizer(texts, shape.vocabulary, shape.phrases)
    model = make_model(shape, len(tokenizer), 0).eval()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(recipe, model, tokenizer, make_env, Path(folder))
        parts = trainer.components
        engine: Any = parts.opened.engine
        plans = parts.generation.plans(parts.generation.tasks(0, 0), 0, 0)
        parts.complete(parts.collector.collect(plans))  # builds the tasks
        for number in range(ROUNDS):
            recording = RecordingEngine(engine)
            parts.executor.agent.engine = recording  # type: ignore[assignment]
            before = engine.counts
            parts.complete(engine.clear())
            wall, cpu = time.perf_counter(), time.process_time()
            parts.complete(parts.collector.collect([plan._replace(seed=number) for plan in plans]))
            spent["rollout_wall_s"].append(time.perf_counter() - wall)
            spent["rollout_cpu_s"].append(time.process_time() - cpu)
            between = engine.counts
            parts.complete(engine.clear())
            wall, cpu = time.perf_counter(), time.process_time()
            asyncio.run(replay(engine, recording))
            spent["engine_wall_s"].append(time.perf_counter() - wall)
            spent["engine_cpu_s"].append(time.process_time() - cpu)
            after = engine.counts
            for name in ("drawn", "read"):  # the same tokens were drawn and read
                assert after[name] - between[name] == between[name] - before[name] > 0
                spent[name].append(between[name] - before[name])
        trainer.close()
    print(json.dumps(spent))


if __name__ == "__main__":
    main(int(sys.argv[1]))
