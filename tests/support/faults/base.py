"""What planted faults share: sources that can be changed, and things to tidy up."""

import threading
from collections.abc import Mapping
from typing import Any

from hexathlon.envs.tools import tool
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Check, Level, Split, Task, ToolSchema
from support.toy import ToyEnv, ToySource

KEPT: list[Any] = []
"""Resources left by leaking environments, for tests to clean up."""


RELEASE = threading.Event()


class Renamed(ToySource):
    """Toy tasks under another name, so that they can be changed."""

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        return super().address(split, index, level).replace("toy/", f"{self.name}/", 1)

    def build(self, task_id: str, salt: str | None = None) -> Task:
        made = super().build(task_id.replace(f"{self.name}/", "toy/", 1), salt)
        return self.changed(made.model_copy(update={"id": task_id, "generator": self.name}))

    def changed(self, task: Task) -> Task:
        return task


def aiming(task: Task, target: int, **update: Any) -> Task:
    checks = (Check(name="toy_count", params={"target": target}),)
    return task.model_copy(update={"params": {"target": target}, "checks": checks, **update})


class HiddenSum(Renamed):
    """The instruction states two numbers; the target is their sum."""

    name = "hidden-sum"

    def changed(self, task: Task) -> Task:
        target = 1_000 + 10 * task.params["target"]
        told = f"Bring the counter to the sum of {target - 7} and 7, then submit."
        return aiming(task, target, instruction=told, tools=(*task.tools, SUBMIT_VALUE))

    def oracle(self, task: Task) -> Script:
        yield SUBMIT_SUM % task.params["target"]

    def alternatives(self, task: Task) -> Mapping[str, Script]:
        return {"spaced": one((SUBMIT_SUM % task.params["target"]).replace(":", " :"))}

    def mutants(self, task: Task) -> Mapping[str, Script]:
        target = task.params["target"]
        return {f"off by {d}": one(SUBMIT_SUM % (target + d)) for d in (-1, 1, 2)}


SUBMIT_SUM = '{"name": "submit_value", "arguments": {"value": %d}}'


SUBMIT_VALUE = ToolSchema(
    name="submit_value",
    description="Finish with a value.",
    parameters={
        "type": "object",
        "properties": {"value": {"type": "integer"}},
        "required": ["value"],
    },
)


def one(action: str) -> Script:
    yield action


class SumEnv(ToyEnv):
    """Without a fault: the sum is submitted at once."""

    default_taskset = "hidden-sum"

    @tool
    def tool_submit_value(self, value: int) -> str:
        self.counter = value
        return super().tool_submit()


register_source(HiddenSum.name, HiddenSum)
