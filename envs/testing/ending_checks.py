"""Checks of an episode's end: nothing may be played after it."""

from typing import Any

from gymnasium.error import ResetNeeded

from hexathlon.envs.testing.fuzzing import do_nothing
from hexathlon.envs.testing.report import CheckFailed, ConformanceCheck
from hexathlon.envs.testing.subject import Subject

__all__ = ["CHECKS"]


def step_after_end(subject: Subject) -> None:
    """Step again after a solved and after an idle episode, and before the first reset."""
    task = subject.tasks[0]
    action = next(subject.source.oracle(task))
    env = subject.make()
    try:
        _require_refusal(subject, env, action, "before the first reset")
        for script in (subject.source.oracle(task), do_nothing(task)):
            episode = subject.play(env, task, script)
            if episode.ended:
                _require_refusal(subject, env, action, f"after the end ({episode.status})")
    finally:
        env.close()


def _require_refusal(subject: Subject, env: Any, action: str, when: str) -> None:
    try:
        result = env.step(subject.act(env, action))
    except ResetNeeded:
        return
    except Exception as error:
        raise CheckFailed(f"step {when} raised {error!r}, expected ResetNeeded") from error
    raise CheckFailed(
        f"step {when} was played: reward {result[1]}, terminated {result[2]}; expected ResetNeeded"
    )


CHECKS = (
    ConformanceCheck(
        "step_after_end",
        "raise gymnasium.error.ResetNeeded in step() unless an episode is running",
        step_after_end,
    ),
)
