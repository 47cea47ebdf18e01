"""R-EMID: a role-player's loss of information between context and reply under a shift.

Effective mutual information is what a model's replies share with their contexts beyond what the
reference replies share: EMI = I(x; ŷ) - I(x; y). R-EMID is the EMI on in-distribution dialogues
minus that on shifted ones; a positive value is a loss. I is estimated from log-probabilities
alone, by any callable that scores a reply given a context: with CLUB, as in R-EMID, or with a
plug-in estimate.

CLUB is the mean log p(y_i|x_i) minus the mean log p(y_j|x_i) over i ≠ j; with the true conditional
it bounds I from above (Cheng et al., 2020). The plug-in estimate replaces the second mean by the
log of the mean of p(y_i|x_j) over all j; with the true conditional it converges to I. Both are
divided by the mean length of the replies if a length is given.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hexathlon.evaluators.statistics.distributions import normal_quantile
from hexathlon.tasks.seeding import generator_for

__all__ = [
    "EffectiveInformation",
    "Exchange",
    "Information",
    "RolePlayShift",
    "effective_information",
    "information",
    "information_by_part",
    "role_play_shift",
]

Context = TypeVar("Context")
Reply = TypeVar("Reply")
LogProbability = Callable[[Context, Reply], float]
"""Natural log of the probability (or density) of a reply given a context."""

Array = NDArray[np.float64]
Length = Callable[[Any], float]
InformationEstimator = Literal["club", "plug_in"]


class Exchange(NamedTuple):
    """One reply in its context."""

    context: Any
    """User persona, character, dialogue and, if inferred, core features."""

    reply: Any
    """The model's reply, ŷ."""

    reference: Any
    """The reference reply, y."""


@dataclass(frozen=True, slots=True)
class Information:
    """An estimate of mutual information, in nats (per unit of length if one was given)."""

    value: float
    matched: float
    """Mean log-probability of replies in their own contexts."""

    mismatched: float
    """The subtracted term: that of replies in others' contexts."""

    influences: tuple[float, ...]
    """Contribution of each exchange to the estimate; their mean is about the value."""

    pairs: int
    """Number of scored mismatched pairs."""

    @property
    def standard_error(self) -> float:
        """Standard error, from the spread of the influences: a mean over exchanges and pairs."""
        return float(np.std(self.influences, ddof=1)) / math.sqrt(len(self.influences))


@dataclass(frozen=True, slots=True)
class EffectiveInformation:
    """EMI with its two parts."""

    value: float
    of_replies: Information
    of_references: Information

    @property
    def standard_error(self) -> float:
        """Standard error of the difference; replies and references share their contexts."""
        pairs = zip(self.of_replies.influences, self.of_references.influences, strict=True)
        differences = [reply - reference for reply, reference in pairs]
        return float(np.std(differences, ddof=1)) / math.sqrt(len(differences))


@dataclass(frozen=True, slots=True)
class RolePlayShift:
    """R-EMID with its parts and an interval."""

    value: float
    in_distribution: EffectiveInformation
    shifted: EffectiveInformation
    interval: tuple[float, float]
    """By the normal approximation, from the spread over exchanges."""


def information(
    log_probability: LogProbability[Context, Reply],
    contexts: Sequence[Context],
    replies: Sequence[Reply],
    *,
    estimator: InformationEstimator = "club",
    negatives: int = 1_000,
    length: Length | None = None,
    seed: int = 0,
) -> Information:
    """Estimate I(x; y) from paired contexts and replies.

    Args:
        log_probability: Scores a reply given a context.
        contexts: The x_i.
        replies: The y_i, in the same order.
        estimator: `club` or `plug_in`.
        negatives: Total number of mismatched pairs; at most n(n - 1), each drawn once.
        length: Length of a reply, such as its tokens; the estimate is divided by the mean length.
        seed: Seed of the mismatched pairs.

    Raises:
        ValueError: If there are fewer than two pairs, or the numbers differ.
    """
    count = len(contexts)
    if count < 2 or count != len(replies):
        raise ValueError(
            f"expected at least two contexts and as many replies, got {count} and {len(replies)}"
        )
    own = np.array([log_probability(x, y) for x, y in zip(contexts, replies, strict=True)])
    partners = _partners(count, negatives, seed)
    scored = np.array(
        [
            [
                log_probability(contexts[i], replies[j])
                if estimator == "club"
                else log_probability(contexts[j], replies[i])
                for j in row
            ]
            for i, row in enumerate(partners)
        ]
    )
    scale = 1.0 if length is None else float(np.mean([length(reply) for reply in replies]))
    if estimator == "club":
        subtracted = scored.mean(axis=1)
        influences = own - subtracted - _by_partner(partners, scored) + subtracted.mean()
    else:
        subtracted = np.array(
            [_log_mean(a, row, count) for a, row in zip(own, scored, strict=True)]
        )
        influences = own - subtracted
    matched, mismatched = float(own.mean()) / scale, float(subtracted.mean()) / scale
    return Information(
        matched - mismatched, matched, mismatched, tuple(map(float, influences / scale)),
        scored.size,
    )  # fmt: skip


