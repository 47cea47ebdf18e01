"""Questions answered in one turn or after ten calls of an `add` tool: the harness workload.

The peers play the same conversations on their own terms (`peers/inspect_trials.py`). Importing
this module registers the task sources, the verifier and `bench/Add-v0`.
"""

import json
from collections.abc import Mapping
from typing import Any

from hexathlon.baselines.engines.base import ChatReply, ChatRequest, Usage
from hexathlon.envs.base import Environment
from hexathlon.envs.plugins import offer
from hexathlon.envs.tools import tool
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import register_verifier
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Split, Task, ToolSchema

__all__ = ["CALLS", "AddEnv", "AddSource", "MockEngine"]

CALLS = {"one": 0, "ten": 10}
"""Tool calls before the answer, by workload."""

_ANSWER = "ANSWER: 4"
_ADD = ToolSchema(
    name="add",
    description="Add two numbers.",
    parameters={
        "type": "object",
        "properties": {
            "x": {"type": "integer", "description": "First number."},
            "y": {"type": "integer", "description": "Second number."},
        },
        "required": ["x", "y"],
    },
)


class AddSource(TaskSource):
    """An unbounded source of one question, numbered in brackets."""

    family, version = "add", "1"

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.name = f"add-{kind}"

    def size(self, split: Split, level: Level | None = None) -> int | None:
        """Return None: the source is unbounded."""
        return None

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        """Return the id of the index-th question."""
        return str(TaskAddress(self.name, "sum", level or "tiny", split, index))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        """Return the task."""
        address = parse_address(task_id)
        return Task(
            id=task_id,
            family="add",
            generator=self.name,
            version="1",
            level=address.level,
            split=address.split,
            seed=0,
            instruction=f"What is 2 + 2? ({address.index})",
            tools=(_ADD,) if CALLS[self.kind] else (),
            checks=(Check(name="add_match", params={"target": "4"}),),
        )

    def oracle(self, task: Task) -> Script:
        """Call the tool as often as the workload requires, then answer."""
        for turn in range(CALLS[self.kind]):
            yield json.dumps({"name": "add", "arguments": {"x": turn, "y": turn + 1}})
        yield _ANSWER


class AddEnv(Environment):
    """Provides an `add` tool; prose is the answer and ends the episode."""

    family, default_taskset = "add", "add-one"
    answer = ""

    @tool
    def add(self, x: int, y: int) -> str:
        """Add two numbers."""
        return str(x + y)

    def on_text(self, text: str) -> str:
        """Store the answer and end the episode."""
        self.answer = text
        self.finish()
        return ""

    def final_state(self) -> dict[str, Any]:
        """Return the answer."""
        return {"answer": self.answer}


class MockEngine:
    """Replies without a model, with the same content and usage as the peer's mock."""

    async def chat(self, request: ChatRequest) -> ChatReply:
        """Call the tool ten times if there is one, then answer."""
        turn = sum(message["role"] == "assistant" for message in request.messages)
        usage = Usage(input=100, output=10, calls=1)
        if not request.tools or turn >= CALLS["ten"]:
            return ChatReply({"role": "assistant", "content": _ANSWER}, usage, "stop", 0.0, 0.0)
        function = {"name": "add", "arguments": json.dumps({"x": turn, "y": turn + 1})}
        calls = [{"id": f"call_{turn}", "type": "function", "function": function}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        return ChatReply(message, usage, "tool_calls", 0.0, 0.0)

    async def close(self) -> None:
        """Do nothing."""


def _match(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Any
) -> Verdict:
    """Score 1 if the answer ends with the target."""
    return Verdict(score=float(final_state["answer"].rstrip(".").endswith(params["target"])))


for _kind in CALLS:
    register_source(f"add-{_kind}", lambda kind=_kind: AddSource(kind))  # type: ignore[misc]
register_verifier("add_match", _match, version="1")
offer(
    "bench/Add-v0",
    "add_workload:AddEnv",
    family="add",
    title="Add numbers",
    tasksets=tuple(f"add-{kind}" for kind in CALLS),
)
