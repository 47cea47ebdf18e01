"""Plays the harness workload once and prints one JSON line: CPU, wall, peak memory, log size.

    python benchmarks/harness_trials.py one|ten TRIALS script|model

`script` is `hexathlon eval agent:oracle`; `model` is the agent for language models, twenty trials
at once on an event loop, in front of an engine that replies at once. Two trials are played before
the clock starts.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

import add_workload

from hexathlon.baselines.agents.llm import LlmAgent
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.models import OpenedModel
from hexathlon.baselines.harness.run import evaluate
from hexathlon.evaluators.records import read_records


def peak_mb() -> float:
    """Return the peak resident memory of this process."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def opened(kind: str) -> OpenedModel | None:
    """Return the mock model, or None for the script."""
    if kind == "script":
        return None
    agent = LlmAgent(add_workload.MockEngine(), get_codec("openai"))
    return OpenedModel(agent, {"kind": "mock", "name": "mock", "place": ""}, None)


def main() -> None:
    """Play the workload, check every record, and print the figures."""
    kind, count, agent = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    config = EvalConfig(
        model="agent:oracle", envs=("bench/Add-v0",), taskset=f"add-{kind}", tasks=count
    )
    with tempfile.TemporaryDirectory() as folder:
        few = config.model_copy(update={"tasks": 2})
        evaluate(few, ExecutionConfig(), Path(folder) / "run", model=opened(agent))
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        cpu, wall = time.process_time(), time.perf_counter()
        evaluate(config, ExecutionConfig(), run, model=opened(agent))
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        peak = peak_mb()
        size = sum(file.stat().st_size for file in run.iterdir()) / 2**20
        turns = [record["turns"] for record in read_records(run) if record["reward"] == 1.0]
    assert turns == [add_workload.CALLS[kind] + 1] * count, "every trial must pass"
    print(
        json.dumps({"trials": count, "cpu_s": cpu, "wall_s": wall, "peak_mb": peak, "log_mb": size})
    )


if __name__ == "__main__":
    main()
