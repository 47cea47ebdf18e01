"""Speed of engine and learner on a GPU in bfloat16, and the drift of log-probabilities.

    python benchmarks/device_speed.py [--shape 0.6b] [--device cuda] [--peak 989e12]
    python benchmarks/device_speed.py --shape tiny --device cpu    smoke test

The model is a randomly initialised Qwen3 of the named shape. PEAK is the device's peak in bfloat16,
in floating-point operations per second without sparsity (H100 SXM: 989e12). Utilisation is the
fraction of it used, at 2 (sampling) or 6 (learning) operations per parameter and token: the
convention of Chowdhery et al. 2022 without the attention term.
"""

import argparse
import asyncio
import copy
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from engine_child import played
from measuring import Figure, print_findings
from trainer_steps import sample_of
from transformers import Qwen3Config, Qwen3ForCausalLM

from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.tokens.requests import TokenReply, TokenRequest, TokenSampling
from hexathlon.tasks.seeding import generator_for

SHAPES = {
    # vocabulary, width, layers, heads, key-value heads, size of a head, feed-forward
    "0.6b": (151_936, 1024, 28, 16, 8, 128, 3072),
    "1.7b": (151_936, 2048, 28, 16, 8, 128, 6144),
    "tiny": (512, 64, 2, 2, 1, 32, 128),
}


def model_of(shape: str, device: str) -> Any:
    """Return a model of a shape in single precision."""
    vocabulary, width, layers, heads, kv_heads, size, feed_forward = SHAPES[shape]
    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=vocabulary,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=size,
        intermediate_size=feed_forward,
        max_position_embeddings=4096,
        tie_word_embeddings=shape != "tiny",  # vLLM on a CPU takes no updates of tied ones
    )
    with torch.device(device):
        return Qwen3ForCausalLM(config).eval()


def requests(count: int, prompt: int, drawn: int, vocabulary: int) -> list[TokenRequest]:
    """Return requests with different prompts, each continued to the full length."""
    draw = generator_for("device speed", count, prompt)
    return [
        TokenRequest(
            draw.integers(0, vocabulary, size=prompt).tolist(),
            TokenSampling(max_tokens=drawn, seed=number),
        )
        for number in range(count)
    ]


def answers(engine: LocalEngine, asked: list[TokenRequest]) -> list[TokenReply]:
    """Return all replies, sampled concurrently."""
    return asyncio.run(played(engine, asked))


def seconds(device: str, work: Callable[[], object], times: int = 3) -> float:
    """Return the median time of a call, after one warm-up call."""
    result = []
    for number in range(times + 1):
        started = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        if number:
            result.append(time.perf_counter() - started)
    return statistics.median(result)


def example_of(request: TokenRequest, reply: TokenReply) -> Example:
    """Return a prompt with its reply as a training example."""
    sample = sample_of(request.ids, reply.ids, reply.log_probabilities)
    sign = 1.0 if reply.ids[0] % 2 else -1.0
    return Example(sample, np.where(sample.sampled, sign, 0.0), sample.sampled.astype(float))


def differences(first: list[float], second: list[float]) -> np.ndarray:
    """Return absolute differences of log-probabilities."""
    return np.abs(np.array(first) - np.array(second))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="0.6b")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--peak", type=float, default=989e12)
    parser.add_argument("--sequences", type=int, default=64)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--drawn", type=int, default=128)
    options = parser.parse_args()
    whole = model_of(options.shape, options.device)
    half = copy.deepcopy(whole).to(torch.bfloat16)
    count = sum(parameter.numel() for parameter in whole.parameters())
    asked = requests(options.sequences, options.prompt, options.drawn, whole.config.vocab_size)
    engine = LocalEngine(half, batch=options.sequences, rows=options.sequences)
    replies = answers(engine, asked)

    def draw() -> None:
        asyncio.run(engine.clear())
        answers(engine, asked)

    drawing = seconds(options.device, draw)
    drawn = sum(len(reply.ids) for reply in replies)
    passed = drawn + sum(len(one.ids) for one in asked)

    examples = [example_of(*pair) for pair in zip(asked, replies, strict=True)]
    config = LearnerConfig(
        objective=Objective(aggregation="token_mean"), precision="bfloat16", token_budget=16_384
    )
    scored = Learner(whole, config, 10).score(examples)
    exact = LocalEngine(whole).score(
        [[*o.ids, *r.ids] for o, r in zip(asked, replies, strict=True)]
    )
    sampler, autocast = [], []
    for one, reply, value, true in zip(asked, replies, scored, exact, strict=True):
        sampler.append(differences(reply.log_probabilities, true[len(one.ids) - 1 :]))
        autocast.append(differences(value[len(one.ids) :].tolist(), true[len(one.ids) - 1 :]))
    learner = Learner(whole.train(), config, 10)
    learning = seconds(options.device, lambda: learner.update(examples))
    learned = sum(len(example.sample.ids) for example in examples)

    print(f"{count:,} parameters, {options.sequences} sequences, {options.device}")
    result = [
        Figure("engine: tokens drawn", drawn / drawing, "/s"),
        Figure(
            "engine: utilisation, prompts included", 2 * count * passed / drawing / options.peak, ""
        ),
        Figure("learner: tokens learned", learned / learning, "/s"),
        Figure("learner: utilisation", 6 * count * learned / learning / options.peak, ""),
    ]
    for name, values in (("engine", sampler), ("learner", autocast)):
        joined = np.concatenate(values)
        result.append(Figure(f"{name}: mean distance from float32", float(joined.mean()), "nats"))
        result.append(Figure(f"{name}: largest distance", float(joined.max()), "nats"))
    print_findings(result)


if __name__ == "__main__":
    main()
