"""Log-probabilities of chosen tokens under a model."""

from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from hexathlon.baselines.engines.local.decoder import is_llama_shaped
from hexathlon.baselines.learner.architectures import has_plain_head
from hexathlon.baselines.learner.batching import SharedPrefix

__all__ = ["Scores", "hidden_states", "pack", "score"]

_CHUNK = 1 << 25
"""Maximum number of logits in memory at a time, if the head is applied separately."""


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


class _PackedRows(NamedTuple):
    ids: Tensor
    """`[1, tokens of all rows]`."""

    positions: Tensor
    """As `ids`; begins at 0 in every row, which keeps attention within it."""

    valid: Tensor
    """`[rows, tokens]`, False on padding."""

    def inputs(self) -> dict[str, Tensor]:
        return {"input_ids": self.ids, "position_ids": self.positions}


def pack(ids: Tensor, lengths: Tensor) -> _PackedRows:
    """Join rows into one without their padding.

    Args:
        ids: `[rows, tokens]`, padded on the right.
        lengths: `[rows]`, tokens of each row.
    """
    places = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
    valid = places < lengths[:, None]
    return _PackedRows(ids[valid][None], places[valid][None], valid)


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
        entropy: Whether to also compute the distribution's entropy.
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
    plain, head = has_plain_head(model), model.get_output_embeddings()
    compute = _picked_states if plain else _own_logits
    picked = compute(model, ids[:, :-1], chosen, prefix, lengths)

    def scored(values: Tensor, aims: Tensor) -> tuple[Tensor, Tensor | None]:
        logits = (head(values) if plain else values).float()
        if temperature != 1.0:
            logits = logits / temperature
        log_probabilities = logits.log_softmax(-1)
        result = log_probabilities.gather(-1, aims[:, None])[:, 0]
        if not entropy:
            return result, None
        kept = log_probabilities if entropy_gradient else log_probabilities.detach()
        return result, -(kept.exp() * kept).sum(-1)

    rows = max(1, _CHUNK // int(head.weight.shape[0]))
    if plain and len(picked) > rows and torch.is_grad_enabled():
        scored = partial(checkpoint, scored, use_reentrant=False)  # keeps no chunk's logits
    chunks = zip(torch.split(picked, rows), torch.split(targets, rows), strict=True)
    results = [scored(*chunk) for chunk in chunks] if len(picked) else []
    values = _placed([value for value, _ in results], chosen)
    entropies = None
    if entropy:
        entropies = _placed([kept for _, kept in results if kept is not None], chosen)
    if idle:
        values = 0.0 * values
        entropies = None if entropies is None else 0.0 * entropies
    return Scores(values, entropies)


def _picked_states(
    model: Any,
    ids: Tensor,
    chosen: Tensor,
    prefix: SharedPrefix | None,
    lengths: Tensor | None,
) -> Tensor:
    """Return the states at the chosen tokens, `[chosen tokens, width]`."""
    if lengths is None:
        return hidden_states(model, ids, prefix)[chosen]
    packed = pack(ids, lengths)
    states: Tensor = model.get_decoder()(**packed.inputs(), use_cache=False).last_hidden_state
    return states[0, chosen[packed.valid]]


def _own_logits(
    model: Any,
    ids: Tensor,
    chosen: Tensor,
    prefix: SharedPrefix | None,
    lengths: Tensor | None,
) -> Tensor:
    """Return the logits that the model itself computes, `[chosen tokens, vocabulary]`."""
    if lengths is not None:
        packed = pack(ids, lengths)
        inputs, chosen = packed.inputs(), chosen[packed.valid][None]
    else:
        inputs = {"input_ids": ids}
    columns = chosen.any(0).nonzero()[:, 0]
    logits: Tensor = model(**inputs, use_cache=False, logits_to_keep=columns).logits
    return logits[chosen[:, columns]]


def _placed(values: list[Tensor], chosen: Tensor) -> Tensor:
    joined = torch.cat(values) if values else torch.zeros(0, device=chosen.device)
    empty = torch.zeros(chosen.shape, dtype=joined.dtype, device=chosen.device)
    return empty.masked_scatter(chosen, joined)
