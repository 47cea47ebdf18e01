"""Making environments, and what rollouts ask of them beyond gymnasium's interface."""

from typing import TYPE_CHECKING, Any, TypeGuard

import gymnasium

from hexathlon.envs.base import Environment

if TYPE_CHECKING:
    from hexathlon.envs.aio import AsyncEnvironment

__all__ = ["make_env", "peek", "waits"]


def make_env(env_id: str) -> Environment:
    """Make an environment by its id."""
    env: Any = gymnasium.make(env_id)
    return env  # type: ignore[no-any-return]


def waits(env: Environment) -> "TypeGuard[AsyncEnvironment]":
    """Whether an environment's steps are coroutines; says so without importing asyncio."""
    return hasattr(env, "astep")


def peek(env: Environment, action: str) -> str | None:
    """Return what an action would bring, or None where it would change anything."""
    (aside,) = env.fork(1)
    try:
        before = aside.final_state()
        observed, _, terminated, truncated, _ = aside.step(action)
        changed = terminated or truncated or aside.final_state() != before
        return None if changed else str(observed)
    finally:
        aside.close()
