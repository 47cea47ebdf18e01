"""Matrix products of linear layers on CPUs with AVX-512, by oneDNN instead of MKL.

torch multiplies 32-bit matrices with MKL, which uses AVX-512 on Intel processors only. oneDNN, also
part of torch, uses it on others as well, and is twice as fast there. Nothing here knows about
models, updates or engines: layers keep their parameters, names and results, up to rounding.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["OneDnnLinear", "has_fast_mkl", "has_onednn_products", "is_plain", "use_onednn_products"]

_SMALLEST = 3e7
"""Minimum number of multiplications: oneDNN compiles a kernel for every new shape, which takes
about as long as it saves in one product of this size in each of a few layers."""


@lru_cache(maxsize=1)
def has_fast_mkl() -> bool:
    """Return whether the processor is one of those on which MKL uses all vector instructions."""
    described = Path("/proc/cpuinfo")
    return described.exists() and "GenuineIntel" in described.read_text(encoding="utf-8")


def has_onednn_products() -> bool:
    """Return whether oneDNN is available and faster than torch's default."""
    return (
        torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )


def use_onednn_products(model: nn.Module) -> int:
    """Let the linear layers of a model multiply with oneDNN, where it is faster.

    Args:
        model: Changed in place; only plain `nn.Linear` layers of 32-bit floats on a CPU are.

    Returns:
        Number of layers changed.
    """
    if not has_onednn_products():
        return 0
    layers = [layer for layer in model.modules() if type(layer) is nn.Linear]
    changed = [layer for layer in layers if is_plain(layer.weight)]
    for layer in changed:
        layer.__class__ = OneDnnLinear
    return len(changed)


class OneDnnLinear(nn.Linear):
    """A linear layer that computes large products with oneDNN, forward and backward."""

    def forward(self, values: Tensor) -> Tensor:
        """Return `values @ weight.T + bias`, `[..., outputs]`."""
        plain = is_plain(values) and is_plain(self.weight)
        lowered = torch.is_autocast_enabled("cpu")
        if not plain or lowered or values.numel() * self.out_features < _SMALLEST:
            return super().forward(values)
        if not torch.is_grad_enabled():
            return _product(values, self.weight, self.bias)
        result: Tensor = _Linear.apply(values, self.weight)  # type: ignore[no-untyped-call]
        return result if self.bias is None else result + self.bias


class _Linear(torch.autograd.Function):
    """`values @ weight.T` with its gradients."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(values, weight)
        return _product(values, weight)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None]:
        values, weight = ctx.saved_tensors
        for_values, for_weight = ctx.needs_input_grad
        return (
            _product(gradient, weight.t()) if for_values else None,
            _outer(gradient.flatten(0, -2), values.flatten(0, -2)) if for_weight else None,
        )


def _product(values: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    result: Tensor = torch.ops.mkldnn._linear_pointwise(values, weight, bias, "none", [], "")
    return result


def _outer(gradient: Tensor, values: Tensor) -> Tensor:
    """Return `gradient.T @ values`; faster with the wider one as the second factor."""
    if gradient.shape[1] > values.shape[1]:
        return _product(values.t(), gradient.t()).t()
    return _product(gradient.t(), values.t())


def is_plain(values: Tensor) -> bool:
    """Return whether these are 32-bit floats in the memory of one process."""
    plain = type(values) in {Tensor, nn.Parameter}
    return plain and values.dtype == torch.float32 and values.device.type == "cpu"
