"""Log-probabilities of tokens under a model, only where they are wanted."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from hexathlon.baselines.engines.local.decoder import is_llama_shaped
from hexathlon.baselines.learner.batching import SharedPrefix

__all__ = ["Scores", "hidden_states", "score"]

_CHUNK = 1 << 25
"""Most logits that are held at once, in entries."""


class Scores(NamedTuple):
    """`[rows, tokens]`, 0 where not wanted."""

    log_probabilities: Tensor
    entropy: Tensor | None
    """Detached unless a gradient was asked for."""


def hidden_states(model: Any, ids: Tensor, prefix: SharedPrefix | None = None) -> Tensor:
    """Return the last layer's states, `[rows, tokens, width]`.

    Rows are padded on the right and attention looks to the left, so no mask is needed: what is
    computed at padding is used nowhere. A beginning that rows share is computed once, and its keys
    and values are lent to all of them; the gradient comes back the same way.
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
    """Whether keys and values are kept as they are, for every token, and in training too."""
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
    """Score every wanted token given all before it.

    Args:
        model: A causal language model.
        ids: `[rows, tokens + 1]`.
        wanted: `[rows, tokens]`; column t asks for token t + 1.
        temperature: At which the tokens were drawn.
        entropy: Whether the distribution's entropy is wanted too.
        entropy_gradient: Whether the entropy carries a gradient.
        prefix: What rows have in common.
    """
    states = hidden_states(model, ids[:, :-1], prefix)
    chosen = wanted > 0
    picked, targets = states[chosen], ids[:, 1:][chosen]
    head = model.get_output_embeddings()
    rows = max(1, _CHUNK // head.weight.shape[0])
    found, entropies = [], []
    for start in range(0, len(picked), rows):
        logits = head(picked[start : start + rows]).float()
        if temperature != 1.0:
            logits = logits / temperature
        log_probabilities = logits.log_softmax(-1)
        found.append(log_probabilities.gather(-1, targets[start : start + rows, None])[:, 0])
        if entropy:
            kept = log_probabilities if entropy_gradient else log_probabilities.detach()
            entropies.append(-(kept.exp() * kept).sum(-1))
    return Scores(_placed(found, chosen), _placed(entropies, chosen) if entropy else None)


def _placed(values: list[Tensor], chosen: Tensor) -> Tensor:
    joined = torch.cat(values) if values else torch.zeros(0, device=chosen.device)
    empty = torch.zeros(chosen.shape, dtype=joined.dtype, device=chosen.device)
    return empty.masked_scatter(chosen, joined)
