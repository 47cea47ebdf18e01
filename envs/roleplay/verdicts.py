"""`judging/Verdicts-v0`: give the verdict of a judge on one statement about one reply.

The agent reads exactly what `hexathlon judge` asks a pointwise judge and has one turn. A policy
trained here is therefore a judge: `judge audit --model` takes its checkpoint.
"""

from typing import Any, ClassVar

from hexathlon.envs.base import Environment
from hexathlon.envs.messages import Action
from hexathlon.evaluators.judges.prompts import pointwise_prompt
from hexathlon.evaluators.roleplay.verdicts import criterion_of, transcript_of
from hexathlon.tasks.task import Task

__all__ = ["VerdictEnv", "make_vector"]

_SAMPLE = {"statement": "The reply is polite.", "question": "Hello.", "reply": "Good day."}


class VerdictEnv(Environment):
    """One question to a judge; the reply is the verdict, and ends the episode."""

    family: ClassVar[str] = "roleplay"
    default_taskset: ClassVar[str] = "verdicts"
    system_prompt: ClassVar[str] = pointwise_prompt(
        criterion_of(_SAMPLE), transcript_of(_SAMPLE)
    ).system

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._reply = ""

    def on_reset(self, task: Task) -> str:
        """Return the question, as a judge is asked it."""
        self._reply = ""
        return pointwise_prompt(criterion_of(task.params), transcript_of(task.params)).user

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


def make_vector(num_envs: int, **kwargs: Any) -> Any:
    """Make a vector of these environments; see `hexathlon.envs.vector`."""
    from hexathlon.envs.vector import make_vector as make

    return make(VerdictEnv, num_envs, **kwargs)
