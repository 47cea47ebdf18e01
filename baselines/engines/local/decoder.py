"""A decoder for Llama-style models: RMSNorm, rotary embeddings, grouped-query attention, SwiGLU.

It computes the same function as the Hugging Face model, from the same parameters, with a
preallocated key-value store instead of concatenation. Projections of the same input are fused into
one matrix product. Other architectures are not supported.

A batch-invariant decoder gives each token the same result, bit for bit, regardless of the rest of
the pass. On a CPU, the order of summation depends on the size for products of few rows and for sums
over an arbitrary number of keys, so both are padded to sizes for which it does not. Processing a
token alone or among others then makes no difference either.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from hexathlon.baselines.engines.local.products import steady_rows
from hexathlon.baselines.engines.local.store import KeyValueStore, padded
from hexathlon.baselines.engines.local.weights import effective_weight

__all__ = ["LlamaDecoder", "is_llama_shaped", "llama_layer"]

_SHAPED = {"llama", "mistral", "qwen2", "qwen3"}

_QUERIES = 4
"""Minimum number of queries per key head, and divisor of the number of tokens in a prefill pass."""

_KEYS = 512
"""The number of keys is a multiple of this: the block of torch's attention on a CPU."""


def is_llama_shaped(config: Any) -> bool:
    """Return whether the decoder supports models of this configuration."""
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    kinds = getattr(config, "layer_types", None) or []
    return (
        config.model_type in _SHAPED
        and rope.get("rope_type", "default") in {"default", "llama3", "linear"}
        and all(kind == "full_attention" for kind in kinds)
        and (bool(kinds) or not getattr(config, "sliding_window", None))
        and config.hidden_act == "silu"
    )


class _Layer(NamedTuple):
    norm: Tensor
    qkv: Tensor
    qkv_bias: Tensor | None
    head_norm: Tensor | None
    """Norm weights of queries and keys, `[query and key heads, width]`; None without QK norm."""

    output: Tensor
    output_bias: Tensor | None
    feed_norm: Tensor
    gate_up: Tensor
    gate_up_bias: Tensor | None
    down: Tensor
    down_bias: Tensor | None


def _joined(*parts: Any) -> tuple[Tensor, Tensor | None]:
    weight = torch.cat([effective_weight(part) for part in parts]).contiguous()
    if parts[0].bias is None:
        return weight, None
    return weight, torch.cat([part.bias.detach() for part in parts])


def llama_layer(block: Any, heads: int, kv_heads: int) -> _Layer:
    """Return the weights of a layer, with those of the same input joined."""
    attention, mlp = block.self_attn, block.mlp
    qkv, qkv_bias = _joined(attention.q_proj, attention.k_proj, attention.v_proj)
    gate_up, gate_up_bias = _joined(mlp.gate_proj, mlp.up_proj)
    head_norm = None
    if getattr(attention, "q_norm", None) is not None:
        queries, keys = attention.q_norm.weight.detach(), attention.k_norm.weight.detach()
        head_norm = torch.cat([queries.expand(heads, -1), keys.expand(kv_heads, -1)])
    return _Layer(
        norm=block.input_layernorm.weight.detach(),
        qkv=qkv,
        qkv_bias=qkv_bias,
        head_norm=head_norm,
        output=effective_weight(attention.o_proj),
        output_bias=None if attention.o_proj.bias is None else attention.o_proj.bias.detach(),
        feed_norm=block.post_attention_layernorm.weight.detach(),
        gate_up=gate_up,
        gate_up_bias=gate_up_bias,
        down=effective_weight(mlp.down_proj),
        down_bias=None if mlp.down_proj.bias is None else mlp.down_proj.bias.detach(),
    )


