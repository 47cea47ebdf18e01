"""Find the lit cell on a board that is shown as an image."""

import numpy as np

from hexathlon.envs.base import Environment
from hexathlon.envs.plugins import enlist
from hexathlon.envs.tools import schemas_of, tool
from hexathlon.envs.vector import vectorised
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.drawn import DrawnSource, own_share


class LightsEnv(Environment):
    family, version, image_size = "example-lights", "1", (96, 128)

    def on_reset(self, task):
        self.pressed, self.dark = None, int(self.np_random.integers(90))
        return f"{task.instruction} Cells count from 0, row by row, 32 to a row."

    def frame(self):
        board = np.full((24, 32, 3), self.dark, np.uint8)
        board[divmod(self.task.params["cell"], 32)] = (250, 200, 0)
        return board.repeat(4, axis=0).repeat(4, axis=1)

    @tool
    def press(self, cell: int):
        """Press a cell, which ends the episode."""
        self.pressed = cell
        self.finish()
        return "Pressed."

    def final_state(self):
        return {"pressed": self.pressed}


class LightsSource(DrawnSource):
    name, version, tools = "example-lights", "1", schemas_of(LightsEnv)

    def draw(self, split, level, rng):
        cell = int(rng.choice(own_share(range(2, 766), split)))
        return "Press the lit cell.", {"cell": cell}

    def oracle(self, task):
        return presses(task.params["cell"])

    def alternatives(self, task):
        return {"as a list": presses(task.params["cell"], "[%s]")}

    def mutants(self, task):
        return {f"{shift:+} off": presses(task.params["cell"] + shift) for shift in (-1, 1, 2)}


def presses(cell, form="%s"):
    yield form % f'{{"name": "press", "arguments": {{"cell": {cell}}}}}'


def judge(task, params, final_state, transcript):
    return Verdict(score=float(final_state["pressed"] == params["cell"]))


enlist(LightsSource, judge)
make_vector = vectorised(LightsEnv)
