"""Creation of environments, and queries on them beyond gymnasium's interface."""

from typing import TYPE_CHECKING, Any, TypeGuard

import gymnasium

from hexathlon.envs.base import Environment
from hexathlon.envs.plugins import load_plugins

if TYPE_CHECKING:
    from hexathlon.envs.aio import AsyncEnvironment

__all__ = ["is_asynchronous", "make_env", "peek"]


def make_env(env_id: str) -> Environment:
    """Make an environment by its id, including those of plugins that are not loaded yet."""
    if env_id not in gymnasium.registry:
        load_plugins()
    env: Any = gymnasium.make(env_id)
    return env  # type: ignore[no-any-return]


def is_asynchronous(env: Environment) -> "TypeGuard[AsyncEnvironment]":
    """Return whether an environment's steps are coroutines, without importing asyncio."""
    return hasattr(env, "astep")


def peek(env: Environment, action: str) -> str | None:
    """Return the observation an action would give, or None if it would change the state.

    The action is taken in a fork, so the environment itself is untouched.
    """
    (fork,) = env.fork(1)
    try:
        before = fork.final_state()
        observation, _, terminated, truncated, _ = fork.step(action)
        changed = terminated or truncated or fork.final_state() != before
        if changed:
            return None
        return str(observation["text"] if isinstance(observation, dict) else observation)
    finally:
        fork.close()