def _partners(count: int, negatives: int, seed: int) -> list[list[int]]:
    """Return for each exchange the others that it is paired with, equally many for all."""
    each = max(1, min(count - 1, negatives // count))
    rng = generator_for("emid", seed, count, each)
    drawn = (rng.permutation(count - 1)[:each] for _ in range(count))
    return [[int(j) + (int(j) >= i) for j in row] for i, row in enumerate(drawn)]


def _by_partner(partners: Sequence[Sequence[int]], scored: Array) -> Array:
    """Return the mean score of each exchange as another's partner."""
    total, times = np.zeros(len(partners)), np.zeros(len(partners))
    for row, scores in zip(partners, scored, strict=True):
        total[row] += scores
        times[row] += 1
    overall = float(scored.mean())
    return np.where(times > 0, total / np.maximum(times, 1), overall)


def _log_mean(own: float, others: Array, count: int) -> float:
    """Return the log of the mean of exp(own) and the others, which stand for all count - 1."""
    top = max(own, float(others.max()))
    if top == -math.inf:
        return -math.inf
    weight = (count - 1) / len(others)
    total = math.exp(own - top) + weight * float(np.exp(others - top).sum())
    return top + math.log(total / count)


def information_by_part(
    log_probability: LogProbability[Mapping[str, Any], Reply],
    contexts: Sequence[Mapping[str, Any]],
    replies: Sequence[Reply],
    parts: Sequence[str],
    **options: Any,
) -> dict[str, float]:
    """Split I(x; y) by the chain rule: what each part of the context adds to those before it.

    Args:
        log_probability: Scores a reply given a context with some of its parts.
        contexts: By part, such as `user`, `character`, `dialogue`, `features`.
        replies: In the same order.
        parts: The parts, in the order in which they are added; the values sum to the whole.
        **options: As for `information`.
    """
    added: dict[str, float] = {}
    before = 0.0
    for place, part in enumerate(parts):
        held = [{name: x[name] for name in parts[: place + 1]} for x in contexts]
        value = information(log_probability, held, replies, **options).value
        added[part] = value - before
        before = value
    return added


def effective_information(
    log_probability: LogProbability[Any, Any], exchanges: Sequence[Exchange], **options: Any
) -> EffectiveInformation:
    """Return EMI = I(x; ŷ) - I(x; y) over some exchanges; options as for `information`."""
    contexts = [item.context for item in exchanges]
    replies = information(log_probability, contexts, [item.reply for item in exchanges], **options)
    references = information(
        log_probability, contexts, [item.reference for item in exchanges], **options
    )
    return EffectiveInformation(replies.value - references.value, replies, references)


def role_play_shift(
    log_probability: LogProbability[Any, Any],
    in_distribution: Sequence[Exchange],
    shifted: Sequence[Exchange],
    *,
    confidence: float = 0.95,
    **options: Any,
) -> RolePlayShift:
    """Return R-EMID = EMI of the in-distribution exchanges - EMI of the shifted ones.

    Args:
        log_probability: Scores a reply given a context.
        in_distribution: Exchanges of the in-distribution twin.
        shifted: Exchanges under user, character or dialogue-composition shift.
        confidence: Level of the interval.
        **options: As for `information`.
    """
    inside = effective_information(log_probability, in_distribution, **options)
    outside = effective_information(log_probability, shifted, **options)
    value = inside.value - outside.value
    reach = normal_quantile(0.5 + confidence / 2.0) * math.hypot(
        inside.standard_error, outside.standard_error
    )
    return RolePlayShift(value, inside, outside, (value - reach, value + reach))
