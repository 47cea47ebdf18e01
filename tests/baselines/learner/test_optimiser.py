"""Step sizes of AdamW: independent of the gradient's size, or proportional to it."""

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.learner.optimiser import OptimiserConfig, Optimisers


def moved(eps: float, gradient: float) -> float:
    """Distance that three steps with a constant gradient move a weight."""
    model = torch.nn.Linear(1, 1, bias=False, dtype=torch.float64)
    start = model.weight.item()
    optimisers = Optimisers(model, OptimiserConfig(eps=eps, clip=0.0), steps=3)
    for _ in range(3):
        model.weight.grad = torch.full_like(model.weight, gradient)
        optimisers.step()
    return abs(model.weight.item() - start) / optimisers.config.learning_rate


def test_a_small_eps_takes_equal_steps_from_small_and_large_gradients() -> None:
    assert moved(eps=1e-8, gradient=1e-4) == pytest.approx(3, rel=0.02)
    assert moved(eps=1e-8, gradient=1e-3) == pytest.approx(3, rel=0.02)


def test_a_large_eps_takes_steps_in_proportion_to_gradients() -> None:
    small, large = (moved(eps=1.0, gradient=gradient) for gradient in (0.01, 0.1))
    assert large / small == pytest.approx(10, rel=0.1)
    assert large == pytest.approx(3 * 0.1 / 1.1, rel=0.02)
