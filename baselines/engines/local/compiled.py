"""A decoder for Llama-style models on a CPU by the compiled kernels of `kernels/decoding.c`.

It computes the same function as `LlamaDecoder`, up to rounding, without padding: tokens of rows of
any length go through one pass together. Its results are batch-invariant. Norms, rotations and
activations are fused into the products and the attention around them.
"""

import ctypes
from ctypes import c_double, c_int64, c_void_p
from functools import cached_property
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from hexathlon.baselines.engines.local.decoder import LlamaDecoder, llama_layer
from hexathlon.baselines.engines.local.store import KeyValueStore, padded
from hexathlon.baselines.kernels.library import KernelsMissing, kernels
from hexathlon.baselines.kernels.packing import HEAD_WIDTHS, LANES, packed, whole_panels

__all__ = ["BlockedStore", "CompiledDecoder", "compiled_cause"]


def compiled_cause(model: Any) -> str:
    """Return why the compiled decoder cannot run a model here; empty if it can.

    Args:
        model: A Hugging Face causal language model for which `is_llama_shaped` holds.
    """
    config = model.config
    width = int(getattr(config, "head_dim", 0) or config.hidden_size // config.num_attention_heads)
    for weight in model.parameters():
        kind = f"{weight.dtype} on {weight.device.type}"
        if kind != "torch.float32 on cpu":
            return f"the compiled decoder needs 32-bit floats on a CPU, not {kind}"
    if width not in HEAD_WIDTHS:
        return f"the compiled decoder does not support heads of width {width}"
    if config.hidden_size % LANES:
        return (
            f"the compiled decoder needs a hidden size that is a multiple of {LANES}, not "
            f"{config.hidden_size}"
        )
    try:
        kernels()
    except KernelsMissing as error:
        return str(error)
    return ""


class _Layer(ctypes.Structure):
    _fields_ = [
        (name, c_void_p)
        for name in (
            "norm", "qkv", "qkv_bias", "query_norm", "key_norm", "output", "output_bias",
            "feed_norm", "gate_up", "gate_up_bias", "down", "down_bias",
        )
    ]  # fmt: skip


class _Model(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in (
            "layers", "hidden", "heads", "kv_heads", "width", "feed", "vocabulary",
        )),
        ("epsilon", c_double), ("scale", c_double),
        *((name, c_void_p) for name in ("cos", "sin", "norm", "head", "layer")),
    ]  # fmt: skip


class _Store(ctypes.Structure):
    _fields_ = [("blocks", c_int64), ("keys", c_void_p), ("values", c_void_p)]


