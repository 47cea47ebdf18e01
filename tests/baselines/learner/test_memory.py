"""Memory savings: adapters, recomputed activations, and half precision."""

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.engines.local.engine import LocalEngine
from hexathlon.baselines.learner.adapters import (
    AdapterConfig,
    AdaptersMissing,
    add_adapters,
    merged,
    save_adapters,
)
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from support.learning import difference, examples, model

IDS = [[5, 9, 2, 33, 8, 1, 60, 4]]


def adapted(steps: int = 3):
    """A briefly trained model with adapters."""
    pytest.importorskip("peft", reason="pip install 'hexathlon[lora]'")
    made = model()
    add_adapters(made, AdapterConfig(rank=4), seed=0)
    config = LearnerConfig(OptimiserConfig(learning_rate=1e-2))
    learner = Learner(made, config, steps)
    for _ in range(steps):
        learner.update(examples(6))
    return made


def logits(made):
    with torch.no_grad():
        return made(torch.tensor(IDS)).logits


def test_new_adapters_are_identity():
    pytest.importorskip("peft", reason="pip install 'hexathlon[lora]'")
    made = model()
    before = logits(made)
    add_adapters(made, AdapterConfig(rank=4), seed=0)
    torch.testing.assert_close(logits(made), before, rtol=0, atol=1e-6)


def test_update_changes_only_adapters():
    start = dict(model().named_parameters())
    moved = []
    for name, parameter in adapted().named_parameters():
        if "lora_" in name:
            moved.append(float(parameter.detach().abs().max()) > 0)
            continue
        assert torch.equal(parameter, start[name.replace(".base_layer", "")])
    assert len(moved) == 2 * 7 * 2
    assert all(moved)


def test_merged_weights_equal_adapters():
    made = adapted()
    whole = merged(made)
    assert set(whole.state_dict()) == set(model().state_dict())
    torch.testing.assert_close(logits(whole), logits(made), rtol=0, atol=1e-5)
    assert difference(whole.state_dict(), model().state_dict()) > 1e-3


def test_the_engine_plays_the_adapted_policy():
    made = adapted()
    expected = logits(made)[0, :-1].log_softmax(-1)
    wanted = expected.gather(-1, torch.tensor(IDS)[0, 1:, None])[:, 0]
    (result,) = LocalEngine(made).score(IDS)
    torch.testing.assert_close(torch.tensor(result), wanted, rtol=0, atol=1e-5)


def test_saved_adapters_load_in_peft(tmp_path):
    from peft import PeftModel

    made = adapted()
    model().save_pretrained(tmp_path / "base")
    save_adapters(tmp_path / "adapters", made, str(tmp_path / "base"))
    again = PeftModel.from_pretrained(model(), str(tmp_path / "adapters"))
    torch.testing.assert_close(logits(again), logits(made), rtol=0, atol=1e-6)


def test_missing_peft_is_reported(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    with pytest.raises(AdaptersMissing, match="hexathlon\\[lora\\]"):
        add_adapters(model(), AdapterConfig(), seed=0)


def test_merging_without_adapters_is_identity():
    made = model()
    assert merged(made) is made


def gradients(checkpointing: bool = False, precision="float32", adapters: bool = False):
    made = model()
    if adapters:
        pytest.importorskip("peft", reason="pip install 'hexathlon[lora]'")
        add_adapters(made, AdapterConfig(rank=4), seed=0)
    config = LearnerConfig(
        OptimiserConfig(learning_rate=0.0, clip=0.0),
        checkpointing=checkpointing,
        precision=precision,
    )
    learner = Learner(made.train(), config, 1)
    calls = []
    layer = made.model.layers[0]
    layer.mlp.register_forward_pre_hook(lambda *_: calls.append(1))
    learner.update(examples(8))
    result = {n: p.grad.clone() for n, p in made.named_parameters() if p.grad is not None}
    return result, len(calls)


@pytest.mark.parametrize("adapters", [False, True])
def test_activation_checkpointing_keeps_gradients(adapters):
    kept, once = gradients(adapters=adapters)
    again, twice = gradients(checkpointing=True, adapters=adapters)
    assert (once, twice) == (1, 2)
    assert set(kept) == set(again)
    assert difference(kept, again) <= 1e-6


def test_half_precision_changes_gradients_slightly():
    whole, _ = gradients()
    half, _ = gradients(precision="bfloat16")
    assert all(gradient.dtype == torch.float32 for gradient in half.values())
    size = max(float(gradient.abs().max()) for gradient in whole.values())
    assert 0 < difference(whole, half) < 0.05 * size
