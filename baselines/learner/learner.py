"""The learner: gradients of a recipe's losses over the parts of a batch, then optimiser steps.

Denominators are counted over the whole optimiser step, including all ranks, before any loss, so the
gradient does not depend on how the batch is cut into parts or distributed over ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from hexathlon.baselines.algorithms.aggregation import Totals
from hexathlon.baselines.algorithms.bounds import BOUNDS, trained_tokens
from hexathlon.baselines.algorithms.objectives import LossParts, Objective, StepTotals
from hexathlon.baselines.algorithms.samples import Array, Sample
from hexathlon.baselines.learner.allocator import keep_freed_memory
from hexathlon.baselines.learner.architectures import check_packing
from hexathlon.baselines.learner.batching import (
    Example,
    MicroBatch,
    idle_part,
    parts_of,
    token_values,
)
from hexathlon.baselines.learner.compiled import compile_layers
from hexathlon.baselines.learner.critic import Critic
from hexathlon.baselines.learner.errors import LossNotFinite
from hexathlon.baselines.learner.norms import fuse_norms
from hexathlon.baselines.learner.optimiser import OptimiserConfig, Optimisers
from hexathlon.baselines.learner.parallelism import Parallelism, Replicated
from hexathlon.baselines.learner.products import has_fast_mkl, use_onednn_products
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.learner.scoring import Scores, score
from hexathlon.baselines.learner.token_losses import counts_of, loss_of

__all__ = ["Learner", "LearnerConfig", "LossNotFinite"]


@dataclass(frozen=True, slots=True)
class LearnerConfig:
    """Settings of updates."""

    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    objective: Objective = field(default_factory=Objective)
    bounds: str = "clip"
    """Name of the rule for the ratio's bounds."""

    bounds_parameters: dict[str, Any] = field(default_factory=dict)
    token_budget: int = 16_384
    """Maximum number of tokens per forward pass, including padding."""

    temperature: float = 1.0
    """Sampling temperature of the tokens."""

    minibatches: int = 1
    """Optimiser steps per pass over a batch."""

    epochs: int = 1
    """Passes over a batch."""

    checkpointing: bool = False
    """Recompute activations instead of storing them; only in the model's training mode."""

    precision: Literal["float32", "bfloat16"] = "float32"
    """Precision of matrix products; parameters, sums and losses keep theirs."""

    packing: bool = False
    """Compute the examples of a part as one row, without padding."""


