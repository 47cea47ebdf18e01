"""Runs inspect_ai on a mock model; prints one JSON line: CPU, wall, peak memory, log size.

Workloads: `one` is a single turn scored by match; `ten` is ten calls of an `add` tool, then the
answer (eleven model calls). Executed by the peer's own interpreter: `python inspect_trials.py
one 200 realtime|faster`, where `faster` logs without the database that shows a run while it goes on
and writes samples in batches of 100. Two trials are played before the clock starts.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

CALLS = 10


@tool
def add():
    async def execute(x: int, y: int) -> int:
        """Add two numbers.

        Args:
            x: First number.
            y: Second number.
        """
        return x + y

    return execute


def reply(messages, tools, tool_choice, config):
    done = sum(message.role == "assistant" for message in messages)
    if tools and done < CALLS:
        output = ModelOutput.for_tool_call("mockllm/model", "add", {"x": done, "y": done + 1})
    else:
        output = ModelOutput.from_content("mockllm/model", "ANSWER: 4")
    output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
    return output


def play(kind, count, logging, folder=None):
    """Evaluate a number of samples; return the log."""
    if folder is None:
        with tempfile.TemporaryDirectory() as warm:
            return play(kind, count, logging, warm)
    samples = [Sample(input=f"What is 2 + 2? ({i})", target="4") for i in range(count)]
    solver = [generate()] if kind == "one" else [use_tools(add()), generate(tool_calls="loop")]
    task = Task(dataset=MemoryDataset(samples), solver=solver, scorer=match())
    model = get_model("mockllm/model", custom_outputs=reply)
    faster = {"log_realtime": False, "log_buffer": 100} if logging == "faster" else {}
    (log,) = eval(task, model=model, display="none", log_dir=folder, log_format="eval", **faster)
    return log


def main() -> None:
    kind, count, logging = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    play(kind, 2, logging)
    with tempfile.TemporaryDirectory() as folder:
        cpu, wall = time.process_time(), time.perf_counter()
        log = play(kind, count, logging, folder)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        size = sum(file.stat().st_size for file in Path(folder).rglob("*")) / 2**20
    assert log.status == "success" and log.results.scores[0].metrics["accuracy"].value == 1
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    said = {"trials": count, "cpu_s": cpu, "wall_s": wall, "peak_mb": peak, "log_mb": size}
    print(json.dumps(said))


main()
