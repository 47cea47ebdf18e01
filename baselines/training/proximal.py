"""Proximal log-probabilities of tokens that an older policy sampled.

The importance ratio of such a token has two factors (decoupled PPO; "missing old logits"): from the
engine that sampled it to the learner's proximal policy, which a correction truncates or masks, and
from the proximal to the current policy, which the surrogate clips. By default the proximal policy
is the one at the start of the update. The classes here supply alternatives:

* `Snapshots`: the learner with the weights of the version that sampled each token. The first factor
  is then due to the two kernels alone, and the clip covers all of the staleness.
* `MovingAverage`: an exponential moving average of the weights (PPO-EWMA, Hilton et al. 2022).

A-3PO's interpolation needs no weights and is a setting of the objective.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.learner.learner import Learner
from hexathlon.baselines.learner.tinker import TinkerLearner
from hexathlon.baselines.training.recipe import Recipe

__all__ = ["AtStart", "MovingAverage", "Proximal", "Snapshots", "proximal_of"]


class Proximal(Protocol):
    """Supplies proximal log-probabilities."""

    def begin(self, version: int, state: Mapping[str, Tensor] | None) -> None:
        """Start from the model's current weights, or from a saved state."""
        ...

    def added(self, examples: Sequence[Example], version: int) -> list[Example]:
        """Return the examples of an update with their proximal log-probabilities.

        Args:
            examples: This rank's share.
            version: Version of the policy at the start of the update.
        """
        ...

    def note(self, version: int) -> None:
        """Record the model's weights, which are those of a new version."""
        ...

    def state(self) -> dict[str, Tensor] | None:
        """Return the state that a resumed run needs, if any."""
        ...


def proximal_of(recipe: Recipe, learner: Learner | TinkerLearner) -> Proximal:
    """Return the source of proximal log-probabilities that a recipe names."""
    table = recipe.asynchrony
    if isinstance(learner, TinkerLearner):  # never asynchronous
        return AtStart()
    if recipe.ratio == "snapshot":
        return Snapshots(learner, table.staleness + 1)
    if recipe.ratio == "ewma":
        return MovingAverage(learner, table.decay)
    return AtStart()


class AtStart:
    """Leaves the proximal policy to the learner's objective."""

    def begin(self, version: int, state: Mapping[str, Tensor] | None) -> None:
        """Do nothing."""

    def added(self, examples: Sequence[Example], version: int) -> list[Example]:
        """Return the examples."""
        return list(examples)

    def note(self, version: int) -> None:
        """Do nothing."""

    def state(self) -> dict[str, Tensor] | None:
        """Return None."""
        return None


class Snapshots:
    """Scores every token with the weights of the version that sampled it.

    It keeps a copy of the model, and of the trained weights of the last versions, in memory. Tokens
    of older versions get the engine's log-probabilities, which makes their first factor 1.

    Args:
        learner: Scores the tokens; its model is copied.
        most: Number of versions to keep.
    """

    def __init__(self, learner: Learner, most: int) -> None:
        self._learner = learner
        self._most = most
        self._copy = copy.deepcopy(learner.model).eval().requires_grad_(False)
        self._weights: dict[int, dict[str, Tensor]] = {}

    def begin(self, version: int, state: Mapping[str, Tensor] | None) -> None:
        """Keep only the current weights."""
        self._weights.clear()
        self.note(version)

    def note(self, version: int) -> None:
        """Keep the weights of a version, and drop the oldest beyond the maximum."""
        self._weights[version] = {
            name: weight.detach().clone() for name, weight in _trained(self._learner.model)
        }
        for old in sorted(self._weights)[: -self._most]:
            del self._weights[old]

    def added(self, examples: Sequence[Example], version: int) -> list[Example]:
        """Return the examples; those sampled only by the current version are unchanged."""
        prepared = list(examples)
        stale = [n for n, one in enumerate(prepared) if _versions(one) - {version}]
        proximal = {n: prepared[n].sample.behaviour.copy() for n in stale}
        for kept in self._weights:
            chosen = [n for n in stale if kept in _versions(prepared[n])]
            if not chosen:
                continue
            model = self._learner.model if kept == version else self._loaded(kept)
            scores = self._learner.score([prepared[n] for n in chosen], model)
            for number, score in zip(chosen, scores, strict=True):
                sampled_by = prepared[number].sample.version
                assert sampled_by is not None, "its versions are known"
                places = sampled_by == kept
                proximal[number][places] = score.numpy()[places]
        for number, values in proximal.items():
            prepared[number] = replace(prepared[number], proximal=values)
        return prepared

    def _loaded(self, version: int) -> Any:
        own = dict(self._copy.named_parameters())
        with torch.no_grad():
            for name, weight in self._weights[version].items():
                own[name].copy_(weight)
        return self._copy

    def state(self) -> dict[str, Tensor] | None:
        """Return None: a resumed run resamples all tokens."""
        return None


class MovingAverage:
    """Scores tokens with an exponential moving average of the weights.

    Args:
        learner: Scores the tokens; its model is copied.
        decay: Fraction of the average that an update keeps.
    """

    def __init__(self, learner: Learner, decay: float) -> None:
        self._learner = learner
        self._decay = decay
        self._average = copy.deepcopy(learner.model).eval().requires_grad_(False)
        if any(weight.dtype.itemsize < 4 for weight in self._average.parameters()):
            self._average.float()  # in half precision, most of its changes would be rounded away

    def begin(self, version: int, state: Mapping[str, Tensor] | None) -> None:
        """Start from the current weights, or from a saved average."""
        self._blend(dict(_trained(self._learner.model)) if state is None else state, 0.0)

    def note(self, version: int) -> None:
        """Move the average towards the current weights."""
        self._blend(dict(_trained(self._learner.model)), self._decay)

    def _blend(self, weights: Mapping[str, Tensor], decay: float) -> None:
        own = dict(self._average.named_parameters())
        with torch.no_grad():
            for name, weight in weights.items():
                own[name].lerp_(weight.to(own[name]), 1.0 - decay)

    def added(self, examples: Sequence[Example], version: int) -> list[Example]:
        """Return the examples with the average's log-probabilities."""
        scores = self._learner.score(examples, self._average)
        return [
            replace(example, proximal=score.numpy())
            for example, score in zip(examples, scores, strict=True)
        ]

    def state(self) -> dict[str, Tensor] | None:
        """Return the average of the trained weights."""
        names = [name for name, _ in _trained(self._learner.model)]
        own = dict(self._average.named_parameters())
        return {name: own[name].detach().clone() for name in names}


def _trained(model: Any) -> list[tuple[str, Tensor]]:
    return [(name, p) for name, p in model.named_parameters() if p.requires_grad]


def _versions(example: Example) -> set[int]:
    """Return the versions that sampled an example's trained tokens."""
    sample = example.sample
    if sample.version is None:
        return set()
    trained = sample.sampled & (example.weight != 0)
    return {int(version) for version in np.unique(sample.version[trained])}
