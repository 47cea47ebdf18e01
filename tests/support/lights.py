"""Find the lit cell of a board that is shown as an image."""

import numpy as np

from hexathlon.envs.base import Environment
from hexathlon.envs.tools import tool
from hexathlon.envs.vector import vectorised
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import register_verifier
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import TaskAddress, TaskSource, parse_address
from hexathlon.tasks.task import Check, Task, ToolSchema

NAME = "example-lights"
CELL = {"type": "object", "properties": {"cell": {"type": "integer"}}, "required": ["cell"]}
TOOLS = (ToolSchema(name="press", description="Press a cell; ends.", parameters=CELL),)


class LightsSource(TaskSource):
    name, family, version = NAME, NAME, "1"

    def size(self, split, level=None):
        return None if split == "train" else 100

    def address(self, split, index, level=None):
        return str(TaskAddress(self.name, "lit", level or "easy", split, index))

    def build(self, task_id, salt=None):
        at, cell = parse_address(task_id), int(generator_for(task_id).integers(2, 766))
        about = {"id": task_id, "family": NAME, "generator": NAME, "version": "1", "seed": 0}
        about |= {"level": at.level, "split": at.split, "tools": TOOLS, "params": {"cell": cell}}
        about |= {"instruction": "Press the lit cell.", "checks": (Check(name=NAME),)}
        return Task(**about, canary=f"lights:{task_id}")

    def oracle(self, task):
        return presses(task.params["cell"])

    def alternatives(self, task):
        return {"as a list": presses(task.params["cell"], "[%s]")}

    def mutants(self, task):
        return {f"{shift:+} off": presses(task.params["cell"] + shift) for shift in (-1, 1, 2)}


def presses(cell, form="%s"):
    yield form % f'{{"name": "press", "arguments": {{"cell": {cell}}}}}'


class LightsEnv(Environment):
    family, default_taskset, version, image_size = NAME, NAME, "1", (96, 128)

    def on_reset(self, task):
        self.pressed, self.dark = None, int(self.np_random.integers(90))
        return f"{task.instruction} Cells count from 0, row by row, 32 to a row."

    def frame(self):
        board = np.full((24, 32, 3), self.dark, np.uint8)
        board[divmod(self.task.params["cell"], 32)] = (250, 200, 0)
        return board.repeat(4, axis=0).repeat(4, axis=1)

    @tool
    def press(self, cell):
        self.pressed = cell
        self.finish()
        return "Pressed."

    def final_state(self):
        return {"pressed": self.pressed}

    def save(self):
        return self.pressed, self.dark

    def load(self, payload):
        self.pressed, self.dark = payload


def judge(task, params, final_state, transcript):
    return Verdict(score=float(final_state["pressed"] == task.params["cell"]))


make_vector = vectorised(LightsEnv)
register_source(NAME, LightsSource)
register_verifier(NAME, judge, version="1")
