"""Requests to token engines and their replies: token ids in, token ids out.

A reply has the log-probability of each token under the distribution it was sampled from. Tokens are
never decoded and encoded again.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, NamedTuple

__all__ = [
    "EntropyScale",
    "Finish",
    "Span",
    "TokenReply",
    "TokenRequest",
    "TokenSampling",
    "spans_of",
]

Finish = Literal["stop", "length", "abort"]


class EntropyScale(NamedTuple):
    """Logarithms of the entropies, in nats, between which tokens count as certain or uncertain."""

    lowest: float
    median: float
    highest: float


@dataclass(frozen=True, slots=True)
class TokenSampling:
    """Sampling parameters of a token request.

    Raises:
        ValueError: If a value is out of range.
    """

    temperature: float = 1.0
    """0 selects the most likely token."""

    top_p: float = 1.0
    top_k: int = 0
    """Sample from this number of most likely tokens; 0 means all."""

    max_tokens: int = 256
    seed: int = 0
    """Determines the request's draws, independently of the rest of the batch."""

    skip: int = 0
    """Number of draws to skip; the tokens that an aborted reply already has."""

    stop_ids: tuple[int, ...] = ()
    """Tokens that end the reply; the last token of a stopped reply is one of them."""

    entropies: bool = False
    """Whether the reply has the entropy of each token's distribution, if the engine knows it."""

    heat: float = 0.0
    """Range of a temperature by entropy (HAPO): `temperature` is multiplied by 1 + heat h. A token
    at the median of the engine's `EntropyScale` has h = 0, one at its ends, or beyond, -1 and 1.
    Without a scale, h is 0."""

    def __post_init__(self) -> None:
        if self.temperature < 0:
            raise ValueError(f"expected temperature >= 0, got {self.temperature}")
        if not 0 <= self.heat < 1:
            raise ValueError(f"expected 0 <= heat < 1, got {self.heat}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"expected 0 < top_p <= 1, got {self.top_p}")
        if self.max_tokens < 1:
            raise ValueError(f"expected max_tokens >= 1, got {self.max_tokens}")


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A prompt to continue."""

    ids: list[int]
    sampling: TokenSampling
    session: str = ""
    """Identifier of the episode: the engine reuses the cache of the session's last request as far
    as the prompt begins with it. Empty for single requests."""

    parent: str = ""
    """Session of the rollout that this one forks off: the engine may copy its cache as far as the
    prompt begins with it."""

    def after(self, reply: "TokenReply") -> "TokenRequest":
        """Return the request that continues an aborted reply with the same draws."""
        sampled, sampling = len(reply.ids), self.sampling
        rest = replace(
            sampling, max_tokens=sampling.max_tokens - sampled, skip=sampling.skip + sampled
        )
        return TokenRequest([*self.ids, *reply.ids], rest, self.session, self.parent)


class Span(NamedTuple):
    """Range of a reply's tokens sampled by one policy version."""

    version: int
    start: int
    end: int


def spans_of(versions: Iterable[int]) -> list[Span]:
    """Return the spans of equal versions, from the version of each token."""
    spans: list[Span] = []
    start = 0
    for version, tokens in groupby(versions):
        end = start + len(list(tokens))
        spans.append(Span(version, start, end))
        start = end
    return spans


class TokenReply(NamedTuple):
    """A continuation."""

    ids: list[int]
    log_probabilities: list[float]
    """Log-probability of each token under its sampling distribution, after temperature and
    truncation by top-p and top-k."""

    finish: Finish
    spans: list[Span]
    """Policy versions in order; the spans cover the whole reply."""

    entropies: tuple[float, ...] = ()
    """Entropy of each token's distribution at temperature 1, in nats; empty if unknown."""

    def first(self, count: int) -> "TokenReply":
        """Return the first tokens as an aborted reply, to be continued."""
        spans = [
            Span(span.version, span.start, min(span.end, count))
            for span in self.spans
            if span.start < count
        ]
        return TokenReply(
            self.ids[:count],
            self.log_probabilities[:count],
            "abort",
            spans,
            self.entropies[:count],
        )

    def joined(self, rest: "TokenReply") -> "TokenReply":
        """Return this aborted reply with its continuation."""
        offset = len(self.ids)
        spans = [Span(version, start + offset, end + offset) for version, start, end in rest.spans]
        return TokenReply(
            [*self.ids, *rest.ids],
            [*self.log_probabilities, *rest.log_probabilities],
            rest.finish,
            [*self.spans, *spans],
            (*self.entropies, *rest.entropies),
        )
