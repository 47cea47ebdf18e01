"""Environments that ask what a judge is asked: `judging/Verdicts-v0`, `judging/FirstError-v0`.

The agent reads exactly what an unguarded pointwise judge is asked, or one that looks for the first
wrong turn, and has one turn. A policy trained on verdicts is therefore a judge: `judge audit
--model` takes its checkpoint.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from hexathlon.envs.base import Environment
from hexathlon.envs.messages import Action
from hexathlon.evaluators.judges.prompts import Prompt, first_error_prompt, pointwise_prompt
from hexathlon.evaluators.roleplay.verdicts import criterion_of, steps_of, transcript_of
from hexathlon.tasks.task import Task

__all__ = ["VerdictEnv", "make_vector"]

_SAMPLE = {
    "statement": "The reply is polite.",
    "question": "Hello.",
    "reply": "Good day.",
    "steps": ["Good day."],
}


def _point(params: Mapping[str, Any]) -> Prompt:
    return pointwise_prompt(criterion_of(params), transcript_of(params))


def _steps(params: Mapping[str, Any]) -> Prompt:
    return first_error_prompt(steps_of(params))


class VerdictEnv(Environment):
    """One question to a judge; the reply is the verdict, and ends the episode."""

    family: ClassVar[str] = "roleplay"
    default_taskset: ClassVar[str] = "verdicts"
    system_prompt: ClassVar[str] = _point(_SAMPLE).system

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._reply = ""

    def on_reset(self, task: Task) -> str:
        """Return the question, as a judge is asked it."""
        self._reply = ""
        return self.prompt(task.params).user

    def prompt(self, params: Mapping[str, Any]) -> Prompt:
        """Return the question of a task."""
        return _point(params)

    def on_text(self, text: str) -> str:
        """Keep the verdict."""
        self._reply = text
        self.finish()
        return "The verdict is noted."

    def final_state(self) -> dict[str, Any]:
        """Return the verdict."""
        return {"reply": self._reply}

    def save(self) -> Any:
        """Return the verdict."""
        return self._reply

    def load(self, payload: Any) -> None:
        """Restore the verdict."""
        self._reply = payload

    def _parse(self, action: Any) -> Action:
        """Take a turn as text, JSON included: a verdict is no tool call."""
        parsed = super()._parse(action)
        return Action(action, ()) if isinstance(action, str) and parsed.calls else parsed


class FirstErrorEnv(VerdictEnv):
    """One question for the first wrong step."""

    default_taskset: ClassVar[str] = "step-errors"
    system_prompt: ClassVar[str] = _steps(_SAMPLE).system

    def prompt(self, params: Mapping[str, Any]) -> Prompt:
        """Return the question of a task."""
        return _steps(params)


def make_vector(num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of these environments; see `hexathlon.envs.vector`."""
    from hexathlon.envs.vector import make_vector as make

    return make(VerdictEnv, num_envs, **kwargs)


def make_first_error_vector(num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of environments that ask for first errors."""
    from hexathlon.envs.vector import make_vector as make

    return make(FirstErrorEnv, num_envs, **kwargs)
