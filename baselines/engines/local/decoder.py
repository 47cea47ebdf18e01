"""A decoder for models of the Llama shape: RMS norm, rotary positions, grouped queries, SwiGLU.

It computes what the Hugging Face model computes, from the same parameters, with a key-value store
that lies in memory once and for all instead of growing by concatenation. Projections that read
the same input are one matrix product. Other architectures go through `forward.py`.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from hexathlon.baselines.engines.local.store import KeyValueStore
from hexathlon.baselines.engines.local.weights import effective_weight

__all__ = ["LlamaDecoder", "is_llama_shaped"]

_SHAPED = {"llama", "mistral", "qwen2", "qwen3"}


def is_llama_shaped(config: Any) -> bool:
    """Whether the decoder computes what a model of this configuration does."""
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
    """Of queries and keys, `[query and key heads, width]`; None where they are not normed."""

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


def _layer(block: Any, heads: int, kv_heads: int) -> _Layer:
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
        context: Most positions of a row.
    """

    def __init__(self, model: Any, context: int) -> None:
        config = model.config
        self._model = model
        self.heads = int(config.num_attention_heads)
        self.kv_heads = int(config.num_key_value_heads)
        self.width = int(getattr(config, "head_dim", 0) or config.hidden_size // self.heads)
        self.layers = int(config.num_hidden_layers)
        self._eps = float(config.rms_norm_eps)
        self._scale = self.width**-0.5
        probe = model.get_input_embeddings().weight
        positions = torch.arange(context, device=probe.device)[None]
        with torch.no_grad():
            cos, sin = model.model.rotary_emb(probe[None, :1], positions)
        half = self.width // 2
        self._cos = cos[0].contiguous()
        # Signed, so that turning is one roll of the halves.
        self._sin = torch.cat([-sin[0][:, :half], sin[0][:, half:]], -1).contiguous()
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Take over the model's parameters after they changed."""
        self._embedding = self._model.get_input_embeddings().weight.detach()
        self._head = self._model.get_output_embeddings().weight.detach()
        self._norm = self._model.model.norm.weight.detach()
        self._blocks = [
            _layer(block, self.heads, self.kv_heads) for block in self._model.model.layers
        ]

    @property
    def device(self) -> torch.device:
        """Where the parameters lie."""
        device: torch.device = self._embedding.device
        return device

    def store(self, rows: int, length: int) -> KeyValueStore:
        """Return an empty store that fits the model."""
        like = self._embedding
        return KeyValueStore(
            self.layers, rows, self.kv_heads, length, self.width, like.dtype, like.device
        )

    @torch.inference_mode()
    def forward(
        self, ids: Tensor, start: Tensor, store: KeyValueStore, last: Tensor, first: int = 0
    ) -> Tensor:
        """Read tokens into neighbouring rows of a store and return logits after some of them.

        Args:
            ids: `[rows, tokens]`; rows shorter than the longest are padded on the right.
            start: `[rows]`, position of each row's first token; what lies before is in the store.
            store: Keys and values are written to its rows.
            last: `[rows]`, index of each row's last real token.
            first: Number of the first row meant.

        Returns:
            `[rows, vocabulary]`, the logits after that token.
        """
        hidden = self._hidden(ids, start, store, first, last if ids.shape[1] > 1 else None)
        return F.linear(self._normed(hidden[:, 0], self._norm), self._head)

    @torch.inference_mode()
    def logits(self, ids: Tensor) -> Tensor:
        """Return the logits after every token of fresh sequences, `[rows, tokens, vocabulary]`."""
        store = self.store(len(ids), ids.shape[1])
        start = torch.zeros(len(ids), dtype=torch.long, device=ids.device)
        hidden = self._hidden(ids, start, store, 0, None)
        return F.linear(self._normed(hidden, self._norm), self._head)

    def _hidden(
        self, ids: Tensor, start: Tensor, store: KeyValueStore, first: int, last: Tensor | None
    ) -> Tensor:
        """Return the last layer's states: of all tokens, or `[rows, 1, width]` of the last ones."""
        positions = start[:, None] + torch.arange(ids.shape[1], device=ids.device)
        # Padding of rows that reach their end sits on the last position and is overwritten.
        positions = positions.clamp(max=store.length - 1)
        length = int(positions.max()) + 1
        places = store.places(first, positions)
        cos, sin = self._cos[positions][:, :, None], self._sin[positions][:, :, None]
        mask = _mask(positions, length, self._embedding.dtype)
        hidden = F.embedding(ids, self._embedding)
        row = torch.arange(len(ids), device=ids.device)
        for number, layer in enumerate(self._blocks):
            normed = self._normed(hidden, layer.norm)
            query, key, value = self._projected(normed, layer, cos, sin)
            store.write(number, places, key, value)
            keys, values = store.read(number, first, len(ids), length)
            if last is not None and number == self.layers - 1:
                # Nothing reads the other tokens' states any more.
                query, hidden = query[row, last][:, None], hidden[row, last][:, None]
                mask = None if mask is None else mask[row, :, last][:, :, None]
            mixed = self._attend(query, keys, values, mask)
            hidden = hidden + F.linear(mixed, layer.output, layer.output_bias)
            normed = self._normed(hidden, layer.feed_norm)
            gate, up = F.linear(normed, layer.gate_up, layer.gate_up_bias).chunk(2, -1)
            hidden = hidden + F.linear(F.silu(gate) * up, layer.down, layer.down_bias)
        return hidden

    def _projected(
        self, hidden: Tensor, layer: _Layer, cos: Tensor, sin: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, `[rows, tokens, heads, width]`, normed and turned."""
        rows, tokens, _ = hidden.shape
        joined = F.linear(hidden, layer.qkv, layer.qkv_bias)
        joined = joined.view(rows, tokens, self.heads + 2 * self.kv_heads, self.width)
        turned = joined[:, :, : self.heads + self.kv_heads]
        if layer.head_norm is not None:
            turned = F.rms_norm(turned, (self.width,), eps=self._eps) * layer.head_norm
        turned = torch.addcmul(turned * cos, turned.roll(self.width // 2, -1), sin)
        return (
            turned[:, :, : self.heads],
            turned[:, :, self.heads :],
            joined[:, :, self.heads + self.kv_heads :],
        )

    def _normed(self, hidden: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(hidden, weight.shape, weight, self._eps)

    def _attend(self, query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
        """Mix values: queries `[rows, tokens, heads, width]` to `[rows, tokens, heads * width]`."""
        rows, tokens, _, _ = query.shape
        attend = F.scaled_dot_product_attention
        if tokens == 1:
            # The queries of one key head stand in for the tokens of a sequence.
            shaped = query.view(rows, self.kv_heads, -1, self.width)
            mixed = attend(shaped, keys, values, attn_mask=mask, scale=self._scale)
            return mixed.reshape(rows, 1, -1)
        shaped = query.transpose(1, 2)
        mixed = attend(shaped, keys, values, attn_mask=mask, scale=self._scale, enable_gqa=True)
        return mixed.transpose(1, 2).reshape(rows, tokens, -1)


def _mask(positions: Tensor, length: int, dtype: torch.dtype) -> Tensor | None:
    """Return minus infinity where a token may not look, `[rows, 1, tokens, length]`.

    None where single tokens all look at everything.
    """
    if positions.shape[1] == 1 and int(positions.min()) == length - 1:
        return None
    beyond = torch.arange(length, device=positions.device) > positions[:, :, None]
    empty = torch.zeros(beyond.shape, dtype=dtype, device=positions.device)
    return empty.masked_fill_(beyond, float("-inf"))[:, None]
