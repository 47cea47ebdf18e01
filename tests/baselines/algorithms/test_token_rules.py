"""Token rules, and the estimators and surrogates that go with them: hand-computed values."""

import numpy as np
import pytest
import torch

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS, SURROGATES, TOKEN_RULES
from hexathlon.baselines.algorithms.estimators import Credit
from hexathlon.baselines.algorithms.hapo import entropy_rank
from hexathlon.baselines.algorithms.losses import TokenBatch
from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.algorithms.token_rules import TokenContext
from support.samples import first, group, sample


def context(one: Group, values: list[list[float]] | None = None, progress: float = 0.0):
    """Values of the sampled tokens, for entropies and disagreement alike."""
    arrays = []
    values = values or [[1.0] * member.tokens for member in one.samples]
    for member, row in zip(one.samples, values, strict=True):
        array = np.zeros(len(member.ids))
        array[member.sampled] = row
        arrays.append(array)
    return TokenContext([one], progress, lambda: arrays, lambda: arrays)


def drawn(arrays: list[np.ndarray], one: Group) -> list[list[float]]:
    return [a[s.sampled].tolist() for a, s in zip(arrays, one.samples, strict=True)]


def test_d3s_keeps_the_rollouts_and_tokens_with_the_most_signal():
    one = group((1, 0, 0, 1))
    credit = ESTIMATORS["grpo"]([one])
    entropies = [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]]
    rule = TOKEN_RULES["d3s"]
    half = rule(credit, context(one, entropies), rollouts=0.5, tokens=0.5)
    # Of rollouts 1 and 3, whose |A| are equal, the two tokens with the largest entropies.
    assert drawn(half.weights, one) == [[0, 0], [0, 0], [0, 0], [1, 1]]
    whole = rule(credit, context(one, entropies), rollouts=1.0, tokens=0.5)
    assert drawn(whole.weights, one) == [[0, 0], [0, 0], [1, 1], [1, 1]]
    assert whole.advantages is credit.advantages
    late = rule(credit, context(one, entropies, 0.5), rollouts=1.0, tokens=0.5, until=0.5)
    assert drawn(late.weights, one) == [[1, 1]] * 4
    middle = rule(credit, context(one, entropies, 0.25), rollouts=1.0, tokens=0.5, until=0.5)
    assert np.count_nonzero(drawn(middle.weights, one)) == 6
    with pytest.raises(ValueError, match="got rollouts=0, tokens=0.5"):
        rule(credit, context(one), rollouts=0)


def test_asyppo_uses_agreement_and_disagreement():
    one = group((1, 0))
    credit = ESTIMATORS["grpo"]([one])
    spread = [[0.1, 0.2], [0.3, 0.4]]
    result = TOKEN_RULES["asyppo"](credit, context(one, spread), agree=0.25, disagree=0.5)
    plain = first(credit.advantages, [one])
    assert drawn(result.advantages, one) == [[0.0, plain[0]], [plain[1], plain[1]]]
    assert drawn(result.streams["settled"], one) == [[0, 0], [1, 1]]
    assert result.weights is credit.weights, "masked tokens are still counted"
    equal = TOKEN_RULES["asyppo"](credit, context(one), agree=0.25, disagree=0.5)
    assert drawn(equal.advantages, one) == drawn(credit.advantages, one)
    assert not any(stream.any() for stream in equal.streams["settled"])
    with pytest.raises(ValueError, match="got agree=0.6 and disagree=0.6"):
        TOKEN_RULES["asyppo"](credit, context(one), agree=0.6, disagree=0.6)


def test_entropies_are_scaled_from_minus_one_to_one():
    entropies = [np.exp(np.array([-4.0, -1.0, 0.0])), np.exp(np.array([0.0, 0.5, 9.0]))]
    masks = [np.ones(3), np.array([1.0, 1.0, 0.0])]
    ranks = entropy_rank(entropies, masks)  # the median of -4, -1, 0, 0, 0.5 is 0
    assert ranks[0].tolist() == pytest.approx([-1.0, -0.25, 0.0])
    assert ranks[1].tolist() == pytest.approx([0.0, 1.0, 0.0])
    flat = entropy_rank([np.ones(2)], [np.ones(2)])
    assert flat[0].tolist() == [0.0, 0.0]


def test_hapos_groups_are_weighed_by_tokens():
    rows = [(1.0, 6), (0.0, 2)]
    one = Group("task", tuple(sample([r], lengths=[n]) for r, n in rows))
    credit = ESTIMATORS["hapo"]([one])
    deviation = np.sqrt(0.75 * 0.25)
    assert first(credit.advantages, [one]) == pytest.approx(
        [0.25 / deviation, -0.75 / deviation], abs=1e-5
    )
    per_token = np.concatenate(credit.advantages)
    assert per_token.sum() == pytest.approx(0.0)
    far = ESTIMATORS["hapo"]([one], most=1.0)
    assert first(far.advantages, [one]) == first(ESTIMATORS["grpo"]([one]).advantages, [one])
    assert not any(a.any() for a in ESTIMATORS["hapo"]([group((1, 1))]).advantages)


