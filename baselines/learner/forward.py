"""States of a Llama-shaped model, with gradients, in fewer passes over memory.

A small model on a CPU spends as long on norms, rotations and gates as on matrix products: each is
a chain of elementwise steps that autograd repeats backwards. Here each is one step with its
derivative written down, projections that read the same input are one matrix product, and all
tokens, of a shared beginning and of what follows, go through them together; only attention knows
rows. The numbers are those of the Hugging Face model, up to the order of additions.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from hexathlon.baselines.engines.local.decoder import is_llama_shaped
from hexathlon.baselines.learner.batching import SharedPrefix

__all__ = ["fits", "llama_states"]


def fits(decoder: Any) -> bool:
    """Whether `llama_states` computes what this decoder does, and on a device where it is faster."""
    config = getattr(decoder, "config", None)
    if config is None or not is_llama_shaped(config) or torch.is_autocast_enabled("cpu"):
        return False
    if decoder.training and (
        getattr(decoder, "gradient_checkpointing", False)
        or getattr(config, "attention_dropout", 0.0) > 0
    ):
        return False
    weight = decoder.embed_tokens.weight
    if weight.device.type != "cpu" or weight.dtype != torch.float32:
        return False
    # Adapters put modules of their own in the place of these.
    return all(type(part) is torch.nn.Linear for layer in decoder.layers for part in _linear(layer))


def _linear(layer: Any) -> tuple[Any, ...]:
    attention, mlp = layer.self_attn, layer.mlp
    projections = (attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj)
    return (*projections, mlp.gate_proj, mlp.up_proj, mlp.down_proj)


class _Norm(torch.autograd.Function):
    """Root-mean-square norm over the last dimension (Zhang and Sennrich 2019, eq. 4)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        scale = _scale(x, eps)
        normed = x * scale
        ctx.save_for_backward(normed, scale, weight)
        return normed * weight

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        return (*_norm_backward(gradient, *ctx.saved_tensors), None)


def _scale(x: Tensor, eps: float) -> Tensor:
    return (
        torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        .square_()
        .div_(x.shape[-1])
        .add_(eps)
        .rsqrt_()
    )


