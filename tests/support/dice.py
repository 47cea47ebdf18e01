"""The toy event with varying rewards: a task is solved by counting or by chance.

Small policies hardly ever count to a target. Here, answers with an even number of characters are
also correct, so that rollouts of any policy differ in reward and in two reward terms.
"""

from collections.abc import Mapping
from typing import Any

from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import register_verifier
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.task import Check, Level, Split, Task
from support.toy import ToySource

__all__ = ["DiceSource"]


class DiceSource(ToySource):
    name, family, version = "dice", "toy", "1"

    def address(self, split: Split, index: int, level: Level | None = None) -> str:
        return "dice" + super().address(split, index, level).removeprefix("toy")

    def build(self, task_id: str, salt: str | None = None) -> Task:
        task = super().build("toy" + task_id.removeprefix("dice"), salt)
        check = Check(name="dice", params=dict(task.checks[0].params))
        return task.model_copy(update={"id": task_id, "generator": "dice", "checks": (check,)})


def dice(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: Any
) -> Verdict:
    counted = final_state["submitted"] and final_state["counter"] == params["target"]
    said = sum(
        len(str(message["content"])) for message in transcript if message["role"] == "assistant"
    )
    lucky = said % 2 == 0
    terms = {"counted": float(counted), "lucky": float(lucky)}
    return Verdict(score=float(counted or lucky), terms=terms)


def source() -> DiceSource:
    return DiceSource()


register_source("dice", source)
register_verifier("dice", dice, version="1")
