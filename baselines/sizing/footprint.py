"""A model's shape, and the memory that learner and engine need for it.

Sizes follow from the shape alone: parameters by counting matrices, keys and values by layers and
heads, activations by the tensors that a decoder layer keeps for its backward pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["LearnerMemory", "ModelSize", "engine_memory", "learner_memory"]

GIB = 2**30

_KEPT_PER_LAYER = 34
"""Bytes per token and unit of width that a layer keeps in bf16 without attention scores
(Korthikanti et al. 2022, arXiv:2205.05198, equation 1 without its quadratic term)."""


@dataclass(frozen=True, slots=True)
class ModelSize:
    """Shape of a decoder."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head_width: int
    feed_forward: int
    vocabulary: int
    tied: bool = False
    """Whether the output layer shares the embedding matrix."""

    @staticmethod
    def of(config: Mapping[str, Any]) -> "ModelSize":
        """Read the shape from the `config.json` of a Hugging Face checkpoint.

        Raises:
            ValueError: If it is not a dense decoder, or a size is missing.
        """
        if any(key in config for key in ("num_experts", "num_local_experts", "n_routed_experts")):
            raise ValueError("mixtures of experts are not supported: expected a dense decoder")
        try:
            width, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
            return ModelSize(
                layers=int(config["num_hidden_layers"]),
                width=width,
                heads=heads,
                kv_heads=int(config.get("num_key_value_heads") or heads),
                head_width=int(config.get("head_dim") or width // heads),
                feed_forward=int(config["intermediate_size"]),
                vocabulary=int(config["vocab_size"]),
                tied=bool(config.get("tie_word_embeddings", False)),
            )
        except KeyError as error:
            raise ValueError(f"config.json has no {error.args[0]}") from None

    @property
    def layer_parameters(self) -> int:
        """Parameters of one layer: attention, gated feed-forward, norms."""
        attention = self.width * self.head_width * (2 * self.heads + 2 * self.kv_heads)
        return attention + 3 * self.width * self.feed_forward + 2 * self.width

    @property
    def parameters(self) -> int:
        """All parameters."""
        embeddings = self.vocabulary * self.width * (1 if self.tied else 2)
        return self.layers * self.layer_parameters + embeddings + self.width

    @property
    def kv_bytes(self) -> int:
        """Bytes of keys and values per token, in bf16."""
        return 2 * 2 * self.layers * self.kv_heads * self.head_width

    def forward_flops(self, context: float) -> float:
        """Operations per token of a forward pass.

        Args:
            context: Mean number of tokens that a token attends to.
        """
        used = self.parameters - (0 if self.tied else self.vocabulary * self.width)
        return 2.0 * used + 4.0 * self.layers * self.heads * self.head_width * context


class LearnerMemory(NamedTuple):
    """Memory of one learner rank in bytes."""

    weights: float
    """Sharded fp32 master weights."""

    optimiser: float
    """Sharded moments of Adam in fp32."""

    gradients: float
    """Sharded gradients in fp32."""

    gathered: float
    """The bf16 weights that are gathered at a time: two layers and the embeddings."""

    activations: float

    @property
    def total(self) -> float:
        """Sum of all parts."""
        return sum(self)


def learner_memory(
    model: ModelSize, ranks: int, tokens: int, *, checkpointing: bool
) -> LearnerMemory:
    """Return the memory of one of several ranks that shard a model (FSDP2).

    Args:
        model: The policy.
        ranks: Number of learner ranks.
        tokens: Tokens of one forward pass on one rank.
        checkpointing: Whether activations within layers are recomputed.
    """
    shard = model.parameters / ranks
    kept = 2 if checkpointing else _KEPT_PER_LAYER
    layers = kept * model.width * tokens * model.layers
    # A layer that is recomputed needs all of its tensors at that time.
    again = _KEPT_PER_LAYER * model.width * tokens if checkpointing else 0
    logits = (4 + 4) * model.vocabulary * tokens  # fp32 logits and their gradient
    return LearnerMemory(
        weights=4 * shard,
        optimiser=8 * shard,
        gradients=4 * shard,
        gathered=2 * (2 * model.layer_parameters + model.vocabulary * model.width),
        activations=layers + again + logits,
    )


def engine_memory(model: ModelSize, sequences: float, context: float) -> float:
    """Return the bytes of an engine's weights and of the keys and values in use.

    Args:
        model: The policy, in bf16.
        sequences: Rollouts in flight.
        context: Mean number of tokens of a rollout in flight.
    """
    return 2 * model.parameters + sequences * context * model.kv_bytes
