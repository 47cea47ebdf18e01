"""A model's shape, and the memory that learner and engine need for it.

Sizes follow from the shape alone: parameters by counting matrices, keys and values by layers and
heads, activations by the tensors that a decoder layer keeps for its backward pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["Experts", "LearnerMemory", "ModelSize", "engine_memory", "learner_memory"]

GIB = 2**30

_KEPT_PER_LAYER = 34
"""Bytes per token and unit of width that a layer keeps in bf16 without attention scores
(Korthikanti et al. 2022, arXiv:2205.05198, equation 1 without its quadratic term)."""


@dataclass(frozen=True, slots=True)
class Experts:
    """The feed-forward layers of a mixture of experts."""

    count: int
    """Experts of a layer, from which the router chooses."""

    chosen: int
    """Experts that a token goes through."""

    width: int
    """Inner width of an expert."""

    shared_width: int = 0
    """Inner width of the experts that every token goes through."""

    dense_layers: int = 0
    """Layers with an ordinary feed-forward part instead."""

    @staticmethod
    def of(config: Mapping[str, Any]) -> "Experts | None":
        """Read the experts from a `config.json`; None if there are none.

        Raises:
            KeyError: If a size is missing.
            ValueError: If layers with and without experts alternate.
        """
        names = ("num_experts", "num_local_experts", "n_routed_experts")
        count = next((int(config[name]) for name in names if config.get(name)), 0)
        if not count:
            return None
        if config.get("decoder_sparse_step", 1) != 1:
            raise ValueError("expected experts in consecutive layers, got decoder_sparse_step > 1")
        width = int(config.get("moe_intermediate_size") or config["intermediate_size"])
        shared = config.get("shared_expert_intermediate_size")
        if shared is None:
            shared = width * int(config.get("n_shared_experts") or 0)
        dense = config.get("first_k_dense_replace") or len(config.get("mlp_only_layers") or ())
        return Experts(count, int(config["num_experts_per_tok"]), width, int(shared), int(dense))

    @property
    def all_width(self) -> int:
        """Inner width of all experts of a layer together."""
        return self.count * self.width + self.shared_width

    def used_width(self, tokens: float) -> float:
        """Return the expected inner width of the experts that some tokens go through."""
        unused: float = (1.0 - self.chosen / self.count) ** tokens
        return self.count * (1.0 - unused) * self.width + self.shared_width


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

    experts: "Experts | None" = None
    """Feed-forward layers of a mixture of experts; None for a dense decoder."""

    @staticmethod
    def of(config: Mapping[str, Any]) -> "ModelSize":
        """Read the shape from the `config.json` of a Hugging Face checkpoint.

        Raises:
            ValueError: If attention is not by heads of one width, or a size is missing.
        """
        if config.get("kv_lora_rank"):
            raise ValueError("latent attention is not supported: expected heads of one width")
        try:
            width, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
            experts = Experts.of(config)
            return ModelSize(
                layers=int(config["num_hidden_layers"]),
                width=width,
                heads=heads,
                kv_heads=int(config.get("num_key_value_heads") or heads),
                head_width=int(config.get("head_dim") or width // heads),
                feed_forward=int(config["intermediate_size"]),
                vocabulary=int(config["vocab_size"]),
                tied=bool(config.get("tie_word_embeddings", False)),
                experts=experts,
            )
        except KeyError as error:
            raise ValueError(f"config.json has no {error.args[0]}") from None

    @property
    def layer_parameters(self) -> int:
        """Parameters of the largest layer: attention, gated feed-forward, norms."""
        attention = self.width * self.head_width * (2 * self.heads + 2 * self.kv_heads)
        inner, mixture = self.feed_forward, self.experts
        if mixture is not None:
            inner = max(inner if mixture.dense_layers else 0, mixture.all_width)
        return attention + 3 * self.width * inner + self._router + 2 * self.width

    @property
    def parameters(self) -> int:
        """All parameters."""
        embeddings = self.vocabulary * self.width * (1 if self.tied else 2)
        return int(self._decoder(None)) + embeddings

    def used_parameters(self, tokens: float) -> float:
        """Return the expected number of parameters that a pass of some tokens reads.

        Experts are assumed to be chosen uniformly; a dense decoder reads all parameters.
        """
        return self.parameters - self._decoder(None) + self._decoder(tokens)

    def _decoder(self, tokens: float | None) -> float:
        """Return the parameters of layers and last norm, or those of them that tokens read."""
        attention = self.width * self.head_width * (2 * self.heads + 2 * self.kv_heads)
        rest = self.layers * (attention + 2 * self.width) + self.width
        mixture = self.experts
        if mixture is None:
            return rest + self.layers * 3 * self.width * self.feed_forward
        inner = mixture.all_width if tokens is None else mixture.used_width(tokens)
        sparse = (self.layers - mixture.dense_layers) * (3 * self.width * inner + self._router)
        return rest + sparse + mixture.dense_layers * 3 * self.width * self.feed_forward

    @property
    def _router(self) -> int:
        return 0 if self.experts is None else self.width * self.experts.count

    @property
    def kv_bytes(self) -> int:
        """Bytes of keys and values per token, in bf16."""
        return 2 * 2 * self.layers * self.kv_heads * self.head_width

    def forward_flops(self, context: float) -> float:
        """Operations per token of a forward pass.

        Args:
            context: Mean number of tokens that a token attends to.
        """
        used = self.used_parameters(1) - (0 if self.tied else self.vocabulary * self.width)
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
