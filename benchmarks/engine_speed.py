"""Throughput of the torch engine compared with vLLM's own engine on a CPU, in one run.

    python benchmarks/engine_speed.py --peer .venv-vllm/bin/python [--rounds 5] [--eager] [--json]

Both load the same checkpoint once (3 million parameters, Qwen3 architecture, float32) and alternate
on the same work: prompts of 200 tokens, each continued by 128 tokens sampled at temperature 1 with
log-probabilities, with 1, 16 and 64 concurrent sequences. One thread each. vLLM runs in process,
compiled (with `--eager`, not), without a prefix cache. Its requests have seeds, without which a
reply depends on the rest of the batch; its speed without seeds is printed too. Ours decodes with
compiled kernels where they run. The first round of each size is a warm-up and does not count.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple, Self

from comparing import add_options, compare, print_rows
from measuring import Figure, print_findings, ratio_of_pairs

from hexathlon.baselines.warmstart.initial import (
    ModelShape,
    make_model,
    make_tokenizer,
    save_policy,
)

HERE = Path(__file__).parent
LEAST = {1: 2.0, 16: 1.3, 64: 1.2}
"""Number of concurrent sequences, with the target ratio."""

PROMPT, DRAWN = 200, 128


class Rate(NamedTuple):
    """Tokens per second."""

    clock: float
    processor: float


class Child:
    """An engine in a separate process, driven by requests on its standard input."""

    def __init__(self, *command: str | Path) -> None:
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.threads = self._result()["threads"]

    def work(self, sequences: int, *, seeded: bool = True) -> Rate:
        """Continue a number of prompts."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{sequences} {PROMPT} {DRAWN} {int(seeded)}\n")
        self._process.stdin.flush()
        result = self._result()
        return Rate(result["tokens"] / result["wall"], result["tokens"] / result["cpu"])

    def _result(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if line.startswith("{"):
                result: dict[str, Any] = json.loads(line)
                return result
        self._errors.seek(0)
        raise RuntimeError(f"an engine exited: {self._errors.read().decode()[-2000:]}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def checkpoint(place: Path) -> Path:
    """Write an untrained policy of 3 million parameters."""
    shape = ModelShape(width=192, layers=6, heads=6, kv_heads=2, feed_forward=576)
    tokenizer = make_tokenizer(
        [f"{n} words of every kind, {n * n} of them" for n in range(400)], 1024
    )
    model = make_model(shape, 1024, 0)
    print(f"{sum(part.numel() for part in model.parameters()):,} parameters", file=sys.stderr)
    save_policy(place, model, tokenizer)
    return place


def measure(ours: Child, peer: Child, repetitions: int) -> dict[tuple[str, int], list[Rate]]:
    """Run both engines alternately."""
    result: dict[tuple[str, int], list[Rate]] = defaultdict(list)
    for sequences in LEAST:
        for turn in range(repetitions + 1):
            rates = {
                "torch engine": ours.work(sequences),
                "vLLM": peer.work(sequences),
                "vLLM without seeds": peer.work(sequences, seeded=False),
            }
            for name, rate in rates.items() if turn else ():
                result[name, sequences].append(rate)
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--peer", required=True, help="Python of an environment with vLLM")
    parser.add_argument("--rounds", "--repetitions", dest="repetitions", type=int, default=5)
    parser.add_argument("--eager", action="store_true", help="run vLLM without compilation")
    add_options(parser, rounds=None)
    arguments = parser.parse_args()
    mode = "eager" if arguments.eager else "compiled"
    with tempfile.TemporaryDirectory() as folder:
        place = checkpoint(Path(folder) / "policy")
        with (
            Child(sys.executable, HERE / "engine_child.py", place) as ours,
            Child(arguments.peer, HERE / "peers" / "vllm_engine.py", place, mode) as peer,
        ):
            print(f"threads: {ours.threads} and {peer.threads}", file=sys.stderr)
            result = measure(ours, peer, arguments.repetitions)
    findings = []
    for sequences, least in LEAST.items():
        for name in ("torch engine", "vLLM", "vLLM without seeds"):
            best = max(rate.clock for rate in result[name, sequences])
            findings.append(Figure(f"{name}, {sequences} concurrent, best", best, "tokens/s"))
        for name in ("vLLM", "vLLM without seeds"):
            for by in ("clock", "processor"):
                ours_by, peer_by = (
                    [getattr(rate, by) for rate in result[who, sequences]]
                    for who in ("torch engine", name)
                )
                bound = least if name == "vLLM" else None
                ratio = ratio_of_pairs(ours_by, peer_by)
                findings.append(Figure(f" over {name}, by {by} time", ratio, "x", least=bound))
    print_findings(findings)
    if arguments.json:
        print_rows(
            compare(
                f"engine: {sequences} concurrent",
                "tokens/s",
                *(
                    [rate.clock for rate in result[who, sequences]]
                    for who in ("torch engine", "vLLM")
                ),
                beside=f"vLLM, {mode}",
                least=least,
                rate=True,
            )
            for sequences, least in LEAST.items()
        )


if __name__ == "__main__":
    main()
