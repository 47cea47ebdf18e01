"""Driver of the terminal event in tests."""

import json
from collections.abc import Iterable
from typing import Any

from hexathlon.envs.terminal.env import TerminalEnv
from hexathlon.tasks.source import Script

__all__ = ["act", "commands", "play"]


def act(name: str, **arguments: Any) -> str:
    """Return a tool call as an action."""
    return json.dumps({"name": name, "arguments": arguments})


def commands(lines: Iterable[str]) -> Script:
    """Return a script that runs these commands and submits."""
    for line in lines:
        yield act("run", command=line)
    yield act("submit")


def play(env: TerminalEnv, task_id: str, script: Script) -> tuple[float, dict[str, Any]]:
    """Play a script; returns the reward and the final state."""
    env.reset(seed=0, options={"task": task_id})
    action = next(script, act("submit"))
    while True:
        observation, reward, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            return float(reward), env.final_state()
        try:
            action = script.send(observation)
        except StopIteration:
            action = act("submit")
