"""RMS norms with fewer passes give the results and gradients of transformers' own."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
from transformers.models.llama.modeling_llama import LlamaRMSNorm
from transformers.models.mistral.modeling_mistral import MistralRMSNorm
from transformers.models.qwen2.modeling_qwen2 import Qwen2RMSNorm
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

from hexathlon.baselines.learner.norms import FusedRmsNorm, fuse_norms

KINDS = (LlamaRMSNorm, MistralRMSNorm, Qwen2RMSNorm, Qwen3RMSNorm)
SHAPES = ((3, 7, 24), (2, 5, 4, 24), (24,))
SCALES = (1e-4, 1.0, 1e4)
"""Sizes of the values: far below, near and far above the root of epsilon."""


def norms(kind, width=24):
    """A norm of transformers and its copy with fewer passes."""
    plain = kind(width, eps=1e-6)
    with torch.no_grad():
        plain.weight.copy_(torch.linspace(-1, 2, width))
    changed = copy.deepcopy(plain)
    assert fuse_norms(changed) == 1
    assert type(changed) is FusedRmsNorm
    assert changed.state_dict().keys() == plain.state_dict().keys()
    return plain, changed


def values(shape, scale=1.0):
    return scale * torch.randn(shape, generator=torch.Generator().manual_seed(1))


def passed(layer, given, arranged=lambda result: result):
    """The result, and the gradients of input and weight."""
    given = given.clone().requires_grad_()
    result = layer(given)
    weights = torch.linspace(-1, 1, result.numel(), dtype=result.dtype).view_as(result)
    (arranged(result) * arranged(weights)).square().sum().backward()
    return result.detach(), given.grad, layer.weight.grad


def exact(kind, given):
    """The same of transformers' formula in double precision; its own norms compute in single."""
    weight = torch.linspace(-1, 2, 24).double().requires_grad_()
    given = given.double().requires_grad_()
    result = weight * given * torch.rsqrt(given.pow(2).mean(-1, keepdim=True) + 1e-6)
    factors = torch.linspace(-1, 1, result.numel()).double().view_as(result)
    (result * factors).square().sum().backward()
    return result.detach(), given.grad, weight.grad


def error(result, true):
    return float((result.double() - true).abs().max() / true.abs().max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("scale", SCALES)
def test_results_and_gradients_are_as_exact(kind, shape, scale):
    plain, changed = norms(kind)
    given = values(shape, scale)
    trues = exact(kind, given)
    for ours, theirs, true in zip(passed(changed, given), passed(plain, given), trues, strict=True):
        assert ours.shape == theirs.shape
        assert error(ours, true) < max(2 * error(theirs, true), 1e-6)


def test_gradients_in_another_order_of_memory_are_the_same():
    """Attention swaps the dimensions of heads and tokens behind the norm."""
    _, changed = norms(Qwen3RMSNorm)
    given = values((2, 5, 4, 24))
    swapped = passed(copy.deepcopy(changed), given, lambda result: result.transpose(1, 2))
    for ours, other in zip(passed(changed, given), swapped, strict=True):
        torch.testing.assert_close(ours, other)


def test_frozen_weights_and_inputs_get_no_gradient():
    _, changed = norms(Qwen3RMSNorm)
    given = values((3, 24))
    changed.weight.requires_grad_(False)
    result, for_input, for_weight = passed(changed, given)
    assert for_input is not None and for_weight is None
    changed.weight.requires_grad_(True)
    changed(given).sum().backward()
    assert changed.weight.grad is not None
    with torch.no_grad():
        torch.testing.assert_close(changed(given), result)


def test_other_types_and_other_formulas_are_left_alone():
    plain, changed = norms(Qwen3RMSNorm)
    given = values((3, 24)).bfloat16()
    assert torch.equal(changed(given), plain(given))
    assert fuse_norms(GemmaRMSNorm(24)) == 0  # multiplies by 1 + weight
    assert fuse_norms(Qwen3RMSNorm(24).bfloat16()) == 0
