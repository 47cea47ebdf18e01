"""One update: gradients of named losses over parts of a batch, then a step.

Denominators are counted over the whole optimiser step, all ranks included, before anything is
computed, so the gradient is the same however the batch is cut into parts or spread over ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor

from hexathlon.baselines.algorithms.aggregation import Totals
from hexathlon.baselines.algorithms.bounds import BOUNDS, trained_tokens
from hexathlon.baselines.algorithms.corrections import interpolated_proximal
from hexathlon.baselines.algorithms.losses import TokenBatch
from hexathlon.baselines.algorithms.objectives import LossParts, Objective, StepTotals
from hexathlon.baselines.algorithms.samples import Array, Sample
from hexathlon.baselines.learner.allocator import keep_freed_memory
from hexathlon.baselines.learner.batching import Example, MicroBatch, parts_of
from hexathlon.baselines.learner.critic import Critic
from hexathlon.baselines.learner.errors import LossNotFinite
from hexathlon.baselines.learner.optimiser import OptimiserConfig, Optimisers
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.learner.scoring import Scores, score

__all__ = ["Learner", "LearnerConfig", "LossNotFinite"]


@dataclass(frozen=True, slots=True)
class LearnerConfig:
    """How updates are made."""

    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    objective: Objective = field(default_factory=Objective)
    bounds: str = "clip"
    """Rule for the ratio's bounds."""

    bounds_parameters: dict[str, Any] = field(default_factory=dict)
    token_budget: int = 16_384
    """Most tokens, padding included, that go through the model at once."""

    temperature: float = 1.0
    """At which the tokens were drawn."""

    minibatches: int = 1
    """Optimiser steps per pass over a batch."""

    epochs: int = 1
    """Passes over a batch."""

    checkpointing: bool = False
    """Compute activations twice instead of keeping them; only in the model's training mode."""

    precision: Literal["float32", "bfloat16"] = "float32"
    """`bfloat16` computes matrix products so; parameters, sums and losses stay as they are."""


