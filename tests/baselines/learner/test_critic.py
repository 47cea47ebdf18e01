"""The critic: true values by enumeration, exact gradients, and exact resumption."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

import numpy as np

from hexathlon.baselines.algorithms.catalogue import ESTIMATORS
from hexathlon.baselines.algorithms.objectives import Objective
from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.critic import Critic, CriticConfig
from hexathlon.baselines.learner.errors import LossNotFinite
from hexathlon.baselines.learner.learner import Learner, LearnerConfig
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.training.saving import load_state, save_state
from support.learning import difference, examples, model

WORDS, LENGTH = 3, 3


def process() -> list[Sample]:
    """Every path of a uniform policy over three words, three tokens long, in two turns."""
    made = []
    for path in itertools.product(range(WORDS), repeat=LENGTH):
        sampled = np.array([False, True, True, False, True])
        made.append(
            Sample(
                ids=np.array([50, 10 + path[0], 20 + path[1], 51, 30 + path[2]]),
                sampled=sampled,
                observed=np.array([False, False, False, True, False]),
                behaviour=np.where(sampled, -np.log(WORDS), 0.0),
                turn=np.array([-1, 0, 0, -1, 1]),
                rewards=(float(path[0] == path[1]), float(sum(path) >= 3) - 0.5),
            )
        )
    return made


def true_values(samples: list[Sample]) -> list[np.ndarray]:
    """Return the true values: mean future return over all paths with the same prefix.

    Without a discount; a token's reward is received when its turn ends.
    """
    result = []
    for sample in samples:
        values = np.zeros(len(sample.ids))
        for position in np.flatnonzero(sample.sampled):
            alike = [s for s in samples if (s.ids[:position] == sample.ids[:position]).all()]
            due = 0 if position < 3 else 1
            values[position] = np.mean([sum(s.rewards[due:]) for s in alike])
        result.append(values)
    return result


def with_returns(samples: list[Sample], critic: Critic, lam: float) -> list[Example]:
    values = critic.values(samples)
    credit = ESTIMATORS["gae"]([Group("t", tuple(samples))], values, lam=lam, whitened=False)
    assert credit.returns is not None
    streams = zip(samples, credit.advantages, credit.weights, credit.returns, strict=True)
    return [Example(*stream) for stream in streams]


@pytest.mark.parametrize("lam", [1.0, 0.5])
def test_values_converge_to_the_true_ones(lam):
    samples = process()
    config = CriticConfig(clip=0.0, optimiser=OptimiserConfig(learning_rate=5e-3))
    critic = Critic(model(), config, 150)
    for _ in range(150):
        critic.update(with_returns(samples, critic, lam))
    expected = true_values(samples)
    error = max(
        float(np.abs(v - w).max()) for v, w in zip(critic.values(samples), expected, strict=True)
    )
    spread = max(float(w.max()) for w in expected) - min(float(w.min()) for w in expected)
    assert spread > 1
    assert error < 0.05


def test_heads_learn_from_their_own_rollouts():
    samples = [replace(s, key=f"task#{n}") for n, s in enumerate(process())]
    critic = Critic(model(), CriticConfig(clip=0.0, heads=2), 20)
    learner = Learner(model(), LearnerConfig(), 1, critic=critic)
    assert not any(spread.any() for spread in learner.disagreement(samples)), "heads start at 0"
    heads = [int(critic._heads(sample)["critic head"][0]) for sample in samples]
    assert heads == [n % 2 for n in range(len(samples))], "each has a share of every task"
    made = [
        Example(s, np.zeros(len(s.ids)), s.sampled.astype(float), s.sampled * float(head))
        for s, head in zip(samples, heads, strict=True)
    ]
    for _ in range(20):
        critic.update(made)
    first, second = critic.network.head.weight.detach()
    assert not np.array_equal(first, second)
    values, spread = critic.values(samples), learner.disagreement(samples)
    # One head approaches 0 and the other 1: their mean, and half their distance.
    assert 0.3 < np.mean([v[s.sampled].mean() for v, s in zip(values, samples, strict=True)]) < 0.7
    assert np.mean([v[s.sampled].mean() for v, s in zip(spread, samples, strict=True)]) > 0.3
    learner = Learner(model(), LearnerConfig(), 1, critic=Critic(model(), CriticConfig(), 1))
    with pytest.raises(ValueError, match="set critic.heads to 2 or more"):
        learner.disagreement(samples)


def test_shared_trunk_is_frozen():
    policy = model()
    before = {name: value.clone() for name, value in policy.state_dict().items()}
    samples = process()
    critic = Critic(policy, CriticConfig(trunk="shared", clip=0.0), 20)
    first = critic.update(with_returns(samples, critic, 1.0))["critic/loss"]
    for _ in range(19):
        last = critic.update(with_returns(samples, critic, 1.0))["critic/loss"]
    assert difference(before, policy.state_dict()) == 0
    assert last < 0.9 * first
    assert set(critic.state()["network"]) == {"head.weight", "head.bias"}


class Recurrent(torch.nn.Module):
    """A trunk entirely in double precision; norms of real models use single precision."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.Embedding(64, 8)
        self.cell = torch.nn.GRU(8, 8, batch_first=True)
        self.double()

    def get_input_embeddings(self):
        return self.embedding

    def get_decoder(self):
        return self

    def forward(self, input_ids, use_cache):
        return SimpleNamespace(last_hidden_state=self.cell(self.embedding(input_ids))[0])


