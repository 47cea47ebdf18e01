"""Requests in progress, and the rows of the key-value store that they occupy."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from torch import Tensor

from hexathlon.baselines.engines.errors import EngineError
from hexathlon.baselines.engines.local.sampler import Draws
from hexathlon.baselines.tokens.requests import Finish, TokenReply, TokenRequest, spans_of

__all__ = ["CacheRow", "Sequence", "wants_entropies"]


@dataclass(slots=True, eq=False)
class Sequence:
    """A request in progress."""

    request: TokenRequest
    done: Callable[[TokenReply | EngineError], None]
    """Called once, with the reply or an error."""

    on_token: Callable[[int], None] | None = None
    """Called with each sampled token."""

    ids: list[int] = field(init=False)
    """Tokens of the prompt and of the reply so far."""

    sampled: list[int] = field(default_factory=list)
    log_probabilities: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)
    draws: Draws = field(init=False)
    stops: frozenset[int] = field(init=False)
    observed: int = 0
    """Number of tokens that speculation has seen."""

    def __post_init__(self) -> None:
        sampling = self.request.sampling
        self.ids = list(self.request.ids)
        self.draws = Draws(sampling.seed, sampling.max_tokens, sampling.skip)
        self.stops = frozenset(sampling.stop_ids)

    def take(self, token: int, log_probability: float, version: int) -> None:
        """Append a sampled token.

        Raises:
            EngineError: If its log-probability is not a number.
        """
        if log_probability != log_probability:
            raise EngineError(
                "the model's logits are not finite: its weights are damaged, or the learning "
                "rate was too high"
            )
        self.ids.append(token)
        self.sampled.append(token)
        self.log_probabilities.append(log_probability)
        self.versions.append(version)
        if self.on_token is not None:
            self.on_token(token)

    def finish_reason(self, context: int) -> Finish | None:
        """Return why the sequence ends after its last token, or None if it continues."""
        if self.sampled[-1] in self.stops:
            return "stop"
        full = len(self.sampled) >= self.request.sampling.max_tokens or len(self.ids) >= context
        return "length" if full else None

    def reply(self, finish: Finish) -> TokenReply:
        """Return the tokens sampled so far as a reply."""
        spans, entropies = spans_of(self.versions), tuple(self.entropies)
        return TokenReply(self.sampled, self.log_probabilities, finish, spans, entropies)


@dataclass(slots=True, eq=False)
class CacheRow:
    """State of one row of the key-value store."""

    session: str = ""
    ids: list[int] = field(default_factory=list)
    """Tokens with cached keys and values."""

    sequence: Sequence | None = None
    used: int = 0
    """Last step in which the row was active."""

    opening: list[int] = field(default_factory=list)
    """The prompt that was prefilled from the first position; stays valid after `ids` is cleared,
    until the row is reused."""

    logits: Tensor | None = None
    """Logits after the opening, `[vocabulary]`."""

    @property
    def length(self) -> int:
        """Number of positions with valid keys and values."""
        return max(len(self.ids), len(self.opening))

    def set_opening(self, ids: list[int], logits: Tensor | None) -> None:
        """Store the row's opening; empty `ids` remove it."""
        self.opening, self.logits = ids, logits


def wants_entropies(sequences: Iterable[Sequence | None]) -> bool:
    """Return whether a request asks for entropies."""
    return any(one is not None and one.request.sampling.entropies for one in sequences)
