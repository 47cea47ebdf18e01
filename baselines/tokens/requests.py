"""Requests to token engines and their replies: token ids in, token ids out.

Token ids go in and come back, with the log-probability of each under the very distribution it was
drawn from. Nothing is decoded and encoded again on the way.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

__all__ = ["Finish", "Span", "TokenReply", "TokenRequest", "TokenSampling"]

Finish = Literal["stop", "length", "abort"]


@dataclass(frozen=True, slots=True)
class TokenSampling:
    """How tokens are drawn.

    Raises:
        ValueError: If a value is out of its range.
    """

    temperature: float = 1.0
    """0 takes the most likely token."""

    top_p: float = 1.0
    top_k: int = 0
    """Draw from so many of the most likely tokens; 0 from all."""

    max_tokens: int = 256
    seed: int = 0
    """Decides this request's draws, whatever else is in the batch."""

    skip: int = 0
    """Draws of this seed that were made before: a reply that was aborted goes on with the next."""

    stop_ids: tuple[int, ...] = ()
    """Tokens that end the reply; the one that did is part of it."""

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ValueError(f"temperature is {self.temperature}; it is at least 0")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p is {self.top_p}; it lies above 0 and up to 1")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}; it is at least 1")


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A prompt to be continued."""

    ids: list[int]
    sampling: TokenSampling
    session: str = ""
    """Episode that the prompt belongs to: what the engine computed for its last turn is reused
    where the prompt begins with it. Empty where nothing follows."""


class Span(NamedTuple):
    """Tokens of a reply that one policy version drew."""

    version: int
    start: int
    end: int


class TokenReply(NamedTuple):
    """A continuation."""

    ids: list[int]
    log_probabilities: list[float]
    """Of each token under the distribution it was drawn from, after temperature and cuts."""

    finish: Finish
    spans: list[Span]
    """Policy versions in order; their tokens add up to the reply."""
