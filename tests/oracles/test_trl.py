"""TRL's GRPO loss, called on given log-probabilities, equals ours.

`GRPOTrainer._compute_loss` is called unbound with an object that has the attributes it reads;
everything it computes is its own.
"""

from collections import defaultdict
from types import SimpleNamespace

import pytest

pytest.importorskip("trl", reason="TRL is not installed here: make test-oracles")
pytestmark = pytest.mark.oracles

import torch
from trl import GRPOTrainer

from hexathlon.baselines.algorithms.aggregation import AGGREGATIONS, count
from hexathlon.baselines.algorithms.divergences import DIVERGENCES
from support.token_batches import ours, same_value_and_gradient, token_batch

SEEDS = range(5)


def theirs(batch, loss_type, *, low=0.2, high=0.28, level="token", beta=0.0, **more):
    """TRL's loss of one micro-batch that is a whole step."""
    sizes = torch.ones(len(batch.mask), 1, dtype=torch.long)
    accelerator = SimpleNamespace(
        gather=lambda value: value, reduce=lambda value, reduction: value, num_processes=1
    )
    trainer = SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *a, **k: (
            batch.current,
            torch.zeros_like(batch.mask),
            None,
        ),
        aux_loss_enabled=False,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=more.pop("off_policy", None),
        importance_sampling_level=level,
        beta=beta,
        loss_type=loss_type,
        epsilon_low=low,
        epsilon_high=high,
        use_vllm="importance" in more,
        vllm_importance_sampling_correction=True,
        max_completion_length=batch.mask.shape[1],
        current_gradient_accumulation_steps=1,
        accelerator=accelerator,
        _entropy_bonus_enabled=False,
        model=SimpleNamespace(training=True),
        args=SimpleNamespace(
            delta=more.pop("delta", None),
            steps_per_generation=1,
            use_bias_correction_kl=more.pop("unbiased", False),
        ),
        _metrics={"train": defaultdict(list)},
    )
    inputs = {
        "prompt_ids": sizes,
        "prompt_mask": sizes,
        "completion_ids": torch.zeros_like(batch.mask, dtype=torch.long),
        "completion_mask": batch.mask,
        "advantages": batch.advantage[:, 0],
        "old_per_token_logps": batch.proximal,
        "ref_per_token_logps": batch.reference,
        "num_items_in_batch": batch.mask.sum(),
        "importance_sampling_ratio": more.pop("importance", None),
    }
    assert not more
    return GRPOTrainer._compute_loss(trainer, None, inputs)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("loss_type", "rule", "length"),
    [("grpo", "sequence_mean", 0), ("dapo", "token_mean", 0), ("dr_grpo", "constant", 9)],
)
def test_clipped_losses(loss_type, rule, length, seed):
    batch = token_batch(seed)
    found = ours(batch, "ppo", (0.8, 1.28), rule, length=length)
    same_value_and_gradient(found, theirs(batch, loss_type), batch)


@pytest.mark.parametrize("seed", SEEDS)
def test_gspo_is_grpo_at_sequence_level(seed):
    batch = token_batch(seed)
    found = ours(batch, "gspo", (0.95, 1.05), "sequence_mean")
    expected = theirs(batch, "grpo", low=0.05, high=0.05, level="sequence")
    same_value_and_gradient(found, expected, batch)


@pytest.mark.parametrize("seed", SEEDS)
def test_cispo_is_bounded_only_from_above(seed):
    batch = token_batch(seed)
    found = ours(batch, "cispo", (0.0, 1.28), "token_mean")
    same_value_and_gradient(found, theirs(batch, "cispo", high=1.28), batch)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("unbiased", "kind"), [(False, "k3"), (True, "r_k3")])
def test_the_pull_towards_a_reference(unbiased, kind, seed):
    """Our k3 takes the ratio to the sampler, which for TRL is the start of the update."""
    batch = token_batch(seed)
    batch = type(batch)(
        batch.current,
        batch.proximal,
        batch.proximal,
        batch.advantage,
        batch.mask,
        batch.turn,
        batch.reference,
    )
    scale = AGGREGATIONS["token_mean"](batch.mask, count(batch.mask))
    found = ours(batch, "ppo", (0.8, 1.28), "token_mean")
    found = found + 0.3 * (DIVERGENCES[kind](batch) * scale).sum()
    expected = theirs(batch, "dapo", beta=0.3, unbiased=unbiased)
    same_value_and_gradient(found, expected, batch)


@pytest.mark.parametrize("seed", SEEDS)
def test_truncated_importance_sampling(seed):
    from hexathlon.baselines.algorithms.corrections import CORRECTIONS

    batch = token_batch(seed)
    weight = CORRECTIONS["tis"](batch, cap=1.5)
    found = ours(batch, "ppo", (0.8, 1.28), "token_mean", weight)
    ratio = (batch.proximal - batch.behaviour).exp().clamp(max=1.5)
    same_value_and_gradient(found, theirs(batch, "dapo", importance=ratio), batch)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_deliberate_difference_dual_clip(seed):
    """TRL's `delta` truncates the ratio before the advantage; dual clip bounds only negatives.

    They agree if no positive advantage has a ratio above the ceiling, which clipping hides from
    the loss anyway as long as the ceiling is above the upper bound.
    """
    batch = token_batch(seed)
    found = ours(batch, "ppo", (0.8, 1.28), "token_mean", dual=1.4)
    same_value_and_gradient(found, theirs(batch, "dapo", delta=1.4), batch)
