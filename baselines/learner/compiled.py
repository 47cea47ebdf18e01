"""Layers of Llama-style models on CPUs with AVX-512, forward and backward by compiled kernels.

Products of the same input are joined, and norms, rotations and activations take one pass over
memory each. Layers keep their parameters, names and results, up to rounding. The kernels are in
`kernels/training.c` and use one thread: with several, and for attention itself, torch computes.
"""

import ctypes
from collections.abc import Callable, Iterable
from ctypes import c_double, c_int64, c_void_p
from functools import lru_cache, partial
from typing import Any

import torch
from torch import Tensor, nn

from hexathlon.baselines.kernels.library import KernelsMissing, kernels
from hexathlon.baselines.kernels.packing import (
    HEAD_WIDTHS,
    LANES,
    PANEL,
    packed,
    packed_transposed,
    whole_panels,
)
from hexathlon.baselines.learner.norms import FusedRmsNorm
from hexathlon.baselines.learner.products import OneDnnLinear, has_fast_mkl, is_plain

__all__ = ["compile_layers"]

_BLOCK, _CHUNK = 64, 256
_FAMILIES = ("Llama", "Mistral", "Qwen2", "Qwen3")


def compile_layers(model: nn.Module) -> int:
    """Let attention, feed-forward layers and norms of a model on a CPU use the compiled kernels.

    Args:
        model: Changed in place; layers that others have changed, as by adapters, are left alone.

    Returns:
        Number of layers changed; 0 where the kernels do not run.
    """
    try:
        kernels()
    except KernelsMissing:
        return 0
    changed = 0
    for layer in model.modules():
        kind: Any = type(layer)
        family = kind.__name__.removesuffix("MLP").removesuffix("Attention")
        if isinstance(layer, FusedRmsNorm) and layer.weight.numel() % LANES == 0:
            layer.__class__ = CompiledNorm
        elif family in _FAMILIES and kind.__name__.endswith("MLP") and _feeds(layer):
            layer.__class__ = _compiled(kind, _feed_forward)
        elif family in _FAMILIES and kind.__name__.endswith("Attention") and _attends(layer):
            layer.__class__ = _compiled(kind, _attention)
        else:
            continue
        changed += 1
    return changed


@lru_cache(maxsize=64)
def _compiled(kind: Any, compute: Callable[..., Any]) -> Any:
    """Return the class of a layer with another forward pass, which may fall back to the first."""

    def forward(self: Any, *given: Any, **named: Any) -> Any:
        return compute(self, partial(kind.forward, self), *given, **named)

    return type(f"Compiled{kind.__name__}", (kind,), {"forward": forward})


def _feeds(layer: Any) -> bool:
    parts = _feed_parts(layer)
    plain = all(map(_is_plain_linear, parts)) and all(part.bias is None for part in parts)
    return plain and layer.down_proj.in_features % LANES == 0 and layer.config.hidden_act == "silu"


def _attends(layer: Any) -> bool:
    normed = hasattr(layer, "q_norm") == hasattr(layer, "k_norm")
    plain = all(map(_is_plain_linear, _heads_parts(layer)))
    return plain and normed and layer.head_dim in HEAD_WIDTHS


def _feed_parts(layer: Any) -> tuple[Any, Any, Any]:
    return layer.gate_proj, layer.up_proj, layer.down_proj


def _heads_parts(layer: Any) -> tuple[Any, Any, Any]:
    return layer.q_proj, layer.k_proj, layer.v_proj


def _is_plain_linear(layer: Any) -> bool:
    """Return whether a layer computes a product only: it has no adapters and no hooks."""
    hooked = layer._forward_hooks or layer._forward_pre_hooks or layer._backward_hooks
    return type(layer) in {nn.Linear, OneDnnLinear} and is_plain(layer.weight) and not hooked


def _runs(values: Tensor, parts: tuple[Any, Any, Any]) -> bool:
    """Return whether the kernels, which use one thread, can compute a layer's pass."""
    lowered = torch.is_autocast_enabled("cpu")
    return (
        _is_single(values)
        and values.dim() == 3
        and not lowered
        and all(map(_is_plain_linear, parts))
    )


def _is_single(values: Tensor) -> bool:
    return is_plain(values) and values.numel() > 0 and torch.get_num_threads() == 1


def _feed_forward(self: Any, usual: Callable[..., Any], values: Tensor) -> Tensor:
    parts = _feed_parts(self)
    if not _runs(values, parts):
        result: Tensor = usual(values)
        return result
    fed: Tensor = _FeedForward.apply(values, *(part.weight for part in parts))  # type: ignore[no-untyped-call]
    return fed