class BlockedStore(KeyValueStore):
    """A store with each row's keys in blocks of 16 positions, `[blocks, width, 16]`.

    Its length is a multiple of 16.
    """

    block = LANES

    @cached_property
    def structure(self) -> _Store:
        """Addresses of its contents."""
        places = c_void_p * len(self._keys)
        self._pointers = [
            places(*(block.data_ptr() for block in blocks)) for blocks in (self._keys, self._values)
        ]
        return _Store(self.length // LANES, *map(ctypes.addressof, self._pointers))


class CompiledDecoder(LlamaDecoder):
    """Runs a model for which `compiled_cause` is empty over rows of a `BlockedStore`.

    Args:
        model: A Hugging Face causal language model.
        context: Maximum number of positions per row.
    """

    def __init__(self, model: Any, context: int) -> None:
        self._library = kernels()
        super().__init__(model, context)
        self.invariant = True

    @torch.no_grad()
    def refresh(self) -> None:
        """Reload the model's parameters after they changed."""
        self._embed = self._model.get_input_embeddings()
        self._embedding = self._embed.weight.detach()
        head = self._model.get_output_embeddings().weight.detach()
        self._vocabulary = len(head)
        self._kept: list[Tensor] = []
        blocks = self._model.model.layers
        layers = (_Layer * len(blocks))()
        for place, block in zip(layers, blocks, strict=True):
            self._fill(place, llama_layer(block, self.heads, self.kv_heads))
        self._layers = layers
        self._structure = _Model(
            len(blocks), self._embedding.shape[1], self.heads, self.kv_heads, self.width,
            self._feed, self._vocabulary, self._eps, self._scale, self._cos.data_ptr(),
            self._sin.data_ptr(), self._pointer(self._model.model.norm.weight.detach()),
            self._packed(head), ctypes.addressof(layers),
        )  # fmt: skip
        self._scratch = self._embedding.new_empty(0)

    def _fill(self, place: _Layer, layer: Any) -> None:
        norms = (None, None)
        if layer.head_norm is not None:
            norms = layer.head_norm[0], layer.head_norm[-1]
        feed = layer.down.shape[1]
        missing = -feed % LANES
        self._feed = feed + missing
        place.norm, place.feed_norm = map(self._pointer, (layer.norm, layer.feed_norm))
        place.query_norm, place.key_norm = map(self._pointer, norms)
        place.qkv, place.qkv_bias = self._packed(layer.qkv), self._bias(layer.qkv_bias)
        place.output, place.output_bias = self._packed(layer.output), self._bias(layer.output_bias)
        place.gate_up = self._packed(_interleaved(layer.gate_up))
        if layer.gate_up_bias is not None:
            place.gate_up_bias = self._bias(_interleaved(layer.gate_up_bias[:, None])[:, 0])
        place.down = self._packed(F.pad(layer.down, (0, missing)))
        place.down_bias = self._bias(layer.down_bias)

    def _pointer(self, values: Tensor | None) -> int | None:
        """Return the address of values, which are kept."""
        if values is None:
            return None
        values = values.contiguous()
        self._kept.append(values)
        return values.data_ptr()

    def _bias(self, values: Tensor | None) -> int | None:
        return None if values is None else self._pointer(whole_panels(values))

    def _packed(self, weight: Tensor) -> int | None:
        return self._pointer(packed(weight))

    def store(self, rows: int, length: int) -> KeyValueStore:
        """Return an empty key-value store for the model."""
        like, length = self._embedding, self.store_length(length)
        return BlockedStore(
            self.layers, rows, self.kv_heads, length, self.width, like.dtype, like.device
        )

    @property
    def prefill_block(self) -> int:
        """The number of tokens in a prefill pass is a multiple of this."""
        return 1

    def store_length(self, length: int) -> int:
        """Return the number of positions of a store that has room for a given number."""
        return padded(min(length, self._context), LANES)

    @torch.inference_mode()
    def forward(
        self, ids: Tensor, start: Tensor, store: KeyValueStore, last: Tensor, first: int = 0
    ) -> Tensor:
        """Process tokens of consecutive rows; see `LlamaDecoder.forward`."""
        rows, tokens = ids.shape
        row = torch.arange(first, first + rows)
        if tokens == 1:
            return self._logits(ids[:, 0], row, start, torch.ones(rows, dtype=torch.uint8), store)
        places = torch.arange(tokens).expand(rows, -1)
        valid = places <= last[:, None]
        chosen = (places == last[:, None])[valid].to(torch.uint8)
        positions = (start[:, None] + places)[valid]
        return self._logits(
            ids[valid], row[:, None].expand_as(ids)[valid], positions, chosen, store
        )

    @torch.inference_mode()
    def verify(self, ids: Tensor, start: Tensor, store: KeyValueStore) -> Tensor:
        """Process proposed tokens of the first rows; see `LlamaDecoder.verify`."""
        rows, tokens = ids.shape
        positions = start[:, None] + torch.arange(tokens)
        row = torch.arange(rows)[:, None].expand_as(ids)
        chosen = torch.ones(rows * tokens, dtype=torch.uint8)
        logits = self._logits(ids.flatten(), row.flatten(), positions.flatten(), chosen, store)
        return logits.view(rows, tokens, -1)

    @torch.inference_mode()
    def logits(self, ids: Tensor) -> Tensor:
        """Return the logits after every token of new sequences, `[rows, tokens, vocabulary]`."""
        return self.verify(ids, torch.zeros(len(ids), dtype=torch.long), self.store(*ids.shape))

    def _logits(
        self, ids: Tensor, rows: Tensor, positions: Tensor, chosen: Tensor, store: KeyValueStore
    ) -> Tensor:
        """Return the logits after the chosen ones of some tokens, `[chosen, vocabulary]`."""
        assert isinstance(store, BlockedStore)
        model, places = ctypes.byref(self._structure), ctypes.byref(store.structure)
        size = self._library.hexathlon_scratch(model, places)
        if len(self._scratch) < size:
            self._scratch = self._embedding.new_empty(size)
        hidden = self._embed(ids).contiguous()
        rows = rows.contiguous()
        positions = positions.clamp(max=min(store.length, self._context) - 1).contiguous()
        count = self._library.hexathlon_forward(
            model, places, len(ids), hidden.data_ptr(), rows.data_ptr(), positions.data_ptr(),
            chosen.data_ptr(), self._scratch.data_ptr(),
        )  # fmt: skip
        logits: Tensor = self._embedding.new_empty(count, self._vocabulary)
        self._library.hexathlon_logits(model, count, hidden.data_ptr(), logits.data_ptr())
        return logits


def _interleaved(gate_up: Tensor) -> Tensor:
    """Return gates and their factors in turns of 16, each padded to a multiple of 16 with zeros."""
    half = len(gate_up) // 2
    gate, up = (
        F.pad(part, (0, 0, 0, -half % LANES)).view(-1, LANES, gate_up.shape[1])
        for part in torch.split(gate_up, half)
    )
    return torch.stack([gate, up], 1).reshape(-1, gate_up.shape[1])
