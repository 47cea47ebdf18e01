"""Linear layers whose large products are oneDNN's give the results of `nn.Linear`."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from torch import nn
from torch.utils.checkpoint import checkpoint

from hexathlon.baselines.learner.products import (
    OneDnnLinear,
    has_onednn_products,
    use_onednn_products,
)

pytestmark = pytest.mark.skipif(not has_onednn_products(), reason="needs a CPU with AVX-512")

LARGE, SMALL = (3, 1500), (3, 5)
"""Shapes of inputs: products above and below the size from which oneDNN is used."""


def layers(inputs, outputs, bias=False):
    """A plain layer and its copy with oneDNN's products."""
    torch.manual_seed(0)
    plain = nn.Linear(inputs, outputs, bias=bias)
    changed = copy.deepcopy(plain)
    assert use_onednn_products(changed) == 1
    assert type(changed) is OneDnnLinear
    return plain, changed


def values(shape, inputs):
    generator = torch.Generator().manual_seed(1)
    return torch.randn(*shape, inputs, generator=generator)


def passed(layer, given, through=None):
    """The result of a layer, and the gradients of its input and parameters."""
    given = given.clone().requires_grad_()
    result = layer(given) if through is None else through(layer, given)
    (result * torch.linspace(-1, 1, result.shape[-1]).to(result)).square().sum().backward()
    return result.detach(), given.grad, *(parameter.grad for parameter in layer.parameters())


def error(result, exact):
    """The error as a fraction of the largest entry."""
    return float((result.double() - exact).abs().max() / exact.abs().max())


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("inputs", "outputs"), [(64, 192), (192, 64), (128, 128)])
def test_results_and_gradients_are_as_exact(inputs, outputs, bias):
    plain, changed = layers(inputs, outputs, bias)
    given = values(LARGE, inputs)
    exact = passed(copy.deepcopy(plain).double(), given.double())
    for ours, theirs, true in zip(passed(changed, given), passed(plain, given), exact, strict=True):
        assert ours.shape == theirs.shape
        assert error(ours, true) < max(2 * error(theirs, true), 1e-6)


def test_inference_gives_the_same_bits_as_training():
    _, changed = layers(64, 192, bias=False)
    given = values(LARGE, 64)
    trained = passed(changed, given)[0]
    with torch.no_grad():
        assert torch.equal(changed(given), trained)


def test_frozen_weights_get_no_gradient_and_pass_it_on():
    plain, changed = layers(64, 192)
    for layer in (plain, changed):
        layer.requires_grad_(False)
    given = values(LARGE, 64)
    (_, expected, none), (_, result, still_none) = passed(plain, given), passed(changed, given)
    assert none is still_none is None
    assert error(result, expected.double()) < 1e-6


def test_small_products_have_the_bits_of_the_plain_layer():
    plain, changed = layers(64, 192)
    given = values(SMALL, 64)
    for ours, theirs in zip(passed(changed, given), passed(plain, given), strict=True):
        assert torch.equal(ours, theirs)


def test_lower_precision_is_left_to_torch():
    plain, changed = layers(64, 192)
    given = values(LARGE, 64)
    with torch.autocast("cpu", torch.bfloat16):
        ours, theirs = changed(given), plain(given)
    assert ours.dtype == torch.bfloat16
    assert torch.equal(ours, theirs)
    changed, plain = changed.double(), plain.double()
    assert torch.equal(changed(given.double()), plain(given.double()))


def test_recomputed_activations_give_the_same_gradients():
    _, changed = layers(64, 192)
    given = values(LARGE, 64)
    stored = passed(changed, given)
    changed.zero_grad()
    again = passed(changed, given, lambda *of: checkpoint(*of, use_reentrant=False))
    for ours, theirs in zip(again, stored, strict=True):
        assert torch.equal(ours, theirs)


def test_only_plain_layers_of_32_bit_floats_change():
    class Other(nn.Linear):
        pass

    model = nn.Sequential(
        nn.Linear(4, 4), Other(4, 4), nn.Linear(4, 4, dtype=torch.float64), nn.ReLU()
    )
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert use_onednn_products(model) == 1
    assert use_onednn_products(model) == 0
    assert [type(layer) for layer in model] == [OneDnnLinear, Other, nn.Linear, nn.ReLU]
    after = model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], before[name]) for name in before)
