"""The layout in which the kernels read weights and biases, see `products.h`."""

import torch.nn.functional as F
from torch import Tensor

from hexathlon.baselines.kernels.library import kernels

__all__ = ["HEAD_WIDTHS", "LANES", "PANEL", "packed", "packed_transposed", "whole_panels"]

LANES = 16
"""Floats of a vector."""

PANEL = 32
"""Outputs of a panel."""

HEAD_WIDTHS = frozenset({16, 32, 64, 128})
"""Sizes of attention heads for which there are kernels."""


def packed(weight: Tensor) -> Tensor:
    """Return a weight, `[outputs, inputs]`, as `[panels, inputs, PANEL]`."""
    outputs, inputs = weight.shape
    weight = weight.contiguous()
    panels = weight.new_empty(-(-outputs // PANEL), inputs, PANEL)
    kernels().hexathlon_pack(weight.data_ptr(), outputs, inputs, panels.data_ptr())
    return panels


def packed_transposed(weight: Tensor) -> Tensor:
    """Return the transpose of a weight, `[outputs, inputs]`, as `[panels, outputs, PANEL]`."""
    outputs, inputs = weight.shape
    weight = weight.contiguous()
    panels = weight.new_empty(-(-inputs // PANEL), outputs, PANEL)
    kernels().hexathlon_pack_transposed(weight.data_ptr(), outputs, inputs, panels.data_ptr())
    return panels


def whole_panels(bias: Tensor) -> Tensor:
    """Return a bias, `[outputs]`, with zeros up to the end of the last panel."""
    return F.pad(bias, (0, -len(bias) % PANEL))
