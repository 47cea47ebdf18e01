"""Token histories of conversations that come back as messages.

A client sends the whole conversation with every request. If it begins with a conversation whose
last turn was sampled here, the tokens of that conversation are continued, exactly as the engine
had them; only the new messages are rendered. Otherwise the conversation is new, or its history was
rewritten, and is rendered as a whole.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.baselines.codecs.base import read_arguments
from hexathlon.baselines.engines.apis.base import text_of_message

__all__ = ["Histories", "KnownHistory", "MatchedHistory"]


class KnownHistory(NamedTuple):
    """A conversation up to a turn that was sampled here."""

    ids: tuple[int, ...]
    """All tokens, with those of the last turn."""

    said: tuple[int, ...]
    """The tokens of the last turn."""

    text: str
    """The last turn, as the policy wrote it."""

    session: str
    """Name under which the engine caches the conversation."""

    leaf: int = -1
    """Index of the last turn in a recorded tree."""


class MatchedHistory(NamedTuple):
    """How much of a conversation is known."""

    known: KnownHistory | None
    rest: int
    """Index of the first message that follows the known part; 0 if nothing is known."""

    reason: str
    """Why nothing is known; empty if something is."""


class Histories:
    """Finds conversations by their messages.

    Two messages are the same if role, text, and names and arguments of calls are; identifiers of
    calls, and whitespace around texts and in JSON, may differ, since clients rewrite them.

    Args:
        most: Maximum number of tokens to keep; the conversations unused for longest are dropped.
    """

    def __init__(self, most: int = 8_000_000) -> None:
        self._most = most
        self._tokens = 0
        self._known: OrderedDict[str, KnownHistory] = OrderedDict()
        self._openings: set[str] = set()

    def match(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
    ) -> MatchedHistory:
        """Return the longest known beginning of a conversation."""
        chain = _chain(messages, tools)
        for length in range(len(messages), 0, -1):
            known = self._known.get(chain[length])
            if known is None:
                continue
            if any(message["role"] == "assistant" for message in messages[length:]):
                return MatchedHistory(None, 0, f"message {length} onwards was not sampled here")
            self._known.move_to_end(chain[length])
            return MatchedHistory(known, length, "")
        if not any(message["role"] == "assistant" for message in messages):
            return MatchedHistory(None, 0, "new conversation")
        seen = next((n for n, key in enumerate(chain) if n and key not in self._openings), 1)
        return MatchedHistory(None, 0, f"history rewritten at message {seen - 1}")

    def add(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]],
        reply: Mapping[str, Any],
        known: KnownHistory,
    ) -> None:
        """Remember a conversation with the turn that was sampled for it."""
        chain = _chain([*messages, reply], tools)
        self._openings.update(chain[1:])
        old = self._known.pop(chain[-1], None)
        self._tokens -= 0 if old is None else len(old.ids)
        self._known[chain[-1]] = known
        self._tokens += len(known.ids)
        while self._tokens > self._most and len(self._known) > 1:
            _, dropped = self._known.popitem(last=False)
            self._tokens -= len(dropped.ids)
            self._openings.clear()


def _chain(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return hashes of the first 0, 1, 2, … messages."""
    digest = hashlib.sha256(json.dumps(list(tools), sort_keys=True).encode())
    keys = [digest.hexdigest()]
    for message in messages:
        digest.update(json.dumps(_essence(message), sort_keys=True).encode() + b"\0")
        keys.append(digest.hexdigest())
    return keys


def _essence(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    parts = () if content is None or isinstance(content, str) else content
    images = [part for part in parts if part.get("type") != "text"]
    calls = [
        (call["function"]["name"], read_arguments(call["function"].get("arguments") or ""))
        for call in message.get("tool_calls") or ()
    ]
    return [message["role"], text_of_message(content).strip(), images, calls]