class LlamaDecoder:
    """Runs a model over rows of a key-value store.

    Args:
        model: A Hugging Face causal language model for which `is_llama_shaped` holds.
        context: Maximum number of positions per row.
        invariant: Whether a token's result must not depend on the rest of the pass.
    """

    def __init__(self, model: Any, context: int, *, invariant: bool = False) -> None:
        config = model.config
        self._model = model
        self.heads = int(config.num_attention_heads)
        self.kv_heads = int(config.num_key_value_heads)
        self.width = int(getattr(config, "head_dim", 0) or config.hidden_size // self.heads)
        self.layers = int(config.num_hidden_layers)
        self.invariant = invariant
        self._context = padded(context, _KEYS) if invariant else context
        self._eps = float(config.rms_norm_eps)
        self._scale = self.width**-0.5
        probe = model.get_input_embeddings().weight
        positions = torch.arange(self._context, device=probe.device)[None]
        with torch.no_grad():
            cos, sin = model.model.rotary_emb(probe[None, :1], positions)
        half = self.width // 2
        self._cos = cos[0].contiguous()
        # The sign of the first half is included, so that the rotation needs only one roll.
        self._sin = torch.cat([-sin[0][:, :half], sin[0][:, half:]], -1).contiguous()
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Reload the model's parameters after they changed."""
        self._embed = self._model.get_input_embeddings()
        self._embedding = self._embed.weight.detach()
        self._head = self._model.get_output_embeddings().weight.detach()
        self._norm = self._model.model.norm.weight.detach()
        self._blocks = [
            llama_layer(block, self.heads, self.kv_heads) for block in self._model.model.layers
        ]

    @property
    def device(self) -> torch.device:
        """Device of the parameters."""
        device: torch.device = self._embedding.device
        return device

    def store(self, rows: int, length: int) -> KeyValueStore:
        """Return an empty key-value store for the model."""
        like, length = self._embedding, self.store_length(length)
        return KeyValueStore(
            self.layers, rows, self.kv_heads, length, self.width, like.dtype, like.device
        )

    @property
    def prefill_block(self) -> int:
        """The number of tokens in a prefill pass is a multiple of this."""
        return _QUERIES if self.invariant else 1

    def store_length(self, length: int) -> int:
        """Return the number of positions of a store that has room for a given number."""
        return padded(length, _KEYS) if self.invariant else min(length, self._context)

    @torch.inference_mode()
    def forward(
        self, ids: Tensor, start: Tensor, store: KeyValueStore, last: Tensor, first: int = 0
    ) -> Tensor:
        """Process tokens of consecutive rows and return the logits after each row's last token.

        Args:
            ids: `[rows, tokens]`, padded on the right.
            start: `[rows]`, position of each row's first token; the store has all earlier ones.
            store: Receives the keys and values.
            last: `[rows]`, index of each row's last token before the padding.
            first: Index of the first of the rows in the store.

        Returns:
            Logits, `[rows, vocabulary]`.
        """
        hidden = self._hidden(ids, start, store, first, last if ids.shape[1] > 1 else None)
        return self._linear(self._normed(hidden[:, 0], self._norm), self._head)

    @torch.inference_mode()
    def verify(self, ids: Tensor, start: Tensor, store: KeyValueStore) -> Tensor:
        """Process proposed tokens of the first rows; return the logits after each of them.

        Each token attends as in a pass of its own, so that a batch-invariant decoder returns, bit
        for bit, what `forward` does token by token.

        Args:
            ids: `[rows, tokens]`, the last token of each row and the proposed ones.
            start: `[rows]`, position of each row's first token.
            store: Has room for all of them, and receives their keys and values.

        Returns:
            Logits, `[rows, tokens, vocabulary]`.
        """
        hidden = self._hidden(ids, start, store, 0, None, apart=True)
        return self._linear(self._normed(hidden, self._norm), self._head)

    @torch.inference_mode()
    def logits(self, ids: Tensor) -> Tensor:
        """Return the logits after every token of new sequences, `[rows, tokens, vocabulary]`."""
        store = self.store(len(ids), ids.shape[1])
        start = torch.zeros(len(ids), dtype=torch.long, device=ids.device)
        hidden = self._hidden(ids, start, store, 0, None)
        return self._linear(self._normed(hidden, self._norm), self._head)

    def _hidden(
        self,
        ids: Tensor,
        start: Tensor,
        store: KeyValueStore,
        first: int,
        last: Tensor | None,
        *,
        apart: bool = False,
    ) -> Tensor:
        """Return the last layer's states of all tokens, or of `last` only as `[rows, 1, width]`.

        With `apart`, each token attends as in a pass of its own.
        """
        positions = start[:, None] + torch.arange(ids.shape[1], device=ids.device)
        # Padding beyond the end of a row is clamped to the last position and overwritten later.
        positions = positions.clamp(max=store.length - 1)
        groups = torch.split(positions, 1 if apart else ids.shape[1], 1)
        lengths = [self._keys(int(one.max()) + 1) for one in groups]
        places = store.places(first, positions)
        cos, sin = self._cos[positions][:, :, None], self._sin[positions][:, :, None]
        dtype = self._embedding.dtype
        masks = [_mask(one, length, dtype) for one, length in zip(groups, lengths, strict=True)]
        hidden: Tensor = self._embed(ids)
        row = torch.arange(len(ids), device=ids.device)
        for number, layer in enumerate(self._blocks):
            normed = self._normed(hidden, layer.norm)
            query, key, value = self._projected(normed, layer, cos, sin)
            store.write(number, places, key, value)
            if last is not None and number == self.layers - 1:
                # Only the states of the last tokens are needed from here on.
                query, hidden = query[row, last][:, None], hidden[row, last][:, None]
                masks = [None if mask is None else mask[row, :, last][:, :, None] for mask in masks]
            queries = torch.split(query, 1, 1) if apart else (query,)
            mixed = torch.cat([
                self._attend(one, *store.read(number, first, len(ids), length), mask)
                for one, length, mask in zip(queries, lengths, masks, strict=True)
            ], 1)  # fmt: skip
            hidden = hidden + self._linear(mixed, layer.output, layer.output_bias)
            normed = self._normed(hidden, layer.feed_norm)
            gate, up = self._linear(normed, layer.gate_up, layer.gate_up_bias).chunk(2, -1)
            hidden = hidden + self._linear(F.silu(gate) * up, layer.down, layer.down_bias)
        return hidden

    def _projected(
        self, hidden: Tensor, layer: _Layer, cos: Tensor, sin: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, `[rows, tokens, heads, width]`, normed and rotated."""
        rows, tokens, _ = hidden.shape
        qkv = self._linear(hidden, layer.qkv, layer.qkv_bias)
        qkv = qkv.view(rows, tokens, self.heads + 2 * self.kv_heads, self.width)
        rotated = qkv[:, :, : self.heads + self.kv_heads]
        if layer.head_norm is not None:
            rotated = F.rms_norm(rotated, (self.width,), eps=self._eps) * layer.head_norm
        rotated = torch.addcmul(rotated * cos, rotated.roll(self.width // 2, -1), sin)
        return (
            rotated[:, :, : self.heads],
            rotated[:, :, self.heads :],
            qkv[:, :, self.heads + self.kv_heads :],
        )

    def _keys(self, length: int) -> int:
        """Return the number of keys that are attended to; those after `length` are masked."""
        return padded(length, _KEYS) if self.invariant else length

    def _linear(self, values: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        if not self.invariant:
            return F.linear(values, weight, bias)
        least = steady_rows(*weight.shape, weight.dtype, str(weight.device))
        missing = least - values.numel() // values.shape[-1]
        if missing <= 0:
            return F.linear(values, weight, bias)
        rows = F.pad(values.reshape(-1, values.shape[-1]), (0, 0, 0, missing))
        return F.linear(rows, weight, bias)[:-missing].view(*values.shape[:-1], -1)

    def _normed(self, hidden: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(hidden, weight.shape, weight, self._eps)

    def _attend(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Return attention outputs, `[rows, tokens, heads * width]`."""
        rows, tokens, _, _ = query.shape
        attend = F.scaled_dot_product_attention
        if tokens == 1:
            # Treat the queries of each key head as a sequence: faster than grouped-query attention.
            shaped = query.view(rows, self.kv_heads, -1, self.width)
            group = shaped.shape[2]
            if self.invariant and group < _QUERIES:
                shaped = F.pad(shaped, (0, 0, 0, _QUERIES - group))
            mixed = attend(shaped, keys, values, attn_mask=mask, scale=self._scale)
            return mixed[:, :, :group].reshape(rows, 1, -1)
        shaped = query.transpose(1, 2)
        mixed = attend(shaped, keys, values, attn_mask=mask, scale=self._scale, enable_gqa=True)
        return mixed.transpose(1, 2).reshape(rows, tokens, -1)


def _mask(positions: Tensor, length: int, dtype: torch.dtype) -> Tensor | None:
    """Return the additive causal mask, `[rows, 1, tokens, length]`.

    None if there is one token per row and each attends to all positions.
    """
    if positions.shape[1] == 1 and int(positions.min()) == length - 1:
        return None
    future = torch.arange(length, device=positions.device) > positions[:, :, None]
    mask = torch.zeros(future.shape, dtype=dtype, device=positions.device)
    return mask.masked_fill_(future, float("-inf"))[:, None]