class Learner:
    """Improves a model.

    On a CPU it lets the whole process keep the memory that it frees, see `keep_freed_memory`.

    Args:
        model: A causal language model; changed in place.
        config: How.
        steps: Length of the learning-rate schedule, in optimiser steps.
        reference: A frozen model to stay close to; needed where the objective has a beta.
        critic: Learns with every update; the policy waits while it warms up.
        ranks: The processes that learn together; each is given its share of every update.
    """

    version = 0
    """Number of the policy that is trained; what samples call their tokens' version."""

    def __init__(
        self,
        model: Any,
        config: LearnerConfig,
        steps: int,
        reference: Any = None,
        critic: Critic | None = None,
        ranks: Ranks = ALONE,
    ) -> None:
        config.objective.check()
        BOUNDS.resolve(config.bounds, config.bounds_parameters)
        if config.objective.beta > 0 and reference is None:
            raise ValueError("beta is above 0, so the learner needs a reference model")
        self.model = model
        self.config = config
        self.reference = reference
        self.critic = critic
        self._ranks = ranks
        self.optimisers = Optimisers(model, config.optimiser, steps)
        if config.checkpointing:
            model.gradient_checkpointing_enable()
        if self.device.type == "cpu":
            keep_freed_memory()

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        device: torch.device = next(self.model.parameters()).device
        return device

    def score(self, examples: Sequence[Example], model: Any = None) -> list[Tensor]:
        """Return log-probabilities of the sampled tokens, one `[tokens]` per example."""
        found: dict[int, Tensor] = {}
        with torch.no_grad():
            for part in self._parts(examples):
                values = self._score(part, model or self.model).log_probabilities
                for row, number in enumerate(part.rows):
                    length = len(examples[number].sample.ids)
                    whole = torch.zeros(length, dtype=torch.float64)
                    whole[1:] = values[row, : length - 1].double().cpu()
                    found[number] = whole
        return [found[number] for number in range(len(examples))]

    def update(self, examples: Sequence[Example]) -> dict[str, float]:
        """Make one update of `epochs` times `minibatches` steps, and one of the critic's.

        Returns:
            Means over the steps of what the objective reports, with `grad_norm` and
            `learning_rate`, and what the critic reports; only that while it warms up.

        Raises:
            LossNotFinite: A loss or gradient is not a number.
        """
        if self.critic is None:
            return self._improved(examples)
        waits = self.critic.warming
        improved = {} if waits else self._improved(examples)
        return {**improved, **self.critic.update(examples)}

    def values(self, samples: Sequence[Sample]) -> list[Array] | None:
        """Return the critic's values, `[tokens]` per sample; None where there is no critic."""
        return None if self.critic is None else self.critic.values(samples)

    def _improved(self, examples: Sequence[Example]) -> dict[str, float]:
        examples = self._prepared(examples)
        logged: list[dict[str, float]] = []
        for _ in range(self.config.epochs):
            for part in self._ranks.cuts(examples, self.config.minibatches):
                logged.append(self._step(part))
        names = sorted({name for one in logged for name in one})
        return {name: sum(one.get(name, 0.0) for one in logged) / len(logged) for name in names}

    def _prepared(self, examples: Sequence[Example]) -> list[Example]:
        """Give examples the log-probabilities of the update's start and of the reference."""
        made = list(examples)
        several = self.config.epochs * self.config.minibatches > 1
        if several and self.config.objective.proximal == "start":
            values = self.score(made)
            made = [
                one if one.proximal is not None else replace(one, proximal=value.numpy())
                for one, value in zip(made, values, strict=True)
            ]
        if self.config.objective.beta > 0:
            values = self.score(made, self.reference)
            made = [
                replace(one, reference=value.numpy())
                for one, value in zip(made, values, strict=True)
            ]
        return made

    def _parts(self, examples: Sequence[Example]) -> list[MicroBatch]:
        return parts_of(examples, self.config.token_budget, self.device, torch.float32)

    def _score(self, part: MicroBatch, model: Any, wanted: Tensor | None = None) -> Scores:
        objective = self.config.objective
        lower = self.config.precision == "bfloat16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=lower):
            return score(
                model,
                part.ids,
                part.mask if wanted is None else wanted,
                temperature=self.config.temperature,
                # Cloning has no use for it, and it is 8 % of a small model's step.
                entropy=wanted is not None
                and (objective.surrogate != "sft" or objective.entropy_weight > 0),
                entropy_gradient=objective.entropy_weight > 0,
                prefix=part.prefix,
            )

    def _step(self, examples: Sequence[Example]) -> dict[str, float]:
        parts = self._parts(examples)
        totals = self._totals(parts)
        bounds = self._bounds(parts)
        self.optimisers.zero()
        metrics: dict[str, float] = {}
        for part in parts:
            made = self._loss(part, bounds, totals)
            if not bool(torch.isfinite(made.loss)):
                self.optimisers.zero()
                raise LossNotFinite(
                    f"the loss is {float(made.loss.detach())} after {self.optimisers.taken} steps; "
                    "lower the learning rate, or look at the last batch's log-probabilities"
                )
            if made.loss.requires_grad:
                made.loss.backward()  # type: ignore[no-untyped-call]
            for name, value in made.metrics.items():
                metrics[name] = metrics.get(name, 0.0) + float(value)
        self._ranks.sum_gradients(self.optimisers.parameters())
        norm, rate = self._move()
        return {**self._ranks.summed_metrics(metrics), "grad_norm": norm, "learning_rate": rate}

    def _move(self) -> tuple[float, float]:
        gradients = [p.grad for p in self.optimisers.parameters() if p.grad is not None]
        if not all(bool(torch.isfinite(gradient).all()) for gradient in gradients):
            self.optimisers.zero()
            raise LossNotFinite(
                f"a gradient is not a number after {self.optimisers.taken} steps; the parameters "
                "are as they were before this step"
            )
        return self.optimisers.step()

    def _loss(self, part: MicroBatch, bounds: tuple[float, float], totals: StepTotals) -> LossParts:
        objective = self.config.objective
        wanted = part.mask
        if objective.observation_weight > 0:
            wanted = torch.maximum(part.mask, part.observed)
        scores = self._score(part, self.model, wanted)
        current = scores.log_probabilities
        batch = TokenBatch(
            current=current,
            proximal=self._proximal(part, current) * part.mask,
            behaviour=part.behaviour * part.mask,
            advantage=part.advantage * part.mask,
            mask=part.mask,
            turn=part.turn,
            reference=part.reference,
        )
        return objective(
            batch,
            part.weight,
            bounds,
            totals,
            observed=part.observed,
            entropy=scores.entropy,
        )

    def _proximal(self, part: MicroBatch, current: Tensor) -> Tensor:
        kind = self.config.objective.proximal
        if kind == "behaviour":
            return part.behaviour
        if kind == "interpolated":
            return interpolated_proximal(current, part.behaviour, part.version, self.version)
        return current.detach() if part.proximal is None else part.proximal

    def _totals(self, parts: Sequence[MicroBatch]) -> StepTotals:
        counts = torch.zeros(3, dtype=torch.float64, device=self.device)
        for part in parts:
            trained = part.mask > 0
            counts[0] += trained.sum()
            counts[1] += trained.any(-1).sum()
            counts[2] += part.observed.sum()
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
                    one, other = trained_tokens(ratio, part.advantage, part.mask)
                    ratios.append(one.cpu())
                    advantages.append(other.cpu())
        found = rule(
            self._ranks.gathered(torch.cat(ratios)),
            self._ranks.gathered(torch.cat(advantages)),
            **self.config.bounds_parameters,
        )
        return found.low, found.high
