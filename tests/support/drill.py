"""A slow environment with images, for tests of waiting, crashing and hanging.

Each action is a coroutine that takes `pause` seconds; on request it crashes or hangs its process.
"""

import asyncio
import ctypes
import json
import os
import signal
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hexathlon.envs.aio import AsyncEnvironment
from hexathlon.envs.tools import tool
from hexathlon.envs.vector import vectorised
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import register_verifier
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script, TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Level, Limits, Split, Task, ToolSchema

HOSTED = "support.drill:DrillEnv"
TASK = "drill/steps/easy/test/00003"


def _schema(name: str, **properties: str) -> ToolSchema:
    parameters = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(properties),
    }
    return ToolSchema(name=name, description=f"Do {name}.", parameters=parameters)


TOOLS = (
    _schema("walk", steps="integer"),
    _schema("crash", how="string"),
    _schema("hang", how="string"),
    _schema("submit"),
)


def call(tool_name: str, **arguments: Any) -> str:
    return json.dumps({"name": tool_name, "arguments": arguments})


def walk(steps: int) -> str:
    return call("walk", steps=steps)


def crash(how: str) -> str:
    return call("crash", how=how)


def hang(how: str) -> str:
    return call("hang", how=how)


SUBMIT = '{"name": "submit", "arguments": {}}'


class DrillSource(TaskSource):
    name, family, version = "drill", "drill", "1"

    def size(self, split: Split, level: Level | None = None) -> int | None:
        return 20

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        return str(TaskAddress("drill", "steps", level or "easy", split, index))

    def build(self, task_id: str, salt: str | None = None) -> Task:
        address = parse_address(task_id)
        goal = int(generator_for("drill", task_id).integers(2, 9))
        return Task(
            id=task_id,
            family="drill",
            generator="drill",
            version="1",
            level=address.level,
            split=address.split,
            seed=0,
            instruction=f"Walk exactly {goal} steps, then submit.",
            params={"goal": goal},
            tools=TOOLS,
            limits=Limits(turns=10, seconds_per_action=5.0),
            checks=(Check(name="drill_steps", params={"goal": goal}),),
            canary=f"canary-drill-{goal}-{task_id}",
        )

    def oracle(self, task: Task) -> Script:
        return _script(task.params["goal"])

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        return {"one by one": _script(*[1] * task.params["goal"])}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        return {f"{d} more": _script(task.params["goal"] + d) for d in (1, 2, 3)}


def _script(*steps: int) -> Script:
    for count in steps:
        yield walk(count)
    yield SUBMIT


def drill_steps(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Any
) -> Verdict:
    return Verdict(score=float(final_state["submitted"] and final_state["at"] == params["goal"]))


class DrillEnv(AsyncEnvironment):
    family, version = "drill", "1"
    default_taskset = "drill"
    system_prompt = "You walk."
    image_size = (32, 48)

    def __init__(self, *, pause: float = 0.0, **kwargs: Any) -> None:
        self.pause = pause
        super().__init__(**kwargs)
        self.at, self.submitted, self.shade = 0, False, 0

    async def on_reset(self, task: Task) -> str:  # type: ignore[override]
        await asyncio.sleep(0)
        self.at, self.submitted = 0, False
        self.shade = int(self.np_random.integers(200))
        return f"{task.instruction} The sky is {self.shade}."

    @tool
    async def tool_walk(self, steps: int) -> str:
        await asyncio.sleep(self.pause)
        self.at += steps
        self.shade = int(self.np_random.integers(200))
        return f"You are at {self.at}. The sky is {self.shade}."

    @tool
    def tool_crash(self, how: str) -> str:
        if how == "segfault":
            ctypes.string_at(0)
        elif how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif how == "exit":
            os._exit(3)
        raise KeyError("a plain bug")

    @tool
    async def tool_hang(self, how: str) -> str:
        if how == "awaiting":
            await asyncio.sleep(3600)
        while True:
            time.sleep(3600)

    @tool
    def tool_submit(self) -> str:
        self.submitted = True
        self.finish()
        return "Submitted."

    def frame(self) -> NDArray[np.uint8]:
        image = np.full((*self.image_size, 3), self.shade, np.uint8)
        image[:, : max(0, min(self.at, 48))] = 255
        return image

    def final_state(self) -> dict[str, Any]:
        return {"at": self.at, "submitted": self.submitted}

    def save(self) -> Any:
        return self.at, self.submitted, self.shade

    def load(self, payload: Any) -> None:
        self.at, self.submitted, self.shade = payload


class MeetingEnv(DrillEnv):
    """Its steps end together: each waits at a barrier until all parties have started theirs."""

    def __init__(self, meeting: asyncio.Barrier) -> None:
        super().__init__()
        self.meeting = meeting

    @tool
    async def tool_walk(self, steps: int) -> str:
        await self.meeting.wait()
        return await super().tool_walk(steps)


make_vector = vectorised(DrillEnv)

register_source("drill", DrillSource)
register_verifier("drill_steps", drill_steps, version="1")
