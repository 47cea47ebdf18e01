"""A token budget per episode, measured by a named counter."""

import importlib
from collections.abc import Callable
from typing import Any, Literal, cast

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from hexathlon.envs.status import Status
from hexathlon.envs.wrappers.base import EpisodeWrapper, ResetResult, StepResult
from hexathlon.evaluators.content import text_of

__all__ = ["TokenBudget", "register_counter"]

Counter = Callable[[str], int]


def _words(text: str) -> int:
    return len(text.split())


def _utf8(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


_counters: dict[str, Counter] = {"characters": len, "bytes": _utf8, "words": _words}


def register_counter(name: str, counter: Counter) -> None:
    """Register a counter, such as a tokenizer's, by name.

    Raises:
        ValueError: If the name is taken by another counter.
    """
    if _counters.get(name, counter) is not counter:
        raise ValueError(f"the counter name {name!r} is taken; choose another")
    _counters[name] = counter


class TokenBudget(EpisodeWrapper):
    """Ends an episode as `truncated_length` once its text is longer than the budget.

    The step that exceeds the budget still takes effect and is graded.

    Args:
        env: A hexathlon environment.
        budget: Maximum number of tokens in one episode.
        counter: `characters`, `bytes`, `words`, a registered name, or `module:function`.
        count: `actions`: the agent's text only. `all`: observations too.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        budget: int,
        counter: str = "characters",
        count: Literal["actions", "all"] = "actions",
    ) -> None:
        if budget < 1 or count not in ("actions", "all"):
            raise ValueError(
                f"expected a positive budget and count 'actions' or 'all', got {budget}, {count!r}"
            )
        RecordConstructorArgs.__init__(self, budget=budget, counter=counter, count=count)
        gymnasium.Wrapper.__init__(self, env)
        self.budget = budget
        self.counter = counter
        self.count = count
        _counter(counter)  # fail on an unknown name now, not at the first step
        self._used = 0

    def _count(self, text: str) -> int:
        # Looked up each time: as an attribute, a tokenizer would be copied by every fork.
        return _counter(self.counter)(text)

    @property
    def used(self) -> int:
        """Tokens used in this episode."""
        return self._used

    def after_reset(self, result: ResetResult) -> ResetResult:
        """Count the opening if observations count."""
        self._used = self._read(result[0])
        return result

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        """Count the turn; end the episode when the budget is exhausted."""
        self._used += self._count(_text(action)) + self._read(result[0])
        over = self._used > self.budget and not (result[2] or result[3])
        return self.cut_short(Status.TRUNCATED_LENGTH, result) if over else result

    def _read(self, observation: Any) -> int:
        return self._count(_text(observation)) if self.count == "all" else 0


def _counter(name: str) -> Counter:
    if name in _counters:
        return _counters[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise ValueError(
            f"unknown counter {name!r}; known: {', '.join(sorted(_counters))}, or module:function"
        )
    return cast("Counter", getattr(importlib.import_module(module), attribute))


def _text(value: Any) -> str:
    """Return the countable text of an action or observation; images and files count as 0."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and "text" in value:
        return _text(value["text"])
    messages = value if isinstance(value, tuple) else (value,)
    return "\n".join(_message_text(message) for message in messages)


def _message_text(message: Any) -> str:
    calls = [f"{call['name']} {call['arguments']}" for call in message.get("tool_calls", ())]
    return "\n".join(filter(None, [text_of(message.get("content", "")), *calls]))
