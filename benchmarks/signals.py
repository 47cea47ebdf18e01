"""An event whose environment really sleeps: three signals, each answered by pressing its key.

Before each answer the environment sleeps for a log-normal time, a function of the task, the number
of its episode and the turn, so that a simulation can use the same times. The module is a plugin:
`hexathlon_signals-1.dist-info` declares it to every process with this folder on its path.
"""

import asyncio
import json
import os
import time
from collections import Counter
from typing import Any

import numpy as np

from hexathlon.envs.aio import AsyncEnvironment
from hexathlon.envs.plugins import enlist, offer
from hexathlon.envs.tools import schemas_of, tool
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.drawn import DrawnSource, own_share
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.task import Limits

__all__ = ["ENV", "SignalsEnv", "SignalsSource", "judge", "register", "sleeps"]

ENV = "benchmark/Signals-v0"
WORDS = ("red", "blue", "green", "white", "black", "pink", "grey", "brown")
TURNS = 3
SIGMA = 1.5
MEAN = 2.0
"""Mean time that the environment of a rollout sleeps, in seconds."""


def sleeps(task: str, episode: int) -> list[float]:
    """Return an episode's sleeping times in seconds, one per turn."""
    draw = generator_for("sleeps", task, episode)
    return [float(t) for t in draw.lognormal(np.log(MEAN / TURNS) - SIGMA**2 / 2, SIGMA, TURNS)]


class SignalsEnv(AsyncEnvironment):
    """Press the key of each signal."""

    family, version = "signals", "1"
    action_seconds = 3600.0
    scale = float(os.environ.get("SIGNALS_SCALE", "1"))
    """Factor applied to all sleeping times."""

    slept = 0.0
    """Total time of finished sleeps, in seconds."""

    asleep: dict[int, float] = {}
    """Start times of the sleeps in progress."""

    episodes: Counter[str] = Counter()

    begun: Counter[tuple[str, int]] = Counter()
    """Turns begun, by task and number of the episode: a policy can end an episode early.

    Turns in progress at the end of a run count, or a simulation would end their rollouts there.
    """

    def on_reset(self, task: Any) -> str:
        self.pressed: list[int] = []
        self.turns = 0
        self.number = self.episodes[task.id]
        self.episodes[task.id] += 1
        self.waits = sleeps(task.id, self.number)
        return self._signal()

    def _signal(self) -> str:
        return f"Signal {self.task.params['words'][len(self.pressed)]}: press its key."

    async def astep(self, action: Any) -> Any:
        """Sleep, then take the turn, whether or not the action is well-formed."""
        self.begun[self.task.id, self.number] += 1
        self.asleep[id(self)] = time.perf_counter()
        await asyncio.sleep(self.waits[self.turns] * self.scale)
        SignalsEnv.slept += time.perf_counter() - self.asleep.pop(id(self))
        self.turns += 1
        return await super().astep(action)

    @tool
    def press(self, key: int) -> str:
        """Press a key."""
        if len(self.pressed) >= self.turns:
            return "One key per signal."
        self.pressed += [-1] * (self.turns - 1 - len(self.pressed))  # signals without an answer
        self.pressed.append(key)
        if self.turns == TURNS:
            self.finish()
            return "Done."
        return self._signal()

    def final_state(self) -> dict[str, Any]:
        return {"pressed": self.pressed}


class SignalsSource(DrawnSource):
    """Three signals in a row."""

    name, version, tools = "signals", "1", schemas_of(SignalsEnv)
    limits = Limits(turns=TURNS)

    def draw(self, split: Any, level: Any, rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
        number = int(rng.choice(own_share(range(len(WORDS) ** TURNS), split)))
        keys = [number // len(WORDS) ** place % len(WORDS) for place in range(TURNS)]
        return "Press keys.", {"words": [WORDS[key] for key in keys], "keys": keys}

    def oracle(self, task: Any) -> Any:
        for key in task.params["keys"]:
            yield json.dumps({"name": "press", "arguments": {"key": key}})


def judge(task: Any, params: Any, final_state: Any, transcript: Any) -> Verdict:
    pairs = zip(params["keys"], final_state["pressed"], strict=False)
    return Verdict(score=sum(key == pressed for key, pressed in pairs) / TURNS)


def register() -> None:
    """Register the event; called by the entry point."""
    offer(ENV, f"{__name__}:SignalsEnv", family="signals", title="Signals")


enlist(SignalsSource, judge)
