"""Episodes of SQL tasks played by scripts."""

from typing import Any

from hexathlon.envs.sql.env import SQLEnv
from hexathlon.tasks.source import Script, play


def episode(script: Script, task_id: str) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Play a script on a test task; return the final state and the last step."""
    env = SQLEnv(split="test")
    env.reset(seed=1, options={"task": task_id})
    steps: list[tuple[Any, ...]] = []

    def respond(action: str) -> str | None:
        steps.append(env.step(action))
        observation, _, terminated, truncated, _ = steps[-1]
        return None if terminated or truncated else observation

    play(script, respond)
    state = env.final_state()
    env.close()
    return state, steps[-1]