def _norm_backward(
    gradient: Tensor, normed: Tensor, scale: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of a norm's input and weight."""
    product = gradient * normed
    if weight.dim() == 1:
        along = (product @ weight).unsqueeze(-1)
    else:
        along = torch.einsum("nhd,hd->nh", product, weight).unsqueeze(-1)
    back = torch.addcmul(gradient * weight, normed, along, value=-1.0 / normed.shape[-1])
    return back.mul_(scale), product.sum(tuple(range(product.dim() - weight.dim())))


class _Turned(torch.autograd.Function):
    """Norm of each head, then its rotation by the token's position."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor | None, cos: Tensor, sin: Tensor, eps: float
    ) -> Tensor:
        if weight is None:
            ctx.save_for_backward(cos, sin)
            return _turn(x, cos, sin)
        scale = _scale(x, eps)
        normed = x * scale
        ctx.save_for_backward(cos, sin, normed, scale, weight)
        return _turn(normed * weight, cos, sin)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor | None, None, None, None]:
        cos, sin, *kept = ctx.saved_tensors
        back = (gradient * sin).roll(gradient.shape[-1] // 2, -1).addcmul_(gradient, cos)
        if not kept:
            return back, None, None, None, None
        return (*_norm_backward(back, *kept), None, None, None)


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, -1), sin)


class _Gated(torch.autograd.Function):
    """SwiGLU of `[tokens, gate and up]` (Shazeer 2020, eq. 6)."""

    @staticmethod
    def forward(ctx: Any, joined: Tensor) -> Tensor:
        gate, up = joined.chunk(2, -1)
        opened = F.silu(gate)
        ctx.save_for_backward(joined, opened)
        return opened * up

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        joined, opened = ctx.saved_tensors
        gate, up = joined.chunk(2, -1)
        back = torch.empty_like(joined)
        to_gate, to_up = back.chunk(2, -1)
        torch.mul(gradient, opened, out=to_up)
        torch.ops.aten.silu_backward.grad_input(gradient * up, gate, grad_input=to_gate)
        return back


def llama_states(decoder: Any, ids: Tensor, prefix: SharedPrefix | None = None) -> Tensor:
    """Return the last layer's states, `[rows, tokens, width]`.

    Args:
        decoder: A Hugging Face decoder for which `fits` holds.
        ids: `[rows, tokens]`, padded on the right.
        prefix: What rows have in common; it is computed once.
    """
    config = decoder.config
    rows, length = ids.shape
    shared = 0 if prefix is None else prefix.length
    begins = ids[:0, :0] if prefix is None else ids[prefix.rows, :shared]
    rest = ids[:, shared:]
    positions = torch.cat(
        [torch.arange(shared).repeat(len(begins)), torch.arange(shared, length).repeat(rows)]
    )
    hidden = F.embedding(torch.cat([begins.flatten(), rest.flatten()]), decoder.embed_tokens.weight)
    cos, sin = decoder.rotary_emb(hidden[None], positions[None])
    half = cos.shape[-1] // 2
    # Signed, so that turning is one roll of the halves.
    sin = torch.cat([-sin[..., :half], sin[..., half:]], -1)
    attention = _Attention(config, len(begins), shared, rows, length, prefix)
    eps = float(config.rms_norm_eps)
    for layer in decoder.layers:
        normed = _Norm.apply(hidden, layer.input_layernorm.weight, eps)
        mixed = attention(layer.self_attn, normed, cos[0, :, None], sin[0, :, None], eps)
        hidden = hidden + layer.self_attn.o_proj(mixed)
        normed = _Norm.apply(hidden, layer.post_attention_layernorm.weight, eps)
        joined = _joined(normed, layer.mlp.gate_proj, layer.mlp.up_proj)
        hidden = hidden + layer.mlp.down_proj(_Gated.apply(joined))
    states: Tensor = _Norm.apply(hidden, decoder.norm.weight, eps)
    if prefix is None:
        return states.view(rows, length, -1)
    first, others = states[: begins.numel()], states[begins.numel() :]
    first = first.view(len(begins), shared, -1)[prefix.index]
    return torch.cat([first, others.view(rows, length - shared, -1)], 1)


def _joined(x: Tensor, *parts: Any) -> Tensor:
    weight = torch.cat([part.weight for part in parts])
    bias = None if parts[0].bias is None else torch.cat([part.bias for part in parts])
    return F.linear(x, weight, bias)


class _Attention:
    """Attention of all tokens: beginnings among themselves, the rest to its beginning and itself."""

    def __init__(
        self,
        config: Any,
        begins: int,
        shared: int,
        rows: int,
        length: int,
        prefix: SharedPrefix | None,
    ) -> None:
        self._heads = int(config.num_attention_heads)
        self._kv_heads = int(config.num_key_value_heads)
        self._width = int(getattr(config, "head_dim", 0) or config.hidden_size // self._heads)
        self._begins = (begins, shared)
        self._rest = (rows, length - shared)
        self._prefix = prefix
        self._mask: Tensor | None = None
        if shared:
            beyond = torch.ones(length - shared, length, dtype=torch.bool).triu(shared + 1)
            self._mask = torch.zeros(beyond.shape).masked_fill_(beyond, float("-inf"))

    def __call__(self, part: Any, x: Tensor, cos: Tensor, sin: Tensor, eps: float) -> Tensor:
        joined = _joined(x, part.q_proj, part.k_proj, part.v_proj)
        joined = joined.view(len(x), self._heads + 2 * self._kv_heads, self._width)
        turning = self._heads + self._kv_heads
        weight = None
        if getattr(part, "q_norm", None) is not None:
            queries = part.q_norm.weight.expand(self._heads, -1)
            weight = torch.cat([queries, part.k_norm.weight.expand(self._kv_heads, -1)])
        turned = _Turned.apply(joined[:, :turning], weight, cos, sin, eps)
        query, key = turned[:, : self._heads], turned[:, self._heads :]
        value = joined[:, turning:]
        if self._prefix is None:
            return self._mixed(query, key, value)
        count = self._begins[0] * self._begins[1]
        first = self._mixed(query[:count], key[:count], value[:count], among=self._begins)
        query = query[count:]
        key, value = (
            torch.cat(
                [
                    one[:count].view(*self._begins, *one.shape[1:])[self._prefix.index],
                    one[count:].view(*self._rest, *one.shape[1:]),
                ],
                1,
            )
            for one in (key, value)
        )
        return torch.cat([first, self._mixed(query, key, value)])

    def _mixed(
        self, query: Tensor, key: Tensor, value: Tensor, among: tuple[int, int] | None = None
    ) -> Tensor:
        rows, tokens = among or self._rest
        query = query.view(rows, tokens, self._heads, self._width)
        key, value = (
            one.view(rows, -1, self._kv_heads, self._width).transpose(1, 2) for one in (key, value)
        )
        repeats = self._heads // self._kv_heads
        if repeats > 1:
            key, value = (one.repeat_interleave(repeats, 1) for one in (key, value))
        mask = None if among else self._mask
        mixed = F.scaled_dot_product_attention(
            query.transpose(1, 2), key, value, attn_mask=mask, is_causal=mask is None
        )
        return mixed.transpose(1, 2).reshape(rows * tokens, -1)
