"""Shared prefixes of rows are computed once, with identical results."""

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hexathlon.baselines.learner.batching import parts_of, shared_prefix
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.learner.scoring import hidden_states, score
from support.learning import difference, examples, model


def beginning_alike(count: int):
    """Examples in groups of three with the same first twelve tokens, four of them common to all."""
    made = []
    for number, one in enumerate(examples(count)):
        sample, more = one.sample, 12
        before = [7, 8, 9, 10, *[20 + number // 3] * 8]

        def longer(array, fill, more=more):
            return np.concatenate([np.full(more, fill, dtype=array.dtype), array])

        sample = replace(
            sample,
            ids=np.concatenate([np.array(before), sample.ids]),
            sampled=longer(sample.sampled, False),
            observed=longer(sample.observed, False),
            behaviour=longer(sample.behaviour, 0.0),
            turn=longer(sample.turn, -1),
        )
        made.append(
            replace(
                one,
                sample=sample,
                advantage=longer(one.advantage, 0.0),
                weight=longer(one.weight, 0.0),
            )
        )
    return made


def test_states_and_gradients_are_the_same():
    (part,) = parts_of(beginning_alike(9), 10_000, torch.device("cpu"), torch.float32)
    assert part.prefix is not None
    assert part.prefix.length == 12
    assert len(part.prefix.rows) == 3
    whole, shared = model(), model()
    losses = []
    for made, prefix in ((whole, None), (shared, part.prefix)):
        result = score(
            made, part.ids, part.mask, prefix=prefix, entropy=True, entropy_gradient=True
        )
        loss = (result.log_probabilities * part.mask).sum() + result.entropy.sum()
        loss.backward()
        losses.append(float(loss.detach()))
    assert losses[0] == pytest.approx(losses[1], abs=1e-3, rel=1e-6)
    gradients = [{n: p.grad for n, p in made.named_parameters()} for made in (whole, shared)]
    size = max(float(gradient.abs().max()) for gradient in gradients[0].values())
    assert difference(*gradients) <= 2e-6 * size


def test_shared_prefix_is_computed_once():
    (part,) = parts_of(beginning_alike(9), 10_000, torch.device("cpu"), torch.float32)
    made, read = model(), []
    made.model.layers[0].mlp.register_forward_pre_hook(
        lambda _, inputs: read.append(inputs[0].shape[:2].numel())
    )
    with torch.no_grad():
        apart = hidden_states(made, part.ids, part.prefix)
        together = hidden_states(made, part.ids)
    rows, width = part.ids.shape
    assert read == [3 * 12, rows * (width - 12), rows * width]
    torch.testing.assert_close(apart, together, rtol=0, atol=1e-5)


def test_update_is_independent_of_prefix_sharing():
    states = []
    for budget in (10_000, 60, 1):
        made = model()
        optimiser = OptimiserConfig(learning_rate=1e-2, clip=0.0, eps=1e-3)
        learner = Learner(made, LearnerConfig(optimiser, token_budget=budget), 1)
        learner.update(beginning_alike(9))
        states.append(made.state_dict())
    assert difference(states[0], states[1]) <= 1e-6
    assert difference(states[0], states[2]) <= 1e-6


def test_activation_checkpointing_disables_prefix_sharing():
    made = model()
    learner = Learner(made.train(), LearnerConfig(checkpointing=True), 1)
    assert learner.update(beginning_alike(6))["grad_norm"] > 0


def test_rows_without_shared_prefix_are_unchanged():
    rows = [np.array([1, 2, 3, 4]), np.array([2, 2, 3, 4]), np.array([3, 1])]
    assert shared_prefix(rows) is None
    assert shared_prefix(rows[:1]) is None
    assert shared_prefix([np.array([1]), np.array([1])]) is None


@settings(max_examples=200)
@given(st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=12), min_size=1, max_size=8))
def test_chosen_prefix_length_saves_most(lists):
    rows = [np.array(one) for one in lists]
    limit, width = min(map(len, lists)) - 2, max(map(len, lists))

    def saved(length):
        return length * (len(lists) - len({tuple(one[:length]) for one in lists}))

    best = max((saved(length) for length in range(max(limit, 0) + 1)), default=0)
    result = shared_prefix(rows)
    if result is None:
        assert best == 0 or best < 0.1 * len(lists) * width
        return
    length, firsts, index = result
    assert saved(length) == best
    for row, kind in zip(lists, index, strict=True):
        assert row[:length] == lists[firsts[kind]][:length]
