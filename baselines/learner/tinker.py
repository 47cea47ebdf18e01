"""A learner at a Tinker endpoint; package `tinker` 0.38.

The objective is computed here, from log-probabilities of the endpoint, and its gradient with
respect to them is sent back: a custom loss in the API's terms, which every endpoint supports. So
all of the recipe's surrogates, corrections and aggregations work, but nothing that needs more than
log-probabilities: entropies, reference models, critics.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from hexathlon.baselines.algorithms.aggregation import Totals
from hexathlon.baselines.algorithms.bounds import BOUNDS, trained_tokens
from hexathlon.baselines.algorithms.objectives import StepTotals
from hexathlon.baselines.algorithms.samples import Array, Sample
from hexathlon.baselines.learner.batching import Example, MicroBatch, parts_of
from hexathlon.baselines.learner.learner import LearnerConfig
from hexathlon.baselines.learner.optimiser import learning_rate
from hexathlon.baselines.learner.ranks import ALONE
from hexathlon.baselines.learner.token_losses import counts_of, loss_of

__all__ = ["TinkerLearner"]

_STATE = "tinker.json"
_ALL = 1 << 62
"""A budget of tokens that keeps all examples in one part."""


class TinkerLearner:
    """Updates the model of a `tinker.TrainingClient`.

    It takes the place of `Learner` in a training run, and of its model, optimisers and parallelism,
    which are at the endpoint.

    Args:
        client: The training client.
        config: Settings of updates.
        steps: Length of the learning-rate schedule, in optimiser steps.

    Raises:
        ValueError: If a setting needs more than log-probabilities.
    """

    version = 0
    critic = None

    def __init__(self, client: Any, config: LearnerConfig, steps: int) -> None:
        config.objective.check()
        _check(config)
        self.client = client
        self.config = config
        self._steps = steps
        self._taken = 0
        self.model = self.optimisers = self.parallelism = self

    def train(self) -> None:
        """Do nothing: modes are the endpoint's."""

    def eval(self) -> None:
        """Do nothing."""

    def gather(self) -> None:
        """Do nothing."""

    def values(self, samples: Sequence[Sample]) -> list[Array] | None:
        """Return None: there is no critic."""
        return None

    def entropies(self, samples: Sequence[Sample]) -> list[Array]:
        """Raise a `ValueError`: the endpoint gives no entropies."""
        raise ValueError("a Tinker endpoint gives no entropies: remove the rule in credit.tokens")

    def disagreement(self, samples: Sequence[Sample]) -> list[Array]:
        """Raise a `ValueError`: there is no critic."""
        raise ValueError("a Tinker endpoint has no critic: remove the rule in credit.tokens")

    def score(self, examples: Sequence[Example], model: Any = None) -> list[Tensor]:
        """Return log-probabilities of all tokens, one `[tokens]` per example."""
        rows = self.logprobs([each.sample.ids.tolist() for each in examples])
        return [torch.tensor([0.0, *row], dtype=torch.float64) for row in rows]

    def logprobs(self, rows: Sequence[list[int]]) -> list[list[float]]:
        """Return log-probabilities of all tokens but the first, for each sequence."""
        result = self.client.forward([_datum(ids) for ids in rows], "cross_entropy").result()
        return [list(out["logprobs"].data) for out in result.loss_fn_outputs]

    def update(self, examples: Sequence[Example]) -> dict[str, float]:
        """Update the policy; see `Learner.update`."""
        config, rows = self.config, []
        examples = list(examples)
        if config.epochs * config.minibatches > 1 and config.objective.proximal == "start":
            values = self.score(examples)
            examples = [
                one if one.proximal is not None else replace(one, proximal=value.numpy())
                for one, value in zip(examples, values, strict=True)
            ]
        for _ in range(config.epochs):
            rows += [self._step(part) for part in ALONE.cuts(examples, config.minibatches)]
        names = sorted({name for row in rows for name in row})
        return {name: sum(row.get(name, 0.0) for row in rows) / len(rows) for name in names}

    def save(self, folder: Path, model: Any, optimisers: Any) -> None:
        """Save the state at the endpoint, and its path in the folder."""
        path = self.client.save_state(f"step-{self._taken:06d}").result().path
        (folder / _STATE).write_text(json.dumps({"path": path, "taken": self._taken}))

    def load(self, folder: Path, model: Any, optimisers: Any) -> None:
        """Continue from the state whose path is in the folder."""
        state = json.loads((folder / _STATE).read_text())
        self.client.load_state_with_optimizer(state["path"]).result()
        self._taken = int(state["taken"])

    def _step(self, examples: Sequence[Example]) -> dict[str, float]:
        (part,) = parts_of(examples, _ALL, torch.device("cpu"), torch.float32, prefixes=False)
        tokens, sequences, observed = counts_of([part]).tolist()
        totals = StepTotals(Totals(tokens, sequences), observed)
        metrics: dict[str, float] = {}
        wanted = part.mask
        if self.config.objective.observation_weight > 0:
            wanted = torch.maximum(part.mask, part.observed)

        def loss(data: Any, values: Sequence[Tensor]) -> tuple[Tensor, dict[str, float]]:
            current = _padded([values[row] for row in part.rows], part) * wanted
            bounds = self._bounds(part, current.detach())
            parts = loss_of(self.config.objective, part, current, self.version, bounds, totals)
            metrics.update({name: float(value) for name, value in parts.metrics.items()})
            # A term of zero: every row needs a gradient, also one without trained tokens.
            return parts.loss + 0.0 * sum(value.sum() for value in values), {}

        data = [_datum(each.sample.ids.tolist()) for each in examples]
        sent = self.client.forward_backward_custom(data, loss)
        rate = learning_rate(self.config.optimiser, self._taken, self._steps)
        stepped = self.client.optim_step(self._adam(rate)).result()
        sent.result()
        self._taken += 1
        metrics |= {f"tinker/{name}": value for name, value in (stepped.metrics or {}).items()}
        return {**metrics, "learning_rate": rate * self.config.optimiser.learning_rate}

    def _adam(self, rate: float) -> Any:
        from tinker.types import AdamParams

        table = self.config.optimiser
        return AdamParams(
            learning_rate=rate * table.learning_rate,
            beta1=table.betas[0],
            beta2=table.betas[1],
            eps=table.eps,
            weight_decay=table.weight_decay,
            grad_clip_norm=table.clip,
        )

    def _bounds(self, part: MicroBatch, current: Tensor) -> tuple[float, float]:
        ratio = (current - part.behaviour).exp()
        ratio, advantage = trained_tokens(ratio, part.advantage, part.mask)
        rule = BOUNDS[self.config.bounds]
        bounds = rule(ratio, advantage, **self.config.bounds_parameters)
        return bounds.low, bounds.high


def _check(config: LearnerConfig) -> None:
    wrong = {
        "learn.optimiser.kind": config.optimiser.kind != "adamw",
        "learn.objective.beta": config.objective.beta > 0,
        "learn.objective.entropy_weight": config.objective.entropy_weight > 0,
        "rollout.temperature": config.temperature != 1.0,
    }
    if names := [name for name, bad in wrong.items() if bad]:
        raise ValueError(
            f"a Tinker endpoint gives log-probabilities at temperature 1 and steps with AdamW: "
            f"{', '.join(names)} cannot be used"
        )


def _datum(ids: list[int]) -> Any:
    from tinker.types import Datum, ModelInput

    return Datum(
        model_input=ModelInput.from_ints(ids[:-1]), loss_fn_inputs={"target_tokens": ids[1:]}
    )


def _padded(rows: Sequence[Tensor], part: MicroBatch) -> Tensor:
    width = part.mask.shape[1]
    return torch.stack([torch.nn.functional.pad(row, (0, width - len(row))) for row in rows])
