"""One episode's conversation in tokens: grows turn by turn into a tree."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.baselines.engines.tokens import TokenReply
from hexathlon.baselines.tokens.render import ChatRenderer, Segment
from hexathlon.baselines.tokens.tree import Node, TokenTree

__all__ = ["Conversation"]


class Conversation:
    """Keeps the tokens of an episode.

    Args:
        renderer: The chat template.
        tools: Tools that the template shows; empty where the system prompt describes them.
    """

    def __init__(self, renderer: ChatRenderer, tools: Sequence[Mapping[str, Any]] = ()) -> None:
        self.renderer = renderer
        self.tools = tools
        self.tree = TokenTree()
        self.turns = 0
        self._leaf = -1
        self._said: tuple[int, ...] = ()

    @property
    def ids(self) -> list[int]:
        """All tokens up to now, as the engine sees them."""
        return self.tree.ids(self._leaf)

    def open(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """Begin with a system prompt and the first message; return the prompt."""
        self._append(self.renderer.open(messages, self.tools))
        return self.ids

    def hear(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """Append what came after the assistant's turn; return the next prompt."""
        self._append(self.renderer.extend(self._said, messages, self.tools))
        return self.ids

    def say(self, reply: TokenReply, state: str = "") -> str:
        """Append what the policy sampled and return it as text.

        Args:
            reply: The engine's continuation.
            state: Hash of the messages heard before it.
        """
        versions = [span.version for span in reply.spans for _ in range(span.start, span.end)]
        node = Node(
            tuple(reply.ids),
            "sampled",
            self._leaf,
            self.turns,
            tuple(reply.log_probabilities),
            tuple(versions),
            finish=reply.finish,
            state=state,
        )
        self._leaf = self.tree.add(node)
        self._said = node.ids
        self.turns += 1
        return self.renderer.decode(reply.ids)

    def restart(self, messages: Sequence[Mapping[str, Any]], reason: str) -> list[int]:
        """Go on from a rewritten history in a new branch; return its prompt."""
        self._leaf = -1
        self._append(self.renderer.open(messages, self.tools), reason)
        return self.ids

    def _append(self, segments: Sequence[Segment], reason: str = "") -> None:
        for segment in segments:
            self._leaf = self.tree.add(Node(segment.ids, segment.kind, self._leaf, reason=reason))
            reason = ""
