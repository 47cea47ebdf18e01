"""The torch engine, driven by `engine_speed.py` in the same way as `peers/vllm_engine.py`."""

import asyncio
import json
import sys
import time
from pathlib import Path

import torch

from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.engines.local.loading import load_checkpoint
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling
from hexathlon.tasks.seeding import generator_for


def requests(sequences: int, prompt: int, drawn: int) -> list[TokenRequest]:
    draw = generator_for("engine speed", sequences)
    return [
        TokenRequest(
            draw.integers(5, 1000, size=prompt).tolist(),
            TokenSampling(temperature=1.0, max_tokens=drawn, seed=number),
        )
        for number in range(sequences)
    ]


async def played(engine: LocalEngine, asked: list[TokenRequest]) -> list[TokenReply]:
    return await asyncio.gather(*(engine.generate(one) for one in asked))


def main() -> None:
    torch.set_num_threads(1)
    engine = LocalEngine(load_checkpoint(Path(sys.argv[1]), device="cpu").model, batch=64)
    print(json.dumps({"threads": torch.get_num_threads()}), flush=True)
    for line in sys.stdin:
        sequences, prompt, drawn, _ = map(int, line.split())
        asked = requests(sequences, prompt, drawn)
        started = time.perf_counter(), time.process_time()
        replies = asyncio.run(played(engine, asked))
        spent = time.perf_counter() - started[0], time.process_time() - started[1]
        total = sum(len(reply.ids) for reply in replies)
        assert total == sequences * drawn
        print(json.dumps({"wall": spent[0], "cpu": spent[1], "tokens": total}), flush=True)


if __name__ == "__main__":
    main()
