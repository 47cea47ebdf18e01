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


def stepped(model: torch.nn.Module, steps: int, optimisers: Optimisers | None = None) -> Optimisers:
    """Take steps with gradients that are sums of two backward passes."""
    config = OptimiserConfig(learning_rate=1e-5, clip=0.0)
    optimisers = optimisers or Optimisers(model, config, steps)
    inputs = torch.linspace(-1.0, 2.0, 8, dtype=next(model.parameters()).dtype).view(2, 4)
    for _ in range(steps):
        optimisers.zero()
        for part in inputs:
            model(part).sum().backward()
            optimisers.collect()
        optimisers.step()
    return optimisers


def half(dtype: torch.dtype = torch.bfloat16) -> torch.nn.Module:
    model = torch.nn.Linear(4, 4)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.linspace(0.5, 0.9, parameter.numel()).view_as(parameter))
    return model.to(torch.bfloat16).to(dtype)


def test_steps_below_the_spacing_of_half_precision_add_up() -> None:
    """Values near 0.7 in bfloat16 are 0.004 apart; a step moves them by 0.00001."""
    trained, start, twin = half(), half(), half(torch.float32)
    stepped(trained, 600)
    stepped(twin, 600)
    for one, before, exact in zip(
        trained.parameters(), start.parameters(), twin.parameters(), strict=True
    ):
        assert one.dtype == torch.bfloat16
        assert float((one - before).detach().abs().max()) > 0.003
        torch.testing.assert_close(one.detach().float(), exact.detach(), rtol=0, atol=0.0021)


def test_masters_of_half_precision_weights_resume_bit_for_bit() -> None:
    whole, broken = half(), half()
    stepped(whole, 400)
    first = stepped(broken, 200)
    resumed = half()
    resumed.load_state_dict(broken.state_dict())
    again = Optimisers(resumed, first.config, 200)
    again.load(first.state())
    stepped(resumed, 200, again)
    for one, other in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(one, other)
    assert "masters" not in stepped(half(torch.float32), 1).state()


def test_masters_follow_weights_that_were_loaded() -> None:
    model = half()
    optimisers = stepped(model, 1)
    with torch.no_grad():
        model.weight.fill_(0.25)
    stepped(model, 1, optimisers)
    assert torch.equal(model.weight, torch.full_like(model.weight, 0.25))
    master = next(iter(optimisers.parameters())).detach()
    assert 0 < float((master - 0.25).abs().max()) < 2e-5
