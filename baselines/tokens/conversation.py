"""One episode's conversation in tokens: grows turn by turn into a tree."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.baselines.tokens.render import ChatRenderer, Segment
from hexathlon.baselines.tokens.requests import TokenReply
from hexathlon.baselines.tokens.tree import Node, TokenTree

__all__ = ["ConversationState", "TokenConversation"]


class ConversationState(NamedTuple):
    """A saved conversation."""

    tree: TokenTree
    turns: int
    leaf: int
    said: tuple[int, ...]


class TokenConversation:
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

    def say(self, reply: TokenReply, state: str = "", trial: int = -1) -> str:
        """Append what the policy sampled and return it as text.

        Args:
            reply: The engine's continuation.
            state: Hash of the messages heard before it.
            trial: Number of the trial that drew it.
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
            trial=trial,
        )
        self._leaf = self.tree.add(node)
        self._said = node.ids
        self.turns += 1
        return self.renderer.decode(reply.ids)

    def tell(self, text: str) -> None:
        """Append an assistant's turn that the policy did not draw; it is never trained on."""
        ids = self.renderer.encode(text)
        if self.renderer.end_of_turn is not None:
            ids = [*ids, self.renderer.end_of_turn]
        self._leaf = self.tree.add(Node(tuple(ids), "told", self._leaf, self.turns))
        self._said = tuple(ids)
        self.turns += 1

    def save(self) -> ConversationState:
        """Return the conversation as detached data."""
        return ConversationState(TokenTree([*self.tree.nodes]), self.turns, self._leaf, self._said)

    def load(self, state: ConversationState) -> None:
        """Take a conversation back; the state may be loaded several times."""
        self.tree = TokenTree([*state.tree.nodes])
        self.turns, self._leaf, self._said = state.turns, state.leaf, state.said

    def restart(self, messages: Sequence[Mapping[str, Any]], reason: str) -> list[int]:
        """Go on from a rewritten history in a new branch; return its prompt."""
        self._leaf = -1
        self._append(self.renderer.open(messages, self.tools), reason)
        return self.ids

    def _append(self, segments: Sequence[Segment], reason: str = "") -> None:
        for segment in segments:
            self._leaf = self.tree.add(Node(segment.ids, segment.kind, self._leaf, reason=reason))
            reason = ""
