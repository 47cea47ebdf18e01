"""Updates: independent of how a batch is split or distributed, and equal to the plain model."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

import numpy as np

from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.algorithms.registry import UnknownPart
from hexathlon.baselines.learner import scoring
from hexathlon.baselines.learner.batching import parts_of
from hexathlon.baselines.learner.learner import Learner, LearnerConfig, LossNotFinite
from hexathlon.baselines.learner.optimiser import OptimiserConfig, Optimisers, learning_rate
from hexathlon.baselines.learner.scoring import score
from support.learning import difference, examples, model, updated

RULES = ("token_mean", "sequence_mean", "sequence_sum", "constant")


def config(budget=10_000, rule="token_mean", surrogate="ppo", **more):
    return LearnerConfig(
        # With a tiny epsilon the first step of Adam is a sign, decided by rounding near 0.
        optimiser=OptimiserConfig(learning_rate=1e-2, clip=0.0, eps=1e-3),
        objective=Objective(surrogate=surrogate, aggregation=rule, **more),
        token_budget=budget,
    )


@pytest.mark.parametrize("rule", RULES)
def test_update_is_independent_of_microbatch_size(rule):
    batch = examples(12)
    whole = updated(config(rule=rule), batch)
    for budget in (1, 40, 120):
        assert difference(whole, updated(config(budget, rule), batch)) <= 1e-6


def test_streams_follow_their_tokens_into_parts():
    batch = examples(12)
    rates = [np.where(e.sample.sampled, 0.3 + 0.05 * n, 0.0) for n, e in enumerate(batch)]
    marked = [
        replace(e, streams={"entropy rank": rank, "settled": rank > 0.5})
        for e, rank in zip(batch, rates, strict=True)
    ]
    settings = {"surrogate": "hapo", "entropy_weight": 0.1}
    whole = updated(config(**settings), marked)
    for budget in (1, 40):
        assert difference(whole, updated(config(budget, **settings), marked)) <= 1e-6
    assert difference(whole, updated(config(**settings), batch)) > 1e-4
    settled = [replace(e, streams={"settled": np.ones(len(e.sample.ids))}) for e in batch]
    plain = updated(config(), batch)
    assert difference(plain, updated(config(entropy_weight=0.1), settled)) <= 1e-6


def test_entropies_of_samples_are_the_models():
    made, batch = model(), examples(6)
    learner = Learner(made, config(40, surrogate="sft"), 1)
    result = learner.entropies([example.sample for example in batch])
    for example, entropy in zip(batch, result, strict=True):
        ids = torch.as_tensor(example.sample.ids)[None]
        with torch.no_grad():
            logits = made(ids).logits[0].log_softmax(-1)
        expected = np.zeros(len(example.sample.ids))
        expected[1:] = -(logits.exp() * logits).sum(-1)[:-1].numpy()
        expected[~example.sample.sampled] = 0.0
        assert entropy == pytest.approx(expected, abs=1e-5)


def test_the_order_of_examples_does_not_matter():
    batch = examples(10)
    assert difference(updated(config(), batch), updated(config(), batch[::-1])) <= 1e-6


@pytest.mark.parametrize("surrogate", ["ppo", "gspo", "cispo", "reinforce", "sft", "ipa"])
def test_parts_of_an_observation_loss_add_up(surrogate):
    batch = examples(8)
    whole = updated(config(surrogate=surrogate, observation_weight=0.1), batch)
    cut = updated(config(60, surrogate=surrogate, observation_weight=0.1), batch)
    assert difference(whole, cut) <= 1e-6


def test_scores_equal_the_models_log_probabilities():
    made = model()
    (part,) = parts_of(examples(6), 10_000, torch.device("cpu"), torch.float32)
    result = score(made, part.ids, part.mask, entropy=True)
    with torch.no_grad():
        logits = made(part.ids).logits[:, :-1].log_softmax(-1)
    expected = logits.gather(-1, part.ids[:, 1:, None])[..., 0] * part.mask
    assert torch.allclose(result.log_probabilities, expected, atol=1e-5)
    entropy = -(logits.exp() * logits).sum(-1) * part.mask
    assert result.entropy is not None
    assert torch.allclose(result.entropy, entropy, atol=1e-5)


def test_chunks_of_logits_give_the_gradients_of_one_and_are_not_kept(monkeypatch):
    def graded(chunk):
        monkeypatch.setattr(scoring, "_CHUNK", chunk)
        made, calls = model(), []
        made.lm_head.register_forward_hook(lambda *_: calls.append(1))
        (part,) = parts_of(examples(6), 10_000, torch.device("cpu"), torch.float32)
        result = score(made, part.ids, part.mask, entropy=True, entropy_gradient=True)
        (result.log_probabilities + result.entropy).sum().backward()
        return result, made.model.embed_tokens.weight.grad, len(calls)

    one, gradient, once = graded(1 << 25)
    cut, other, often = graded(16 * 61)
    count = int((one.log_probabilities != 0).sum())
    chunks = -(-count // 16)
    assert (once, often) == (1, 2 * chunks), "each chunk is computed again for its gradients"
    assert chunks > 1
    torch.testing.assert_close(cut.log_probabilities, one.log_probabilities, rtol=0, atol=1e-6)
    torch.testing.assert_close(cut.entropy, one.entropy, rtol=0, atol=1e-6)
    torch.testing.assert_close(other, gradient, rtol=0, atol=1e-5)


def test_pivot_is_neither_trained_nor_counted():
    batch = examples(6)
    silent = [
        batch[0].__class__(example.sample, example.advantage, example.weight * 0.0)
        for example in batch[:2]
    ]
    assert difference(updated(config(), batch[2:]), updated(config(), silent + batch[2:])) <= 1e-6


def test_kl_term_pulls_towards_the_reference():
    batch = examples(6)
    free = updated(config(), batch)
    held = updated(config(beta=10.0, divergence="k2"), batch, reference=model(), steps=4)
    loose = updated(config(), batch, steps=4)
    start = model().state_dict()
    assert difference(free, start) > 0
    assert difference(held, start) < difference(loose, start)


def test_beta_without_reference_is_rejected():
    with pytest.raises(ValueError, match="needs a reference model"):
        Learner(model(), config(beta=0.1), 1)


def test_unknown_components_are_rejected_early():
    with pytest.raises(UnknownPart, match="no surrogate loss 'pqo'"):
        Learner(model(), config(surrogate="pqo"), 1)


def test_a_loss_that_is_not_a_number_changes_nothing():
    made = model()
    learner = Learner(made, config(), 1)
    before = {name: value.clone() for name, value in made.state_dict().items()}
    batch = examples(4)
    batch[1].advantage[:] = np.nan
    with pytest.raises(LossNotFinite, match="nan"):
        learner.update(batch)
    assert difference(before, made.state_dict()) == 0
    assert learner.optimisers.taken == 0


def test_old_log_probabilities_are_fixed_over_steps_of_a_batch():
    """The ratio is to the policy at the start of the update, so it changes in later steps."""
    made = model()
    learner = Learner(
        made,
        LearnerConfig(
            optimiser=OptimiserConfig(learning_rate=5e-2, clip=0.0),
            objective=Objective(),
            epochs=3,
            minibatches=2,
        ),
        6,
    )
    metrics = learner.update(examples(8))
    assert learner.optimisers.taken == 6
    assert metrics["ratio_gap"] > 0


def test_schedules():
    plain = OptimiserConfig(warmup=4)
    assert [learning_rate(plain, step, 10) for step in (0, 1, 3, 4, 9)] == [0.25, 0.5, 1, 1, 1]
    falling = OptimiserConfig(warmup=0, decay="linear", floor=0.5)
    assert [learning_rate(falling, step, 10) for step in (0, 5, 10, 99)] == [1, 0.75, 0.5, 0.5]
    cosine = OptimiserConfig(decay="cosine")
    assert learning_rate(cosine, 5, 10) == pytest.approx(0.5)


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_optimisers_resume_from_their_state(kind):
    settings = OptimiserConfig(kind=kind, learning_rate=1e-2, warmup=3, decay="cosine")
    straight, first = model(), model()
    one, other = Optimisers(straight, settings, 8), Optimisers(first, settings, 8)

    def step(made, optimisers, number):
        optimisers.zero()
        ids = torch.arange(10)[None] + number
        made(ids, labels=ids).loss.backward()
        optimisers.step()

    for number in range(8):
        step(straight, one, number)
    for number in range(4):
        step(first, other, number)
    second = model()
    second.load_state_dict(first.state_dict())
    again = Optimisers(second, settings, 8)
    again.load(other.state())
    for number in range(4, 8):
        step(second, again, number)
    assert difference(straight.state_dict(), second.state_dict()) == 0


def test_muon_uses_adamw_for_embeddings_and_norms():
    optimisers = Optimisers(model(), OptimiserConfig(kind="muon"), 1)
    kinds = {type(part).__name__: part for part, _ in optimisers._parts}
    assert set(kinds) == {"AdamW", "Muon"}
    shapes = {tuple(p.shape) for group in kinds["Muon"].param_groups for p in group["params"]}
    assert all(len(shape) == 2 and 61 not in shape for shape in shapes)
