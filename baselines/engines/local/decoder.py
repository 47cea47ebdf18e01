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
    query_norm: Tensor | None
    key_norm: Tensor | None
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


def _layer(block: Any) -> _Layer:
    attention, mlp = block.self_attn, block.mlp
    qkv, qkv_bias = _joined(attention.q_proj, attention.k_proj, attention.v_proj)
    gate_up, gate_up_bias = _joined(mlp.gate_proj, mlp.up_proj)
    query_norm = getattr(attention, "q_norm", None)
    key_norm = getattr(attention, "k_norm", None)
    return _Layer(
        norm=block.input_layernorm.weight.detach(),
        qkv=qkv,
        qkv_bias=qkv_bias,
        query_norm=None if query_norm is None else query_norm.weight.detach(),
        key_norm=None if key_norm is None else key_norm.weight.detach(),
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
        self._cos, self._sin = cos[0].contiguous(), sin[0].contiguous()
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Take over the model's parameters after they changed."""
        self._embedding = self._model.get_input_embeddings().weight.detach()
        self._head = self._model.get_output_embeddings().weight.detach()
        self._norm = self._model.model.norm.weight.detach()
        self._blocks = [_layer(block) for block in self._model.model.layers]

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
        rows, tokens = ids.shape
        hidden = self._hidden(ids, start, store, first)
        if tokens > 1:
            hidden = hidden[torch.arange(rows, device=ids.device), last]
        else:
            hidden = hidden[:, 0]
        return F.linear(self._normed(hidden, self._norm), self._head)

    @torch.inference_mode()
    def logits(self, ids: Tensor) -> Tensor:
        """Return the logits after every token of fresh sequences, `[rows, tokens, vocabulary]`."""
        store = self.store(len(ids), ids.shape[1])
        start = torch.zeros(len(ids), dtype=torch.long, device=ids.device)
        hidden = self._hidden(ids, start, store, 0)
        return F.linear(self._normed(hidden, self._norm), self._head)

    def _hidden(self, ids: Tensor, start: Tensor, store: KeyValueStore, first: int) -> Tensor:
        rows, tokens = ids.shape
        positions = start[:, None] + torch.arange(tokens, device=ids.device)
        # Padding of rows that reach their end sits on the last position and is overwritten.
        positions = positions.clamp(max=store.length - 1)
        length = int(positions.max()) + 1
        cos, sin = self._cos[positions][:, :, None], self._sin[positions][:, :, None]
        seen = torch.arange(length, device=ids.device)
        hidden_beyond = seen > positions[:, :, None]
        hidden = F.embedding(ids, self._embedding)
        for number, layer in enumerate(self._blocks):
            normed = self._normed(hidden, layer.norm)
            query, key, value = self._projected(normed, layer)
            query, key = self._turned(query, cos, sin), self._turned(key, cos, sin)
            keys, values = store.write(number, first, positions, key, value, length)
            mixed = self._attend(query, keys, values, hidden_beyond)
            hidden = hidden + F.linear(mixed, layer.output, layer.output_bias)
            normed = self._normed(hidden, layer.feed_norm)
            gate, up = F.linear(normed, layer.gate_up, layer.gate_up_bias).chunk(2, -1)
            hidden = hidden + F.linear(F.silu(gate) * up, layer.down, layer.down_bias)
        return hidden

    def _projected(self, hidden: Tensor, layer: _Layer) -> tuple[Tensor, Tensor, Tensor]:
        rows, tokens, _ = hidden.shape
        joined = F.linear(hidden, layer.qkv, layer.qkv_bias)
        joined = joined.view(rows, tokens, self.heads + 2 * self.kv_heads, self.width)
        query, key, value = torch.split(joined, [self.heads, self.kv_heads, self.kv_heads], dim=2)
        if layer.query_norm is not None and layer.key_norm is not None:
            query = self._normed(query, layer.query_norm)
            key = self._normed(key, layer.key_norm)
        return query, key, value

    def _normed(self, hidden: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(hidden, weight.shape, weight, self._eps)

    def _turned(self, states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        first, second = states.chunk(2, -1)
        return states * cos + torch.cat((-second, first), -1) * sin

    def _attend(self, query: Tensor, keys: Tensor, values: Tensor, beyond: Tensor) -> Tensor:
        """Mix values: queries `[rows, tokens, heads, width]` to `[rows, tokens, heads * width]`."""
        rows, tokens, _, _ = query.shape
        group = self.heads // self.kv_heads
        shaped = query.view(rows, tokens, self.kv_heads, group, self.width)
        # Queries of one key head are one matrix: [rows, kv_heads, group * tokens, width].
        shaped = shaped.permute(0, 2, 3, 1, 4).reshape(rows, self.kv_heads, -1, self.width)
        scores = torch.matmul(shaped, keys.transpose(-1, -2)) * self._scale
        hidden = beyond[:, None].repeat(1, 1, group, 1) if tokens > 1 else beyond[:, None]
        scores = scores.masked_fill_(hidden, float("-inf"))
        mixed = torch.matmul(scores.softmax(-1, dtype=torch.float32).to(values.dtype), values)
        mixed = mixed.view(rows, self.kv_heads, group, tokens, self.width)
        return mixed.permute(0, 3, 1, 2, 4).reshape(rows, tokens, -1)
