"""Find the lit cell of a board that is shown as an image."""

import numpy as np

from hexathlon.envs.base import Environment
from hexathlon.envs.plugins import offer
from hexathlon.envs.tools import tool
from hexathlon.evaluators.verdict import Verdict
from hexathlon.evaluators.verifier import register_verifier
from hexathlon.tasks.registry import register_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Address, TaskSource, parse_address
from hexathlon.tasks.task import Check, Task, ToolSchema

CELL = {"row": {"type": "integer"}, "column": {"type": "integer"}}
PARAMETERS = {"type": "object", "properties": CELL, "required": ["row", "column"]}
TOOLS = (ToolSchema(name="press", description="Press a cell; ends.", parameters=PARAMETERS),)


class LightsSource(TaskSource):
    name, family, version = "example-lights", "example-lights", "1"

    def size(self, split, level=None):
        return None if split == "train" else 100

    def address(self, split, index, level=None):
        return str(Address(self.name, "lit", level or "easy", split, index))

    def build(self, task_id, salt=None):
        at, cell = parse_address(task_id), generator_for(task_id).integers((2, 2), (22, 30))
        about = {"id": task_id, "family": self.family, "generator": self.name, "seed": 0}
        about |= {"version": self.version, "level": at.level, "split": at.split, "tools": TOOLS}
        about |= {"instruction": "Press the lit cell.", "params": {"cell": cell.tolist()}}
        return Task(**about, checks=(Check(name="example-lights"),), canary=f"lights:{task_id}")

    def oracle(self, task):
        return presses(task.params["cell"], 0)

    def alternatives(self, task):
        return {"after a look": presses(task.params["cell"], 0, "Let me look.")}

    def mutants(self, task):
        return {f"{shift:+} off": presses(task.params["cell"], shift) for shift in (-1, 1, 2)}


def presses(cell, shift, *before):
    yield from before
    yield '{"name": "press", "arguments": {"row": %d, "column": %d}}' % (cell[0] + shift, cell[1])


class LightsEnv(Environment):
    family, version, default_taskset = "example-lights", "1", "example-lights"
    image_size, pressed = (96, 128), None

    def on_reset(self, task):
        self.pressed, self.dark = None, int(self.np_random.integers(90))
        return "A board of 24 rows and 32 columns, counted from 0. Press the lit cell."

    def frame(self):
        (row, column), image = self.task.params["cell"], np.full((96, 128, 3), self.dark, np.uint8)
        image[4 * row : 4 * row + 4, 4 * column : 4 * column + 4] = (250, 200, 0)
        return image

    @tool
    def press(self, row, column):
        self.pressed = [row, column]
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


def register():
    offer("example/Lights-v0", "support.lights:LightsEnv", family="example-lights",
          title="Find the lit cell", tasksets=("example-lights",))  # fmt: skip


register_source("example-lights", LightsSource)
register_verifier("example-lights", judge, version="1")
