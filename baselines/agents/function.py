"""Agents from functions that map a conversation to an assistant message.

>>> def shout(messages):
...     return {"role": "assistant", "content": messages[-1]["content"].upper()}
>>> FunctionAgent(shout).name
'shout'
"""

import json
from collections.abc import Callable, Sequence

from hexathlon.baselines.agents.base import Episode, PastTurn, Turn
from hexathlon.baselines.codecs.base import DialectCall, format_calls, read_arguments
from hexathlon.envs.messages import Message

__all__ = ["FunctionAgent"]


class FunctionAgent:
    """Calls a function for every turn.

    Args:
        function: Receives the whole conversation, system prompt first, and returns an assistant
            message with `content` and, to call tools, `tool_calls` in the environments' format
            (`name`, and `arguments` as JSON text or an object).
        name: The agent's name; by default that of the function.
    """

    version = "1"
    asynchronous = False

    def __init__(
        self, function: Callable[[list[Message]], dict[str, object]], name: str | None = None
    ) -> None:
        self.function = function
        self.name = name or str(getattr(function, "__name__", "function"))

    def begin(self, episode: Episode) -> "_FunctionPlayer":
        """Return a player that keeps the conversation."""
        return _FunctionPlayer(self.function, episode.system_prompt)


class _FunctionPlayer:
    def __init__(
        self, function: Callable[[list[Message]], dict[str, object]], system_prompt: str
    ) -> None:
        self._function = function
        self._messages = [_message("system", system_prompt)]

    def act(self, messages: Sequence[Message]) -> Turn:
        """Return the function's turn."""
        self._messages.extend(messages)
        reply = self._function(list(self._messages))
        action, prose = _action(reply)
        self._messages.append(_message("assistant", action))
        return Turn(action, said=prose)

    def save(self) -> tuple[Message, ...]:
        """Return the conversation."""
        return tuple(self._messages)

    def resume(self, past: Sequence[PastTurn], memory: tuple[Message, ...] | None) -> None:
        """Continue from a saved conversation, or from turns taken by another agent."""
        if memory is not None:
            self._messages = list(memory)
            return
        for turn in past:
            self._messages += [*turn.messages, _message("assistant", turn.action)]


def _message(role: str, content: str) -> Message:
    return Message(role=role, content=content, tool_calls=(), tool_call_id="")


def _action(reply: dict[str, object]) -> tuple[str, str]:
    content, calls = str(reply.get("content") or ""), reply.get("tool_calls")
    if not calls or not isinstance(calls, Sequence):
        return content, ""
    return format_calls([_call(call) for call in calls]), content


def _call(call: dict[str, object]) -> DialectCall:
    arguments = call.get("arguments") or "{}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return DialectCall(str(call.get("name")), read_arguments(text))
