"""Training rewards composed from the verdict's terms."""

from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from hexathlon.envs.wrappers.base import EpisodeWrapper, StepResult

__all__ = ["RewardTerms"]


class RewardTerms(EpisodeWrapper):
    """The reward becomes the score plus a weighted sum of `info["reward_terms"]`.

    The terms stay in info; the verdict, which evaluation reads, does not change.

    Args:
        env: Any environment with our info.
        weights: Weight of each term; terms that an episode does not have count as 0.
        score: Weight of the score itself.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], weights: Mapping[str, float], score: float = 1.0
    ) -> None:
        RecordConstructorArgs.__init__(self, weights=dict(weights), score=score)
        gymnasium.Wrapper.__init__(self, env)
        self.weights = dict(weights)
        self.score = score

    def after_step(self, action: Any, result: StepResult) -> StepResult:
        """Apply the weights."""
        observation, reward, terminated, truncated, info = result
        terms = info["reward_terms"]
        shaped = sum(weight * terms.get(name, 0.0) for name, weight in self.weights.items())
        return observation, self.score * float(reward) + shaped, terminated, truncated, info
