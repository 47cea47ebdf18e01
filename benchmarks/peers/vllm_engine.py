"""vLLM's own engine in this process, driven by `engine_speed.py`.

    python vllm_engine.py CHECKPOINT compiled|eager

Each line of input, `SEQUENCES PROMPT DRAWN SEEDED`, is answered with a line of JSON: wall-clock and
CPU seconds. Tokens are sampled at temperature 1 with their log-probabilities.
"""

import json
import os
import random
import sys
import time

EAGER = sys.argv[2] == "eager"
for name, value in {
    "OMP_NUM_THREADS": "1",
    "TORCHDYNAMO_DISABLE": str(int(EAGER)),
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
}.items():
    os.environ.setdefault(name, value)

import torch
from vllm import LLM, SamplingParams


def main() -> None:
    torch.set_num_threads(1)
    engine = LLM(
        model=sys.argv[1],
        dtype="float32",
        enforce_eager=EAGER,
        logprobs_mode="processed_logprobs",
        max_num_seqs=64,
        enable_prefix_caching=False,
        # Chunked prefill fails on the CPU for seeded requests.
        enable_chunked_prefill=False,
        max_num_batched_tokens=16_384,
    )
    print(json.dumps({"threads": torch.get_num_threads()}), flush=True)
    for line in sys.stdin:
        sequences, prompt, drawn, seeded = map(int, line.split())
        draw = random.Random(sequences)
        prompts = [
            {"prompt_token_ids": [draw.randrange(5, 1000) for _ in range(prompt)]}
            for _ in range(sequences)
        ]
        settings = [
            SamplingParams(
                temperature=1.0,
                max_tokens=drawn,
                ignore_eos=True,
                logprobs=0,
                detokenize=False,
                seed=number if seeded else None,
            )
            for number in range(sequences)
        ]
        started = time.perf_counter(), time.process_time()
        outputs = engine.generate(prompts, settings, use_tqdm=False)
        spent = time.perf_counter() - started[0], time.process_time() - started[1]
        total = sum(len(output.outputs[0].token_ids) for output in outputs)
        assert total == sequences * drawn
        print(json.dumps({"wall": spent[0], "cpu": spent[1], "tokens": total}), flush=True)


if __name__ == "__main__":
    main()