def _attention(
    self: Any,
    usual: Callable[..., Any],
    hidden_states: Tensor,
    position_embeddings: tuple[Tensor, Tensor],
    attention_mask: Tensor | None = None,
    past_key_values: Any = None,
    **more: Any,
) -> Any:
    parts, cos = _heads_parts(self), position_embeddings[0]
    norms = (self.q_norm, self.k_norm) if hasattr(self, "q_norm") else ()
    plain = all(map(is_plain, (*position_embeddings, *(norm.weight for norm in norms))))
    known = self.config._attn_implementation == "sdpa" and cos.shape[-1] == self.head_dim
    if not (known and plain and _runs(hidden_states, parts)):
        return usual(
            hidden_states, position_embeddings=position_embeddings, attention_mask=attention_mask,
            past_key_values=past_key_values, **more,
        )  # fmt: skip
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    query, key, value = _Heads.apply(  # type: ignore[no-untyped-call]
        hidden_states, *position_embeddings, self.head_dim,
        norms[0].variance_epsilon if norms else 0.0,
        *([norm.weight for norm in norms] or [None, None]),
        *(part.weight for part in parts), *(part.bias for part in parts),
    )  # fmt: skip
    if past_key_values is not None:
        key, value = past_key_values.update(key, value, self.layer_idx)
    mixed, weights = sdpa_attention_forward(
        self, query, key, value, attention_mask, scaling=self.scaling,
        dropout=self.attention_dropout if self.training else 0.0, **more,
    )  # fmt: skip
    return self.o_proj(mixed.reshape(*hidden_states.shape[:-1], -1)), weights


class CompiledNorm(FusedRmsNorm):
    """An RMS norm over the last dimension, in one pass."""

    def forward(self, values: Tensor) -> Tensor:
        """Return the normed values, of the same shape and type."""
        if not (_is_single(values) and is_plain(self.weight)):
            return super().forward(values)
        result: Tensor = _Norm.apply(values, self.weight, self.variance_epsilon)  # type: ignore[no-untyped-call]
        return result


class _Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor, epsilon: float) -> Tensor:
        values = values.contiguous()
        result = torch.empty_like(values)
        size = values.shape[-1]
        kernels().hexathlon_norm(
            values.data_ptr(), weight.data_ptr(), values.numel() // size, size, epsilon,
            result.data_ptr(),
        )  # fmt: skip
        ctx.save_for_backward(values, weight)
        ctx.epsilon = epsilon
        return result

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        values, weight = ctx.saved_tensors
        gradient, size = gradient.contiguous(), values.shape[-1]
        for_values, for_weight = torch.empty_like(values), torch.empty_like(weight)
        kernels().hexathlon_norm_backward(
            values.data_ptr(), weight.data_ptr(), gradient.data_ptr(), values.numel() // size, size,
            ctx.epsilon, for_values.data_ptr(), for_weight.data_ptr(),
        )  # fmt: skip
        return for_values, for_weight, None


