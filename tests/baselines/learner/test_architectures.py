"""Models of many architectures: the learner's log-probabilities are those of their own forward."""

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.learner.architectures import (
    _PLAIN_HEADS,
    PackingUnsupported,
    check_packing,
    has_plain_head,
)
from hexathlon.baselines.learner.batching import parts_of
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.learner.scoring import score
from support.architectures import tiny
from support.learning import difference, examples

OWN_LOGITS = ("cohere", "gemma2", "granite")
"""Their logits are scaled or bounded after the head."""

MIXED = ("lfm2", "opt", "qwen3_next")
"""Convolutions, positions counted from the mask, and a recurrence: they mix packed sequences."""


def expected(model, ids, mask):
    with torch.no_grad():
        logits = model(input_ids=ids, use_cache=False).logits[:, :-1].float().log_softmax(-1)
    return logits.gather(-1, ids[:, 1:, None])[..., 0] * mask


@pytest.mark.parametrize("kind", sorted({*_PLAIN_HEADS, *OWN_LOGITS}))
def test_scores_are_those_of_the_models_own_forward(kind):
    model = tiny(kind)
    assert has_plain_head(model) == (kind not in OWN_LOGITS)
    batch = examples(5)
    for packed in (False, True):
        (part,) = parts_of(
            batch, 10_000, torch.device("cpu"), torch.float32, packed=packed, prefixes=False
        )
        assert (part.lengths is not None) == packed
        with torch.no_grad():
            result = score(model, part.ids, part.mask, entropy=True, lengths=part.lengths)
        target = expected(model, part.ids, part.mask)
        torch.testing.assert_close(result.log_probabilities, target, rtol=0, atol=1e-5)
        assert float(target.abs().max()) > 0


@pytest.mark.parametrize("kind", ["gpt2", "gemma2", "qwen3_moe"])
def test_packed_examples_give_the_update_of_padded_ones(kind):
    batch, results = examples(9), []
    for packing, budget in ((False, 10_000), (True, 10_000), (True, 40)):
        model = tiny(kind).train()
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        config = LearnerConfig(
            OptimiserConfig(learning_rate=1e-2, clip=0.0, eps=1e-3),
            packing=packing,
            token_budget=budget,
        )
        Learner(model, config, 1).update(batch)
        results.append(model.state_dict())
    assert difference(results[0], tiny(kind).state_dict()) > 1e-3
    assert difference(results[0], results[1]) <= 1e-5
    assert difference(results[0], results[2]) <= 1e-5


def test_experts_and_their_router_are_trained():
    model = tiny("qwen3_moe")
    before = {name: value.clone() for name, value in model.state_dict().items()}
    Learner(model, LearnerConfig(OptimiserConfig(learning_rate=1e-2)), 1).update(examples(6))
    moved = {name for name, value in model.state_dict().items() if not value.equal(before[name])}
    assert {name.partition(".mlp.")[2] for name in moved if ".mlp." in name} == {
        "experts.gate_up_proj",
        "experts.down_proj",
        "gate.weight",
    }


@pytest.mark.parametrize("kind", MIXED)
def test_models_that_mix_packed_sequences_are_rejected(kind):
    with pytest.raises(PackingUnsupported, match=f"{kind}.*set learner.packing = false"):
        Learner(tiny(kind), LearnerConfig(packing=True), 1)


def test_the_check_of_packing_leaves_the_models_mode():
    model = tiny("qwen3").train()
    check_packing(model)
    assert model.training


def test_packed_parts_are_counted_without_padding():
    batch = examples(12)
    lengths = [len(example.sample.ids) for example in batch]
    device = torch.device("cpu")
    padded = parts_of(batch, 60, device, torch.float32)
    packed = parts_of(batch, 60, device, torch.float32, packed=True)
    assert len(packed) <= len(padded)
    for parts in (padded, packed):
        assert sorted(row for part in parts for row in part.rows) == list(range(12))
    assert all(part.ids.numel() <= 60 for part in padded if len(part.rows) > 1)
    assert all(sum(lengths[row] for row in part.rows) <= 60 for part in packed)
    assert all(part.prefix is None for part in packed)
