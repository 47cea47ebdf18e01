"""How the learner calls a model: decoder and head separately, or the model's own forward pass.

Where a model's logits are known to be the head's product with the decoder's states, the head is
applied to the scored tokens alone. Other models may scale or bound their logits in between, so
their own forward pass is used. Engines decide for themselves which models they support.
"""

from typing import Any

import torch
from torch import Tensor

__all__ = ["PackingUnsupported", "check_packing", "has_plain_head"]

_PLAIN_HEADS = {
    "deepseek_v3",
    "glm4_moe",
    "gpt2",
    "gpt_neox",
    "llama",
    "mistral",
    "mixtral",
    "olmo2",
    "olmoe",
    "phi3",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
    "smollm3",
}
"""Model types whose logits are `head(decoder(ids))` whatever their configuration; each is compared
with its own forward in the tests."""

_TOLERANCE = 1e-3
"""Largest difference that rounding explains, as a fraction of the largest state."""

_LENGTHS = (7, 5)
"""Tokens of the two sequences that are compared; the second would see the end of the first."""


class PackingUnsupported(ValueError):
    """A model mixes sequences that are packed into one row."""


def has_plain_head(model: Any) -> bool:
    """Return whether a model's logits are the head's product with the decoder's states."""
    return getattr(model.config, "model_type", "") in _PLAIN_HEADS


@torch.no_grad()
def check_packing(model: Any) -> None:
    """Check that sequences in one row do not see each other, by a forward pass of a few tokens.

    Position ids that begin again at 0 make transformers' attention block-diagonal. Recurrent and
    convolutional layers, and some attention kernels, ignore them.

    Raises:
        PackingUnsupported: If the states of packed sequences are not those of separate ones.
    """
    weight = model.get_input_embeddings().weight
    vocabulary, total = int(weight.shape[0]), sum(_LENGTHS)
    ids = ((torch.arange(total) * 7 + 3) % vocabulary).to(weight.device)[None]
    positions = torch.cat([torch.arange(n) for n in _LENGTHS]).to(weight.device)[None]
    training = model.training
    model.eval()
    try:
        apart = [
            model(input_ids=part, use_cache=False).logits
            for part in torch.split(ids, list(_LENGTHS), 1)
        ]
        packed = model(input_ids=ids, position_ids=positions, use_cache=False).logits
    except TypeError as error:
        raise _unsupported(model, str(error)) from error
    finally:
        model.train(training)
    expected: Tensor = torch.cat(apart, 1).float()
    difference = float((packed.float() - expected).abs().max())
    bound = _TOLERANCE if weight.dtype == torch.float32 else 0.05
    if not difference <= bound * max(float(expected.abs().max()), 1e-6):
        raise _unsupported(model, f"logits differ by {difference:.3g}")


def _unsupported(model: Any, cause: str) -> PackingUnsupported:
    return PackingUnsupported(
        f"models of type {model.config.model_type!r} do not keep packed sequences apart ({cause}): "
        "set learner.packing = false"
    )