def batch(ratio: list[float], advantage: list[float], **streams: list[float]) -> TokenBatch:
    proximal = torch.full((1, len(ratio)), -1.5, dtype=torch.float64)
    return TokenBatch(
        current=proximal + torch.tensor([ratio], dtype=torch.float64).log(),
        proximal=proximal,
        behaviour=proximal,
        advantage=torch.tensor([advantage], dtype=torch.float64),
        mask=torch.ones_like(proximal),
        streams={
            name.replace("_", " "): torch.tensor([values], dtype=torch.float64)
            for name, values in streams.items()
        },
    )


def test_hapos_bounds_and_advantages_follow_the_entropy():
    ratios, signs = [1.25, 1.25, 0.75, 0.75, 1.0, 1.0], [1.0, 1.0, -1.0, -1.0, 1.0, 1.0]
    ranks = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]
    made = batch(ratios, signs, entropy_rank=ranks)
    loss = SURROGATES["hapo"](made, (0.8, 1.2), alpha=0.5, beta=0.1)
    # Uncertain: highest ratio 1.3, larger advantage outside [0.9, 1.1]; certain: lowest ratio 0.7.
    assert loss.values[0].tolist() == pytest.approx(
        [-1.1 * 1.25, -1.2, 1.1 * 0.8, 0.75, -1.0, -0.9]
    )
    assert loss.clipped[0].tolist() == [0, 1, 1, 0, 0, 0]


def test_hapo_without_its_rule_is_ppo():
    made = batch([0.5, 0.9, 1.1, 1.5], [1.0, -1.0, 1.0, -1.0])
    plain = SURROGATES["ppo"](made, (0.8, 1.2))
    assert torch.equal(SURROGATES["hapo"](made, (0.8, 1.2)).values, plain.values)
    assert torch.equal(SURROGATES["rl_plus"](made, (0.8, 1.2)).values, plain.values)


def test_the_rule_of_hapo_adds_its_stream():
    one = group((1, 0))
    credit: Credit = ESTIMATORS["hapo"]([one])
    result = TOKEN_RULES["hapo"](credit, context(one, [[0.5, 1.0], [1.0, 2.0]]))
    assert drawn(result.streams["entropy rank"], one) == [
        pytest.approx([-1.0, 0.0]),
        pytest.approx([0.0, 1.0]),
    ]


def test_external_solutions_are_compared_with_own_rollouts():
    own = [sample([r]) for r in (0.0, 1.0, 0.0)]
    one = Group("task", (*own, sample([1.0], external=True)))
    credit = ESTIMATORS["rl_plus"]([one])
    deviation = np.std([0, 1, 0], ddof=1)
    expected = (np.array([0, 1, 0, 1]) - 1 / 3) / deviation
    assert first(credit.advantages, [one]) == pytest.approx(expected, abs=1e-5)
    assert first(credit.streams["external"], [one]) == [0, 0, 0, 1]
    failed = Group("task", (own[0], own[2], sample([1.0], external=True)))
    alone = first(ESTIMATORS["rl_plus"]([failed]).advantages, [failed])
    assert alone == [0.0, 0.0, 1.0]
    plain = group((1, 0, 0))
    grpo = first(ESTIMATORS["grpo"]([plain]).advantages, [plain])
    assert first(ESTIMATORS["rl_plus"]([plain]).advantages, [plain]) == grpo


def test_external_tokens_have_an_unclipped_mixed_ratio():
    made = batch([1.5, 1.5], [1.0, 1.0], external=[1.0, 0.0])
    loss = SURROGATES["rl_plus"](made, (0.8, 1.2), power=0.5)
    before = np.exp(-1.5)
    now = 1.5 * before
    ratio = 2 * now / (before + (before + 1) / 2)
    assert loss.values[0].tolist() == pytest.approx([-ratio * np.sqrt(1 - now), -1.2])
    assert loss.clipped[0].tolist() == [0, 1]


@pytest.mark.parametrize("other", [0.0, 0.25])
def test_one_token_rollouts_follow_the_mean_of_their_candidates(other):
    """Enumerate all pairs of candidates of a policy over three tokens."""
    logits = torch.tensor([0.3, -0.2, 0.9], dtype=torch.float64, requires_grad=True)
    given, expected = 1, torch.zeros(3, dtype=torch.float64)
    for one in range(3):
        for two in range(3):
            log = logits.log_softmax(0)
            rewards = [1.0 if each == given else other for each in (one, two)]
            loss = -(rewards[0] * log[one] + rewards[1] * log[two]) / 2
            (gradient,) = torch.autograd.grad(loss, logits)
            expected += gradient * (log[one] + log[two]).exp().detach()
    current = logits.log_softmax(0)[given].reshape(1, 1)
    made = TokenBatch(current, current, current, torch.zeros(1, 1), torch.ones(1, 1))
    value = SURROGATES["otr"](made, (0.8, 1.2), other=other).values.sum()
    (found,) = torch.autograd.grad(value, logits)
    assert torch.allclose(found, expected)
