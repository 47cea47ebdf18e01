"""Soft prefixes at the input of a model: its token embedding also reads soft tokens.

The engine and the learner use the same embedding, so a rollout and its log-probabilities in
training see the same prefix at the same positions. Prefixes are fixed: no gradient reaches them.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from hexathlon.baselines.tokens.soft import is_soft, soft_parts
from hexathlon.tasks.seeding import generator_for

__all__ = ["PrefixTable", "latent_of", "read_prefixes"]

_KEPT = 4_096
"""Decoded prefixes in memory; others are decoded again when they are read."""


def latent_of(number: int, size: int) -> Tensor:
    """Return the latent variable of a drawn prefix, from the standard normal prior, `[size]`."""
    draw = generator_for("latent variable", number)
    return torch.from_numpy(draw.standard_normal(size)).float()


class PrefixTable:
    """The embeddings of soft tokens.

    Every prefix is decoded alone, so that it does not depend on the rest of a pass.

    Args:
        decode: Maps a latent variable, `[latent]`, to a prefix, `[tokens, width]`.
        latent: Size of the latent variable.
        assigned: Latent variables of prefixes that are not drawn, by their number.
    """

    def __init__(
        self,
        decode: Callable[[Tensor], Tensor],
        latent: int,
        assigned: Mapping[int, Tensor] | None = None,
    ) -> None:
        self._decode, self._latent = decode, latent
        self._assigned = assigned or {}
        self._decoded: dict[int, Tensor] = {}

    def embeddings(self, ids: Tensor) -> Tensor:
        """Return the embeddings of soft tokens, `[tokens, width]`."""
        numbers, places = (part.tolist() for part in soft_parts(ids))
        rows = [self.prefix(n)[place] for n, place in zip(numbers, places, strict=True)]
        return torch.stack(rows)

    def prefix(self, number: int) -> Tensor:
        """Return the embeddings of a prefix, `[tokens, width]`."""
        if number not in self._decoded:
            if len(self._decoded) >= _KEPT:
                del self._decoded[next(iter(self._decoded))]
            latent = self._assigned.get(number)
            # Not as tensors of inference mode, which training cannot use.
            with torch.inference_mode(False), torch.no_grad():
                if latent is None:
                    latent = latent_of(number, self._latent)
                self._decoded[number] = self._decode(latent)
        return self._decoded[number]


def read_prefixes(model: Any, table: PrefixTable) -> None:
    """Let a model's token embedding read soft tokens; other ids are embedded as before.

    Args:
        model: A causal language model; changed in place. Its parameters stay the same.
        table: The embeddings of soft tokens.
    """
    embedding = model.get_input_embeddings()
    embedding.prefixes = table
    kind: Any = type(embedding)
    if not hasattr(kind, "reads_soft_tokens"):
        embedding.__class__ = _reading(kind)


@lru_cache(maxsize=16)
def _reading(kind: Any) -> Any:
    """Return the class of an embedding that also reads soft tokens."""

    def forward(self: Any, input: Tensor) -> Tensor:
        soft = is_soft(input)
        if not bool(soft.any()):
            words: Tensor = kind.forward(self, input)
            return words
        hidden: Tensor = kind.forward(self, input.masked_fill(soft, 0))
        return hidden.masked_scatter(
            soft[..., None], self.prefixes.embeddings(input[soft]).to(hidden)
        )

    return type(f"Soft{kind.__name__}", (kind,), {"forward": forward, "reads_soft_tokens": True})