class Learner:
    """Updates a policy.

    On a CPU, it lets the whole process keep freed memory, see `keep_freed_memory`, and changes the
    models' layers to faster ones, see `use_onednn_products`, `fuse_norms` and `compile_layers`.

    Args:
        model: A causal language model; changed in place.
        config: Settings.
        steps: Length of the learning-rate schedule, in optimiser steps.
        reference: Frozen reference model of the KL penalty; required if the objective has a beta.
        critic: Updated with every update; the policy is not while the critic warms up.
        ranks: The learner ranks; each is given its share of every update.
        parallelism: Placement of the training state; on every rank by default.

    Attributes:
        policy: The given model.
        model: The model whose parameters are trained: the policy, unless they are sharded.

    Raises:
        ValueError: If settings are incompatible, or the model does not support one.
    """

    version = 0
    """Version of the policy at the start of an update, as in the samples' versions."""

    def __init__(
        self,
        model: Any,
        config: LearnerConfig,
        steps: int,
        reference: Any = None,
        critic: Critic | None = None,
        ranks: Ranks = ALONE,
        parallelism: Parallelism | None = None,
    ) -> None:
        config.objective.check()
        BOUNDS.resolve(config.bounds, config.bounds_parameters)
        if config.objective.beta > 0 and reference is None:
            raise ValueError(f"beta {config.objective.beta} needs a reference model, got none")
        if config.packing:
            check_packing(model)
        if config.checkpointing:
            model.gradient_checkpointing_enable()
        for module in (model, reference, None if critic is None else critic.network):
            if module is not None:
                if not has_fast_mkl():
                    use_onednn_products(module)
                fuse_norms(module)
                compile_layers(module)
        self.parallelism = parallelism or Replicated(ranks)
        self.policy = model
        self.model = self.parallelism.placed(model)
        self.config = config
        self.reference = reference
        if reference is not None:
            self.reference = self.parallelism.placed(reference, whole=False)
        self.critic = critic
        self._ranks = ranks
        self.optimisers = Optimisers(self.model, config.optimiser, steps)
        if self.device.type == "cpu":
            keep_freed_memory()

    @property
    def device(self) -> torch.device:
        """Device of the model."""
        device: torch.device = next(self.model.parameters()).device
        return device

    def score(self, examples: Sequence[Example], model: Any = None) -> list[Tensor]:
        """Return log-probabilities of the sampled tokens, one `[tokens]` per example."""
        values = token_values(
            [example.sample for example in examples],
            self._parts(examples),
            lambda part: self._score(part, model or self.model).log_probabilities,
        )
        return [torch.from_numpy(each) for each in values]

    def entropies(self, samples: Sequence[Sample]) -> list[Array]:
        """Return the policy's entropy at each sampled token, `[tokens]` per sample, 0 elsewhere."""
        examples = [
            Example(sample, np.zeros(len(sample.ids)), sample.sampled.astype(np.float64))
            for sample in samples
        ]

        def entropy(part: MicroBatch) -> Tensor:
            values = self._score(part, self.model, part.mask, entropy=True).entropy
            assert values is not None
            return values

        return token_values(samples, self._parts(examples), entropy)

    def update(self, examples: Sequence[Example]) -> dict[str, float]:
        """Update the policy in `epochs` times `minibatches` steps, and the critic if there is one.

        Returns:
            The objective's metrics, `grad_norm` and `learning_rate`, each a mean over the steps,
            and the critic's metrics; only those while it warms up.

        Raises:
            LossNotFinite: If a loss or gradient is not finite.
        """
        if self.critic is None:
            return self._update_policy(examples)
        warming = self.critic.warming
        metrics = {} if warming else self._update_policy(examples)
        return {**metrics, **self.critic.update(examples)}

    def values(self, samples: Sequence[Sample]) -> list[Array] | None:
        """Return the critic's values, `[tokens]` per sample; None without a critic."""
        return None if self.critic is None else self.critic.values(samples)

    def disagreement(self, samples: Sequence[Sample]) -> list[Array]:
        """Return the deviation of the critic's heads, `[tokens]` per sample.

        Raises:
            ValueError: If there are not several heads.
        """
        if self.critic is None or self.critic.config.heads < 2:
            raise ValueError("there are no critic heads to compare: set critic.heads to 2 or more")
        return self.critic.disagreement(samples)

    def _update_policy(self, examples: Sequence[Example]) -> dict[str, float]:
        examples = self._prepared(examples)
        rows: list[dict[str, float]] = []
        for _ in range(self.config.epochs):
            for part in self._ranks.cuts(examples, self.config.minibatches):
                rows.append(self._step(part))
        names = sorted({name for row in rows for name in row})
        return {name: sum(row.get(name, 0.0) for row in rows) / len(rows) for name in names}

    def _prepared(self, examples: Sequence[Example]) -> list[Example]:
        """Add the log-probabilities at the update's start and of the reference, where needed."""
        prepared = list(examples)
        several_steps = self.config.epochs * self.config.minibatches > 1
        if several_steps and self.config.objective.proximal == "start":
            values = self.score(prepared)
            prepared = [
                one if one.proximal is not None else replace(one, proximal=value.numpy())
                for one, value in zip(prepared, values, strict=True)
            ]
        if self.config.objective.beta > 0:
            values = self.score(prepared, self.reference)
            prepared = [
                replace(one, reference=value.numpy())
                for one, value in zip(prepared, values, strict=True)
            ]
        return prepared

    def gather(self) -> None:
        """Copy the trained parameters to `policy`, which engines and checkpoints read."""
        self.parallelism.gather(self.model, self.policy)

    def _parts(self, examples: Sequence[Example]) -> list[MicroBatch]:
        """Cut examples into parts, as many on every rank where passes need all ranks."""
        sharded = self.parallelism.sharded
        parts = parts_of(
            examples,
            self.config.token_budget,
            self.device,
            torch.float32,
            packed=self.config.packing,
            prefixes=not sharded,  # or ranks would make passes of different kinds
        )
        missing = self.parallelism.passes(len(parts)) - len(parts)
        return parts + [idle_part(self.device, torch.float32)] * missing

    def _score(
        self, part: MicroBatch, model: Any, wanted: Tensor | None = None, entropy: bool = False
    ) -> Scores:
        objective = self.config.objective
        lower = self.config.precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=lower):
            return self.parallelism.evaluate(
                model,
                score,
                part.ids,
                part.mask if wanted is None else wanted,
                temperature=self.config.temperature,
                # Unused in cloning, where it would take 8 % of a small model's step.
                entropy=entropy
                or (
                    wanted is not None
                    and (objective.surrogate != "sft" or objective.entropy_weight > 0)
                ),
                entropy_gradient=objective.entropy_weight > 0,
                prefix=part.prefix,
                lengths=part.lengths,
                connected=self.parallelism.sharded,
            )

    def _step(self, examples: Sequence[Example]) -> dict[str, float]:
        parts = self._parts(examples)
        totals = self._totals(parts)
        bounds = self._bounds(parts)
        self.optimisers.zero()
        metrics: dict[str, float] = {}
        for part in parts:
            part_loss = self._loss(part, bounds, totals)
            if not bool(torch.isfinite(part_loss.loss)):
                self.optimisers.zero()
                raise LossNotFinite(
                    f"the loss is {float(part_loss.loss.detach())} after {self.optimisers.taken} "
                    "steps; lower the learning rate, or look at the last batch's log-probabilities"
                )
            if part_loss.loss.requires_grad:
                part_loss.loss.backward()  # type: ignore[no-untyped-call]
                self.optimisers.collect()
            for name, value in part_loss.metrics.items():
                metrics[name] = metrics.get(name, 0.0) + float(value)
        self.parallelism.reduce(list(self.optimisers.parameters()))
        norm, rate = self._optimiser_step()
        return {**self._ranks.summed_metrics(metrics), "grad_norm": norm, "learning_rate": rate}

    def _optimiser_step(self) -> tuple[float, float]:
        gradients = [p.grad for p in self.optimisers.parameters() if p.grad is not None]
        if not self.parallelism.all_finite(gradients):
            self.optimisers.zero()
            raise LossNotFinite(
                f"a gradient is not finite after {self.optimisers.taken} steps; the parameters are "
                "those before this step"
            )
        return self.optimisers.step()

    def _loss(self, part: MicroBatch, bounds: tuple[float, float], totals: StepTotals) -> LossParts:
        objective = self.config.objective
        wanted = part.mask
        if objective.observation_weight > 0:
            wanted = torch.maximum(part.mask, part.observed)
        scores = self._score(part, self.model, wanted)
        return loss_of(
            objective,
            part,
            scores.log_probabilities,
            self.version,
            bounds,
            totals,
            scores.entropy,
        )

    def _totals(self, parts: Sequence[MicroBatch]) -> StepTotals:
        counts = counts_of(parts).to(self.device)
        tokens, sequences, observed = self._ranks.summed(counts)
        return StepTotals(Totals(tokens, sequences), observed)

    def _bounds(self, parts: Sequence[MicroBatch]) -> tuple[float, float]:
        rule = BOUNDS[self.config.bounds]
        ratios, advantages = [torch.zeros(0)], [torch.zeros(0)]
        if self.config.bounds == "bapo":
            with torch.no_grad():
                for part in parts:
                    current = self._score(part, self.model).log_probabilities
                    ratio = (current - part.behaviour).exp()
                    ratio, advantage = trained_tokens(ratio, part.advantage, part.mask)
                    ratios.append(ratio.cpu())
                    advantages.append(advantage.cpu())
        bounds = rule(
            self._ranks.gathered(torch.cat(ratios)),
            self._ranks.gathered(torch.cat(advantages)),
            **self.config.bounds_parameters,
        )
        return bounds.low, bounds.high
