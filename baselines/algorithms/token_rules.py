"""Token rules: changes of the advantages and weights of single tokens, after the estimator.

A token with weight 0 is neither trained nor counted. Rules may add streams for losses to read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hexathlon.baselines.algorithms.estimators import Credit
from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.algorithms.samples import Array, Group

__all__ = [
    "TOKEN_RULES",
    "TokenContext",
    "TokenRule",
    "asyppo",
    "d3s",
    "end_blocks",
    "most_varied",
]


@dataclass(frozen=True, slots=False, eq=False)
class TokenContext:
    """What rules know besides the credit; values of tokens are computed on first use."""

    groups: Sequence[Group]
    progress: float
    """Share of the run's updates that have been made, from 0 to less than 1."""

    compute_entropies: Callable[[], list[Array]]
    compute_disagreement: Callable[[], list[Array]]

    @cached_property
    def entropies(self) -> list[Array]:
        """The policy's entropy at each sampled token, in nats, per sample `[tokens]`."""
        return self.compute_entropies()

    @cached_property
    def disagreement(self) -> list[Array]:
        """Deviation of the critic's heads at each sampled token, per sample `[tokens]`."""
        return self.compute_disagreement()


TokenRule = Callable[..., Credit]
"""Maps credit and its context to changed credit."""


TOKEN_RULES: Registry[TokenRule] = Registry("token rule")


def end_blocks(order: NDArray[np.int64], keep: int) -> list[NDArray[np.int64]]:
    """Return the sets of `keep` members that are a block from each end of an order."""
    return [
        np.concatenate([order[:low], order[len(order) - (keep - low) :]]) for low in range(keep + 1)
    ]


def most_varied(rewards: Array, keep: int) -> list[int]:
    """Return the `keep` members whose rewards have the largest variance.

    For scalar rewards, the best subset is a block from each end of the sorted order.
    """
    choices = end_blocks(np.argsort(rewards, kind="stable"), keep)
    best = max(choices, key=lambda chosen: float(rewards[chosen].var()))
    return sorted(int(member) for member in best)


def _least_of_largest(values: Sequence[Array], kept: Sequence[Array], share: float) -> float:
    """Return the smallest value of the largest `share` of the kept tokens."""
    pool = np.concatenate([v[k > 0] for v, k in zip(values, kept, strict=True)])
    count = int(np.ceil(share * len(pool) - 1e-9))
    return float(np.sort(pool)[len(pool) - count]) if count else np.inf


@TOKEN_RULES.register("d3s")
def d3s(
    credit: Credit,
    context: TokenContext,
    *,
    rollouts: float = 0.5,
    tokens: float = 0.5,
    until: float = 1.0,
) -> Credit:
    """Train the rollouts and tokens with the most signal, ever more of them (D3S).

    In each group, the share `rollouts` whose rewards vary most is kept, at least two; of their
    tokens, the share `tokens` of the batch with the largest |A| * entropy. Advantages remain those
    of the whole group. Both shares rise linearly to 1 at the share `until` of the run. Chosen
    here: the schedule's form, and variance of rewards, which orders subsets as that of advantages.

    Raises:
        ValueError: If a share is not in (0, 1].
    """
    if not all(0 < share <= 1 for share in (rollouts, tokens, until)):
        raise ValueError(
            f"expected shares above 0 and at most 1, got rollouts={rollouts}, tokens={tokens} and "
            f"until={until}"
        )
    rise = min(context.progress / until, 1.0)
    kept = []
    for group in context.groups:
        size = len(group.samples)
        share = rollouts + rise * (1.0 - rollouts)
        count = min(size, max(2, int(np.ceil(share * size - 1e-9))))
        members = set(most_varied(group.rewards, count))
        kept += [float(number in members) for number in range(size)]
    weights = [w * k for w, k in zip(credit.weights, kept, strict=True)]
    pairs = zip(credit.advantages, context.entropies, strict=True)
    signal = [np.abs(advantage) * entropy for advantage, entropy in pairs]
    least = _least_of_largest(signal, weights, tokens + rise * (1.0 - tokens))
    weights = [w * (s >= least) for w, s in zip(weights, signal, strict=True)]
    return credit._replace(weights=weights)


@TOKEN_RULES.register("asyppo")
def asyppo(
    credit: Credit, context: TokenContext, *, agree: float = 0.2, disagree: float = 0.2
) -> Credit:
    """Use where the critic's heads agree and where they do not (AsyPPO).

    The share `agree` of the tokens with the smallest deviation of the heads has nothing left to
    learn, so their advantages become 0; the share `disagree` with the largest has no entropy bonus,
    since there the states, not the policy, are uncertain. Needs the estimator `gae` or `gae_turns`
    and `critic.heads` of at least 2. Chosen here: both shares, over the tokens of the batch.

    Raises:
        ValueError: If the shares are negative, or more than 1 together.
    """
    if min(agree, disagree) < 0 or agree + disagree > 1:
        raise ValueError(
            f"expected shares of at most 1 together, got agree={agree} and disagree={disagree}"
        )
    spread = context.disagreement
    high = _least_of_largest(spread, credit.weights, disagree)
    low = _least_of_largest(spread, credit.weights, 1.0 - agree)
    smallest = _least_of_largest(spread, credit.weights, 1.0)
    advantages: list[Array] = [
        np.where(s >= low, a, 0.0) for s, a in zip(spread, credit.advantages, strict=True)
    ]
    settled = [((s >= high) & (s > smallest)).astype(np.float64) for s in spread]
    streams = {**credit.streams, "settled": settled}
    return credit._replace(advantages=advantages, streams=streams)