def test_gradients_agree_with_finite_differences():
    critic = Critic(Recurrent(), CriticConfig(clip=0.1), 1)
    torch.nn.init.normal_(critic.network.head.weight, std=0.1)
    batch = [
        replace(example, old_values=value)
        for example, value in zip(
            with_returns(process(), critic, 0.9), critic.values(process()), strict=True
        )
    ]
    with torch.no_grad():  # so that some values have moved beyond the clip
        critic.network.head.bias += 0.07
    parts = critic._parts(batch)
    tokens = sum(float((part.mask > 0).sum()) for part in parts)

    def loss():
        return sum(critic.loss(part, tokens) for part in parts)

    loss().backward()
    parameters = dict(critic.network.named_parameters())
    for name in ("head.weight", "head.bias", "trunk.cell.weight_hh_l0", "trunk.embedding.weight"):
        flat, step = parameters[name].data.view(-1), 1e-6
        for place in (0, len(flat) // 2, 8 * 51 % len(flat)):
            kept = float(flat[place])
            with torch.no_grad():
                flat[place] = kept + step
                above = float(loss())
                flat[place] = kept - step
                below = float(loss())
                flat[place] = kept
            result = float(parameters[name].grad.view(-1)[place])
            assert result == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-9)


def test_update_is_independent_of_microbatch_size():
    batch = examples(9)
    batch = [replace(e, returns=e.advantage + 0.3) for e in batch]
    states = []
    for budget in (10_000, 40):
        optimiser = OptimiserConfig(learning_rate=1e-2, clip=0.0, eps=1e-3)
        critic = Critic(model(), CriticConfig(optimiser=optimiser), 2, budget)
        critic.update(batch)
        critic.update(batch[::-1])
        states.append(critic.network.state_dict())
    assert difference(*states) <= 1e-6


def test_policy_is_frozen_during_critic_warmup():
    policy, samples = model(), process()
    critic = Critic(policy, CriticConfig(warmup=2), 3)
    learner = Learner(policy, LearnerConfig(), 1, critic=critic)
    before = {name: value.clone() for name, value in policy.state_dict().items()}
    for _ in range(2):
        result = learner.update(with_returns(samples, critic, 0.95))
        assert "critic/loss" in result
        assert "loss/policy" not in result
    assert difference(before, policy.state_dict()) == 0
    result = learner.update(with_returns(samples, critic, 0.95))
    assert {"critic/loss", "critic/explained", "loss/policy"} <= set(result)
    assert difference(before, policy.state_dict()) > 0


def test_critic_resumes_bit_for_bit(tmp_path):
    """Save policy and critic midway and load them into new objects."""

    def run(learner, steps):
        for _ in range(steps):
            learner.update(with_returns(process(), learner.critic, 0.9))

    def fresh():
        policy = model()
        config = CriticConfig(warmup=1, epochs=2, minibatches=2)
        return Learner(policy, LearnerConfig(epochs=2), 12, critic=Critic(policy, config, 6))

    whole = fresh()
    run(whole, 6)
    first = fresh()
    run(first, 3)
    save_state(tmp_path, 3, first.model, first.optimisers, {}, first.critic)
    second = fresh()
    load_state(tmp_path / "000003", second.model, second.optimisers, second.critic)
    run(second, 3)
    assert difference(whole.model.state_dict(), second.model.state_dict()) == 0
    one, other = whole.critic.network.state_dict(), second.critic.network.state_dict()
    assert difference(one, other) == 0
    assert whole.critic.values(process())[3].tolist() == second.critic.values(process())[3].tolist()


def test_missing_or_invalid_targets_are_reported():
    critic = Critic(model(), CriticConfig(), 1)
    with pytest.raises(ValueError, match="critic needs returns"):
        critic.update(examples(2))
    broken = [replace(example, returns=example.advantage * np.nan) for example in examples(2)]
    before = {name: value.clone() for name, value in critic.network.state_dict().items()}
    with pytest.raises(LossNotFinite, match="critic's loss"):
        critic.update(broken)
    assert difference(before, critic.network.state_dict()) == 0


def test_proximal_points_differ_only_for_old_tokens():
    """A-3PO interpolates for tokens older than the policy, and equals PPO's bypass for others."""

    def after(proximal, version):
        policy = model()
        objective = Objective(proximal=proximal)
        config = LearnerConfig(OptimiserConfig(learning_rate=1e-2), objective)
        learner = Learner(policy, config, 1)
        learner.version = 3
        batch = [
            replace(e, sample=replace(e.sample, version=np.where(e.sample.sampled, version, -1)))
            for e in examples(6)
        ]
        learner.update(batch)
        return policy.state_dict()

    assert difference(after("interpolated", 3), after("behaviour", 3)) == 0
    assert difference(after("interpolated", 1), after("behaviour", 1)) > 0
    assert difference(after("interpolated", 1), after("start", 1)) > 0
