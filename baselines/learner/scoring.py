"""Log-probabilities of chosen tokens under a model."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from hexathlon.baselines.engines.local.decoder import is_llama_shaped
from hexathlon.baselines.learner.architectures import has_plain_head
from hexathlon.baselines.learner.batching import SharedPrefix

__all__ = ["Scores", "hidden_states", "pack", "score"]

_CHUNK = 1 << 25
"""Largest number of logits in memory at once."""


class Scores(NamedTuple):
    """`[rows, tokens]`, 0 where a token was not chosen."""

    log_probabilities: Tensor
    entropy: Tensor | None
    """Detached unless a gradient was requested."""


def hidden_states(
    model: Any, ids: Tensor, prefix: SharedPrefix | None = None, lengths: Tensor | None = None
) -> Tensor:
    """Return the last layer's states, `[rows, tokens, width]`.

    Rows are padded on the right and attention is causal, so no mask is needed: states at padding
    are not used. A prefix shared by rows is computed once, and all of them attend to its keys and
    values; gradients flow back the same way.

    Args:
        model: A causal language model.
        ids: `[rows, tokens]`.
        prefix: Prefixes shared by rows.
        lengths: `[rows]`, tokens of each row, to compute all rows as one without padding.
    """
    decoder = model.get_decoder()
    if lengths is not None:
        packed = pack(ids, lengths)
        states: Tensor = decoder(**packed.inputs(), use_cache=False).last_hidden_state
        empty = states.new_zeros(*ids.shape, states.shape[-1])
        return empty.masked_scatter(packed.valid[..., None], states)
    if prefix is None or not _shares(decoder):
        states = decoder(input_ids=ids, use_cache=False).last_hidden_state
        return states
    from transformers import DynamicCache

    cache = DynamicCache(config=decoder.config)
    begins = ids[prefix.rows, : prefix.length]
    first = decoder(input_ids=begins, past_key_values=cache, use_cache=True).last_hidden_state
    layers: list[Any] = cache.layers
    for layer in layers:
        layer.keys, layer.values = layer.keys[prefix.index], layer.values[prefix.index]
    rest = decoder(
        input_ids=ids[:, prefix.length :], past_key_values=cache, use_cache=True
    ).last_hidden_state
    return torch.cat([first[prefix.index], rest], 1)


def _shares(decoder: Any) -> bool:
    """Return whether the cache holds every token's keys and values, with gradients in training."""
    config = getattr(decoder, "config", None)
    if config is None or (decoder.training and getattr(decoder, "gradient_checkpointing", False)):
        return False
    return is_llama_shaped(config)


class _Packed(NamedTuple):
    ids: Tensor
    """`[1, tokens of all rows]`."""

    positions: Tensor
    """As `ids`; begins at 0 in every row, which keeps attention within it."""

    valid: Tensor
    """`[rows, tokens]`, False on padding."""

    def inputs(self) -> dict[str, Tensor]:
        return {"input_ids": self.ids, "position_ids": self.positions}


def pack(ids: Tensor, lengths: Tensor) -> _Packed:
    """Join rows into one without their padding.

    Args:
        ids: `[rows, tokens]`, padded on the right.
        lengths: `[rows]`, tokens of each row.
    """
    places = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
    valid = places < lengths[:, None]
    return _Packed(ids[valid][None], places[valid][None], valid)


def score(
    model: Any,
    ids: Tensor,
    wanted: Tensor,
    *,
    temperature: float = 1.0,
    entropy: bool = False,
    entropy_gradient: bool = False,
    prefix: SharedPrefix | None = None,
    lengths: Tensor | None = None,
    connected: bool = False,
) -> Scores:
    """Score chosen tokens given all before them.

    Args:
        model: A causal language model.
        ids: `[rows, tokens + 1]`.
        wanted: `[rows, tokens]`; above 0 in column t to score token t + 1.
        temperature: Sampling temperature of the tokens.
        entropy: Whether to compute the distribution's entropy too.
        entropy_gradient: Whether the entropy carries a gradient.
        prefix: Prefixes shared by rows.
        lengths: `[rows]`, inputs of each row, to compute all rows as one without padding.
        connected: Whether all parameters get a gradient, of 0, where no token is chosen.
    """
    chosen = wanted > 0
    idle = connected and not bool(chosen.any())
    if idle:
        chosen = chosen.clone()
        chosen[0, 0] = True
    targets = ids[:, 1:][chosen]
    scored, entropies, start = [], [], 0
    for part in _logits(model, ids[:, :-1], chosen, prefix, lengths):
        logits = part.float()
        if temperature != 1.0:
            logits = logits / temperature
        log_probabilities = logits.log_softmax(-1)
        aims = targets[start : start + len(logits), None]
        scored.append(log_probabilities.gather(-1, aims)[:, 0])
        if entropy:
            kept = log_probabilities if entropy_gradient else log_probabilities.detach()
            entropies.append(-(kept.exp() * kept).sum(-1))
        start += len(logits)
    if idle:
        scored, entropies = [0.0 * part for part in scored], [0.0 * part for part in entropies]
    return Scores(_placed(scored, chosen), _placed(entropies, chosen) if entropy else None)


def _logits(
    model: Any,
    ids: Tensor,
    chosen: Tensor,
    prefix: SharedPrefix | None,
    lengths: Tensor | None,
) -> Iterator[Tensor]:
    """Yield the logits after the chosen tokens, `[chosen tokens, vocabulary]`, in parts."""
    if not has_plain_head(model):
        yield from torch.split(_own_logits(model, ids, chosen, lengths), _rows(model))
        return
    if lengths is None:
        picked = hidden_states(model, ids, prefix)[chosen]
    else:
        packed = pack(ids, lengths)
        states = model.get_decoder()(**packed.inputs(), use_cache=False).last_hidden_state
        picked = states[0, chosen[packed.valid]]
    head, rows = model.get_output_embeddings(), _rows(model)
    for start in range(0, len(picked), rows):
        yield head(picked[start : start + rows])


def _own_logits(model: Any, ids: Tensor, chosen: Tensor, lengths: Tensor | None) -> Tensor:
    """Return the logits that the model itself computes, `[chosen tokens, vocabulary]`."""
    if lengths is not None:
        packed = pack(ids, lengths)
        inputs, chosen = packed.inputs(), chosen[packed.valid][None]
    else:
        inputs = {"input_ids": ids}
    columns = chosen.any(0).nonzero()[:, 0]
    logits: Tensor = model(**inputs, use_cache=False, logits_to_keep=columns).logits
    return logits[chosen[:, columns]]


def _rows(model: Any) -> int:
    return max(1, _CHUNK // int(model.get_output_embeddings().weight.shape[0]))


def _placed(values: list[Tensor], chosen: Tensor) -> Tensor:
    joined = torch.cat(values) if values else torch.zeros(0, device=chosen.device)
    empty = torch.zeros(chosen.shape, dtype=joined.dtype, device=chosen.device)
    return empty.masked_scatter(chosen, joined)
