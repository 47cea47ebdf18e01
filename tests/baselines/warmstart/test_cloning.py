"""Order of cloned demonstrations: all equally often, or the clean ones first."""

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

import numpy as np

from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.learner.optimiser import OptimiserConfig
from hexathlon.baselines.warmstart.cloning import CloneConfig, clone
from hexathlon.baselines.warmstart.initial import ModelShape, make_model

ASKED, RIGHT, WRONG = 5, 6, 7
SHAPE = ModelShape(16, 32, 1, 2, 1, 16, 32, 16)


def demonstration(answer: int, reward: float) -> Sample:
    ids, written = np.array([ASKED, answer]), np.array([False, True])
    nothing, turn = np.zeros(2, dtype=bool), np.where(written, 0, -1)
    return Sample(ids, written, nothing, np.zeros(2), turn, rewards=(reward,))


def cloned(clean: float, steps: int = 120) -> float:
    """Probability of the right answer after cloning from equally many right and wrong ones."""
    shown = [demonstration(RIGHT, 1.0), demonstration(WRONG, 0.0)] * 8
    model = make_model(SHAPE, 16, 0)
    fast = OptimiserConfig(learning_rate=0.01)
    clone(model, shown, CloneConfig(steps=steps, batch=16, clean=clean, optimiser=fast), 0)
    with torch.no_grad():
        chances = model(torch.tensor([[ASKED]])).logits[0, -1].softmax(-1)
    return float(chances[RIGHT])


def test_without_a_clean_stage_all_demonstrations_count_equally() -> None:
    assert cloned(0.0) == pytest.approx(0.5, abs=0.1)


def test_clean_stage_trains_only_clean_demonstrations() -> None:
    assert cloned(1.0) > 0.95


def test_other_demonstrations_follow_the_clean_stage() -> None:
    assert cloned(0.5, steps=240) == pytest.approx(0.5, abs=0.1)


def test_every_demonstration_is_used_before_any_repeats() -> None:
    seen: list[float] = []
    shown = [demonstration(RIGHT, 1.0), demonstration(WRONG, 0.0)]
    model = make_model(SHAPE, 16, 0)
    still = OptimiserConfig(learning_rate=0.0)
    clone(
        model,
        shown,
        CloneConfig(steps=12, batch=1, optimiser=still),
        0,
        lambda step, metrics: seen.append(metrics["loss/policy"]),
    )
    pairs = list(zip(seen[::2], seen[1::2], strict=True))
    assert all(first != second for first, second in pairs)
    assert len({round(one + other, 9) for one, other in pairs}) == 1


def norms(weight: float, final_fraction: float) -> list[float]:
    """Gradient norms of five steps on one text, its first half observed, with a frozen model."""
    ids, actions = np.arange(5, 13), np.arange(8) >= 4
    turns = np.where(actions, 0, -1)
    samples = [Sample(ids, actions, ~actions, np.zeros(8), turns, rewards=(1.0,))]
    norms: list[float] = []
    frozen = OptimiserConfig(learning_rate=0.0)
    config = CloneConfig(5, 1, weight, final_fraction, optimiser=frozen)
    clone(
        make_model(SHAPE, 16, 0),
        samples,
        config,
        0,
        lambda step, metrics: norms.append(metrics["grad_norm"]),
    )
    return norms


def test_observation_weight_decays() -> None:
    falling = norms(1.0, 0.0)
    for step, weight in ((0, 1.0), (2, 0.5), (3, 0.25), (4, 0.0)):
        assert norms(weight, 1.0)[0] == pytest.approx(falling[step], rel=1e-5)
    assert len(set(norms(0.5, 1.0))) == 1 < len(set(falling))


@pytest.mark.parametrize("name", ["clean", "observation_weight_final_fraction"])
@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_share_out_of_range_is_rejected(name: str, share: float) -> None:
    with pytest.raises(ValueError, match=name):
        CloneConfig(**{name: share})
