"""Log-probabilities of chosen tokens under a model."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from hexathlon.baselines.engines.local.decoder import is_llama_shaped
from hexathlon.baselines.learner.batching import SharedPrefix

__all__ = ["Scores", "hidden_states", "score"]

_CHUNK = 1 << 25
"""Maximum number of logits in memory at a time."""


class Scores(NamedTuple):
    """`[rows, tokens]`, 0 where a token was not chosen."""

    log_probabilities: Tensor
    entropy: Tensor | None
    """Detached unless a gradient was requested."""


def hidden_states(model: Any, ids: Tensor, prefix: SharedPrefix | None = None) -> Tensor:
    """Return the last layer's states, `[rows, tokens, width]`.

    Rows are padded on the right and attention is causal, so no mask is needed: states at padding
    are not used. A prefix shared by rows is computed once, and all of them attend to its keys and
    values; gradients flow back the same way.
    """
    decoder = model.get_decoder()
    if prefix is None or not _shares(decoder):
        states: Tensor = decoder(input_ids=ids, use_cache=False).last_hidden_state
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


def score(
    model: Any,
    ids: Tensor,
    wanted: Tensor,
    *,
    temperature: float = 1.0,
    entropy: bool = False,
    entropy_gradient: bool = False,
    prefix: SharedPrefix | None = None,
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
    """
    states = hidden_states(model, ids[:, :-1], prefix)
    chosen = wanted > 0
    picked, targets = states[chosen], ids[:, 1:][chosen]
    head = model.get_output_embeddings()
    rows = max(1, _CHUNK // head.weight.shape[0])
    scored, entropies = [], []
    for start in range(0, len(picked), rows):
        logits = head(picked[start : start + rows]).float()
        if temperature != 1.0:
            logits = logits / temperature
        log_probabilities = logits.log_softmax(-1)
        scored.append(log_probabilities.gather(-1, targets[start : start + rows, None])[:, 0])
        if entropy:
            kept = log_probabilities if entropy_gradient else log_probabilities.detach()
            entropies.append(-(kept.exp() * kept).sum(-1))
    return Scores(_placed(scored, chosen), _placed(entropies, chosen) if entropy else None)


def _placed(values: list[Tensor], chosen: Tensor) -> Tensor:
    joined = torch.cat(values) if values else torch.zeros(0, device=chosen.device)
    empty = torch.zeros(chosen.shape, dtype=joined.dtype, device=chosen.device)
    return empty.masked_scatter(chosen, joined)