class _FeedForward(torch.autograd.Function):
    """`down @ (silu(gate @ values) * (up @ values))` with its gradients."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, gate: Tensor, up: Tensor, down: Tensor) -> Tensor:
        rows, size = values.reshape(-1, values.shape[-1]).contiguous(), len(gate)
        both, mixed = rows.new_empty(len(rows), 2 * size), rows.new_empty(_BLOCK, size)
        result, joined, last = torch.empty_like(rows), packed(torch.cat([gate, up])), packed(down)
        kernels().hexathlon_feed(
            rows.data_ptr(), len(rows), joined.data_ptr(), last.data_ptr(), rows.shape[1], size,
            both.data_ptr(), result.data_ptr(), mixed.data_ptr(),
        )  # fmt: skip
        ctx.save_for_backward(rows, both, gate, up, down)
        return result.view(values.shape)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rows, both, gate, up, down = ctx.saved_tensors
        slope, size = gradient.reshape(-1, gradient.shape[-1]).contiguous(), len(gate)
        for_rows, for_last = torch.empty_like(rows), rows.new_empty(down.shape)
        for_joined = rows.new_empty(2 * size, rows.shape[1])
        joined, last = packed_transposed(torch.cat([gate, up])), packed_transposed(down)
        scratch = rows.new_empty(_BLOCK * (6 * size + rows.shape[1] + 4 * PANEL))
        kernels().hexathlon_feed_backward(
            slope.data_ptr(), len(rows), joined.data_ptr(), last.data_ptr(), rows.shape[1], size,
            rows.data_ptr(), both.data_ptr(), for_rows.data_ptr(),
            for_joined.data_ptr(), for_last.data_ptr(), scratch.data_ptr(),
        )  # fmt: skip
        return for_rows.view(gradient.shape), *torch.split(for_joined, size), for_last


class _HeadShapes(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in (
            "rows", "tokens", "heads", "kv_heads", "width", "stride",
        )),
        ("epsilon", c_double),
        *((name, c_void_p) for name in ("cos", "sin", "query_norm", "key_norm")),
    ]  # fmt: skip

    @classmethod
    def of(cls, sizes: Iterable[float], tables: Iterable[Tensor | None]) -> "_HeadShapes":
        """Return the sizes with the addresses of tables, which the caller keeps."""
        return cls(*sizes, *(None if each is None else each.data_ptr() for each in tables))


class _Heads(torch.autograd.Function):
    """Queries, keys and values, `[rows, heads, tokens, width]`, normed and rotated."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, cos: Tensor, sin: Tensor, width: int, epsilon: float,
        query_norm: Tensor | None, key_norm: Tensor | None, q: Tensor, k: Tensor, v: Tensor,
        *biases: Tensor | None,
    ) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
        rows, tokens, size = values.shape
        flat = values.reshape(-1, size).contiguous()
        bias = None if biases[0] is None else torch.cat([b for b in biases if b is not None])
        heads, kv_heads = len(q) // width, len(k) // width
        qkv = _product(flat, packed(torch.cat([q, k, v])), (heads + 2 * kv_heads) * width, bias)
        tables = cos.contiguous(), sin.contiguous(), query_norm, key_norm
        stride = tokens * width if len(cos) > 1 else 0
        ctx.sizes = rows, tokens, heads, kv_heads, width, stride, epsilon
        ctx.save_for_backward(flat, qkv, q, k, v, *tables)
        placed = flat.new_empty(rows, tokens, heads + kv_heads, width)
        shapes = _HeadShapes.of(ctx.sizes, tables)
        kernels().hexathlon_heads(ctypes.byref(shapes), qkv.data_ptr(), placed.data_ptr())
        query, key = torch.split(placed, [heads, kv_heads], 2)
        value = qkv.view(rows, tokens, -1, width)[:, :, heads + kv_heads :]
        turned = [each.transpose(1, 2).contiguous() for each in (query, key, value)]
        return turned[0], turned[1], turned[2]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        flat, qkv, q, k, v, *tables = ctx.saved_tensors
        rows, tokens, _, _, width, *_ = ctx.sizes
        turned = [each.transpose(1, 2).contiguous() for each in gradients]
        slope, for_norms = torch.empty_like(qkv), qkv.new_empty(2, width)
        shapes = _HeadShapes.of(ctx.sizes, tables)
        kernels().hexathlon_heads_backward(
            ctypes.byref(shapes), qkv.data_ptr(), *(each.data_ptr() for each in turned),
            slope.data_ptr(), for_norms[0].data_ptr(), for_norms[1].data_ptr(),
        )  # fmt: skip
        joined = packed_transposed(torch.cat([q, k, v]))
        for_values = _product(slope, joined, flat.shape[1]).view(rows, tokens, -1)
        sizes = [len(q), len(k), len(v)]
        biases = torch.split(slope.sum(0), sizes) if any(ctx.needs_input_grad[10:]) else (None,) * 3
        norms = (None, None) if tables[2] is None else for_norms.unbind(0)
        weights = torch.split(_outer(slope, flat), sizes)
        return for_values, None, None, None, None, *norms, *weights, *biases


def _product(rows: Tensor, panels: Tensor, outputs: int, bias: Tensor | None = None) -> Tensor:
    """Return the product of rows, `[tokens, inputs]`, with a packed weight."""
    rows = rows.contiguous()
    result = rows.new_empty(len(rows), outputs)
    bias = None if bias is None else whole_panels(bias)
    kernels().hexathlon_product(
        rows.data_ptr(), len(rows), panels.data_ptr(), outputs, rows.shape[1],
        None if bias is None else bias.data_ptr(), result.data_ptr(),
    )  # fmt: skip
    return result


def _outer(gradient: Tensor, values: Tensor) -> Tensor:
    """Return `gradient.T @ values`, the gradient of a weight."""
    if has_fast_mkl():
        return gradient.t() @ values
    tokens, outputs, inputs = len(values), gradient.shape[1], values.shape[1]
    values = values.contiguous()
    result = values.new_empty(outputs, inputs)
    scratch = values.new_empty(_CHUNK * (outputs + inputs + 2 * PANEL))
    kernels().hexathlon_outer(
        gradient.data_ptr(), values.data_ptr(), tokens, outputs, inputs, result.data_ptr(),
        scratch.data_ptr(),
    )  # fmt: skip
    return result
