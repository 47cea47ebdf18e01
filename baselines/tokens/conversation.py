"""The conversation of one episode as a token tree that grows turn by turn."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.baselines.tokens.render import ChatRenderer, Segment
from hexathlon.baselines.tokens.requests import TokenReply
from hexathlon.baselines.tokens.tree import Node, NodeKind, TokenTree
from hexathlon.evaluators.content import Image

__all__ = ["ConversationState", "TokenConversation", "cut_of"]


def cut_of(ids: Sequence[int], rest: Sequence[int]) -> tuple[int, int]:
    """Return the start and end of the part of `ids` without which they are `rest`.

    Raises:
        ValueError: If there is no such part.
    """
    same = (place for place, (a, b) in enumerate(zip(ids, rest, strict=False)) if a != b)
    start = next(same, min(len(ids), len(rest)))
    stop = len(ids) - (len(rest) - start)
    if stop < start or list(ids[stop:]) != list(rest[start:]):
        raise ValueError(
            "removing the context changes the tokens around it: this tokenizer merges tokens "
            "across its borders, so it cannot train with generate.context"
        )
    return start, stop


class ConversationState(NamedTuple):
    """A saved conversation."""

    tree: TokenTree
    turns: int
    leaf: int
    last_turn: tuple[int, ...]
    """Tokens of the assistant's last turn."""


class TokenConversation:
    """Renders the messages of an episode and keeps its tokens.

    Args:
        renderer: The chat template.
        tools: Tools for the template; empty if the system prompt describes them.
    """

    def __init__(self, renderer: ChatRenderer, tools: Sequence[Mapping[str, Any]] = ()) -> None:
        self.renderer = renderer
        self.tools = tools
        self.tree = TokenTree()
        self.turns = 0
        self._leaf = -1
        self._last_turn: tuple[int, ...] = ()

    @property
    def ids(self) -> list[int]:
        """All tokens so far, exactly as the engine receives them."""
        return self.tree.ids(self._leaf)

    def open(
        self,
        messages: Sequence[Mapping[str, Any]],
        images: Sequence[Image] = (),
        context: str = "",
        without: Sequence[Mapping[str, Any]] = (),
        soft: tuple[int, ...] = (),
    ) -> list[int]:
        """Start with the first messages, such as system prompt and user; return the prompt.

        Args:
            messages: The messages.
            images: Their images.
            context: Text in the messages that training may cut out; empty if there is none.
            without: The messages without it.
            soft: Soft tokens before the prompt.

        Raises:
            ValueError: If removing the context changes the tokens around it.
        """
        segments = self.renderer.open(messages, self.tools, images)
        if context:
            plain = self.renderer.open(without, self.tools, images)
            ids, rest = ([i for s in each for i in s.ids] for each in (segments, plain))
            start, stop = (len(soft) + place for place in cut_of(ids, rest))
            first = Node(
                soft + segments[0].ids, segments[0].kind, hint=(start, stop), context=context
            )
            self._leaf = self.tree.add(first)
            segments = segments[1:]
        elif soft:
            segments[0] = Segment(segments[0].kind, soft + segments[0].ids)
        self._append(segments)
        return self.ids

    def hear(
        self, messages: Sequence[Mapping[str, Any]], images: Sequence[Image] = ()
    ) -> list[int]:
        """Append the messages after an assistant's turn; return the next prompt."""
        self._append(self.renderer.extend(self._last_turn, messages, self.tools, images))
        return self.ids

    def say(self, reply: TokenReply, state: str = "", trial: int = -1) -> str:
        """Append a turn sampled by the policy and return it as text.

        Args:
            reply: The engine's continuation.
            state: Hash of the messages before it.
            trial: Number of the trial that sampled it.
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
            entropies=tuple(reply.entropies),
        )
        self._leaf = self.tree.add(node)
        self._last_turn = node.ids
        self.turns += 1
        return self.renderer.decode(reply.ids)

    def tell(self, text: str, trial: int = -1, *, trained: bool = False) -> None:
        """Append an assistant turn of another agent.

        Args:
            text: The turn.
            trial: Number of the trial that it was inserted into; -1 for a start that all share.
            trained: Whether the policy imitates it (`corrected`); otherwise it has no gradient.
        """
        ids = self.renderer.encode(text)
        if self.renderer.end_of_turn is not None:
            ids = [*ids, self.renderer.end_of_turn]
        kind: NodeKind = "corrected" if trained else "told"
        self._leaf = self.tree.add(Node(tuple(ids), kind, self._leaf, self.turns, trial=trial))
        self._last_turn = tuple(ids)
        self.turns += 1

    def save(self) -> ConversationState:
        """Return the conversation as detached data."""
        tree = TokenTree([*self.tree.nodes])
        return ConversationState(tree, self.turns, self._leaf, self._last_turn)

    def load(self, state: ConversationState) -> None:
        """Restore a saved conversation; a state may be loaded several times."""
        self.tree = TokenTree([*state.tree.nodes])
        self.turns, self._leaf, self._last_turn = state.turns, state.leaf, state.last_turn

    def restart(self, messages: Sequence[Mapping[str, Any]], reason: str) -> list[int]:
        """Continue with a rewritten history in a new branch; return its prompt."""
        self._leaf = -1
        self._append(self.renderer.open(messages, self.tools), reason)
        return self.ids

    def _append(self, segments: Sequence[Segment], reason: str = "") -> None:
        for segment in segments:
            self._leaf = self.tree.add(Node(segment.ids, segment.kind, self._leaf, reason=reason))
            reason = ""
