"""Episodes whose turns are tokens: sampled tokens stay as they were, the environment's are masked.

Text only. Whoever samples hands in tokens; nothing is encoded twice.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.tokens.conversation import TokenConversation
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import Span, TokenReply

__all__ = ["TokenEpisode", "TurnSampler", "play_together", "token_episodes"]

TurnSampler = Callable[[Sequence[list[int]]], tuple[Sequence[list[int]], Any]]
"""From prompts to completions and, where known, their log-probabilities."""


class TokenEpisode:
    """An episode with the tokens of its conversation.

    Args:
        episode: Plays; closed by its owner.
        renderer: Turns messages into tokens.

    Attributes:
        mask: 1 for each sampled token after the prompt, 0 for each of the environment.
        known: Log-probabilities of the same tokens; 0 for the environment's.
        has_known: Whether log-probabilities came with all completions.
    """

    def __init__(self, episode: BridgedEpisode, renderer: ChatRenderer) -> None:
        self.episode = episode
        self.mask: list[int] = []
        self.known: list[float] = []
        self.has_known = True
        self._talk = TokenConversation(renderer)
        self._prompt = 0

    @property
    def ids(self) -> list[int]:
        """All tokens so far: the next prompt."""
        return self._talk.ids

    @property
    def prompt_ids(self) -> list[int]:
        """The tokens before the first turn."""
        return self._talk.ids[: self._prompt]

    @property
    def completion_ids(self) -> list[int]:
        """The tokens from the first turn on."""
        return self._talk.ids[self._prompt :]

    def open(self, task: str | None, seed: int) -> None:
        """Start the episode."""
        opening = self.episode.open(task, seed)
        self._prompt = len(self._talk.open(self.episode.messages(opening)))

    def over(self, limit: int) -> bool:
        """Whether the episode has ended, or its completion has `limit` tokens."""
        return self.episode.over or len(self.mask) >= limit

    def take(self, ids: list[int], known: list[float] | None) -> None:
        """Take a turn from sampled tokens and, where known, their log-probabilities."""
        self.has_known = self.has_known and known is not None
        values = known or [0.0] * len(ids)
        text = self._talk.say(TokenReply(ids, values, "stop", [Span(0, 0, len(ids))]))
        reply = self.episode.say(text)
        self._grow(1, values)
        if not reply.done:
            self._talk.hear([{"role": "user", "content": reply.text}])
            self._grow(0, ())

    def _grow(self, mark: int, known: Sequence[float]) -> None:
        added = len(self._talk.ids) - self._prompt - len(self.mask)
        self.mask += [mark] * added
        self.known += [*known, *[0.0] * (added - len(known))]


@contextmanager
def token_episodes(
    event: str, count: int, renderer: ChatRenderer, **settings: Any
) -> Iterator[list[TokenEpisode]]:
    """Yield episodes of an event; they are closed at the end of the block."""
    with ExitStack() as stack:
        made = [stack.enter_context(BridgedEpisode(event, **settings)) for _ in range(count)]
        yield [TokenEpisode(each, renderer) for each in made]


def play_together(episodes: Sequence[TokenEpisode], sample: TurnSampler, limit: int) -> None:
    """Play opened episodes to their ends, one batch of completions per turn."""
    while live := [each for each in episodes if not each.over(limit)]:
        ids, known = sample([each.ids for each in live])
        for at, each in enumerate(live):
            each.take(list(ids[at]), None if known is None else list(known[at]))
