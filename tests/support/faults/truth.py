"""Environments that show the truth of their tasks."""

import hashlib

from hexathlon.envs.errors import ToolError
from hexathlon.envs.tools import tool
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.task import Task
from support.faults.base import SUBMIT_VALUE, HiddenSum, Renamed, SumEnv, aiming
from support.toy import ToyEnv


class LeakyCanary(ToyEnv):
    @tool
    def tool_submit(self) -> str:
        return super().tool_submit() + f" {self.task.canary}"


class CanaryInInfo(ToyEnv):
    def _reset_info(self, task):
        return {**super()._reset_info(task), "task": task.model_dump_json()}


class NoCanary(ToyEnv):
    default_taskset = "no-canary"


class IdInOpening(ToyEnv):
    def on_reset(self, task):
        return f"{task.id}: {super().on_reset(task)}"


class TruthInInfo(SumEnv):
    def _step_info(self, terms):
        return {**super()._step_info(terms), "wanted": float(self.task.params["target"])}


class AddendsInInfo(SumEnv):
    def _step_info(self, terms):
        truth, addend = self.task.params["target"], 1_000 + self.task.seed % 977
        return {**super()._step_info(terms), "part": float(truth - addend), "rest": float(addend)}


class ShiftedTruthInInfo(SumEnv):
    def _step_info(self, terms):
        return {**super()._step_info(terms), "part": 5_003 - 2 * self.task.params["target"]}


class MaskedTruthInInfo(SumEnv):
    def _step_info(self, terms):
        truth, mask = self.task.params["target"], self.task.seed % 4_093
        return {**super()._step_info(terms), "parts": {"a": truth ^ mask, "b": mask}}


class HalvesInInfo(SumEnv):
    def _step_info(self, terms):
        truth = str(self.task.params["target"])
        return {**super()._step_info(terms), "a": truth[:2], "b": truth[2:]}


class Doors(HiddenSum):
    """The answer is one of seven digits, which instruction and tools do not tell."""

    name = "doors"

    def changed(self, task: Task) -> Task:
        told = "Submit the number of the door with the prize, from 1 to 7."
        update = {"instruction": told, "tools": (*task.tools, SUBMIT_VALUE)}
        return aiming(task, 1 + task.seed % 7, **update)


class DoorsEnv(SumEnv):
    """Without a fault: info names four doors, whether or not the prize is behind one of them."""

    default_taskset = "doors"

    def open_doors(self) -> list[int]:
        return [1 + (self.task.seed // 7 + step) % 7 for step in (0, 1, 3, 4)]

    def _step_info(self, terms):
        return {**super()._step_info(terms), "open": self.open_doors()}


class DoorInInfo(DoorsEnv):
    def _step_info(self, terms):
        return {**super()._step_info(terms), "hint": f"Door {self.task.params['target']}!"}


class DoorAmongFewInInfo(DoorsEnv):
    def open_doors(self) -> list[int]:
        doors = [self.task.params["target"], *super().open_doors()]
        return sorted(list(dict.fromkeys(doors))[:4])


class TruthInOpening(SumEnv):
    def on_reset(self, task):
        return f"{super().on_reset(task)} ({task.params['target']})"


class TruthAfterTheEnd(SumEnv):
    @tool
    def tool_submit_value(self, value: int) -> str:
        return f"{super().tool_submit_value(value)} Expected was {self.task.params['target']}."


class TruthWhenAsked(SumEnv):
    def on_text(self, text):
        return f"{super().on_text(text)} Try {self.task.params['target']}."


class NoCanarySource(Renamed):
    name = "no-canary"

    def changed(self, task: Task) -> Task:
        return task.model_copy(update={"canary": ""})


class LeakInDisguise(SumEnv):
    def on_reset(self, task):
        digest = hashlib.sha256(str(task.params["target"]).encode()).hexdigest()
        return f"{super().on_reset(task)} ({digest})"


class TruthWhenIdle(SumEnv):
    def on_text(self, text):
        late = f" Try {self.task.params['target']}." if self._turn > 8 else ""
        return super().on_text(text) + late


class TruthInRefusal(SumEnv):
    @tool
    def tool_submit_value(self, value: int) -> str:
        if value < 0:
            raise ToolError(f"{value} is not {self.task.params['target']}")
        return super().tool_submit_value(value)


class TruthInTools(HiddenSum):
    name = "truth-in-tools"

    def changed(self, task: Task) -> Task:
        task = super().changed(task)
        told = SUBMIT_VALUE.model_copy(update={"description": f"{task.params['target']}, say."})
        return task.model_copy(update={"tools": (*task.tools[:-1], told)})


class TruthInToolsEnv(SumEnv):
    default_taskset = "truth-in-tools"


for _source in (TruthInTools, Doors, NoCanarySource):
    register_source(_source.name, _source)
