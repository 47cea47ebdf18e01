"""The components of a training run."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.engines.tokens import HeatedEngine, Sleeper
from hexathlon.baselines.learner.learner import Learner
from hexathlon.baselines.learner.ranks import Ranks
from hexathlon.baselines.learner.tinker import TinkerLearner
from hexathlon.baselines.pipeline.collect import Collected, Collector, GroupPlan
from hexathlon.baselines.pipeline.generation import Generation
from hexathlon.baselines.pipeline.replay import ReplayStage
from hexathlon.baselines.rollout.executor import Executor
from hexathlon.baselines.tokens.requests import EntropyScale
from hexathlon.baselines.tokens.soft import SoftPrefixes
from hexathlon.baselines.training.engines import OpenedEngine
from hexathlon.baselines.training.journal import Journal
from hexathlon.baselines.training.loops import Loop
from hexathlon.baselines.training.proximal import Proximal
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.rollouts import RolloutLog
from hexathlon.baselines.training.swarm import Swarm, scored_locally

__all__ = ["BatchLate", "Components", "PolicyLearner"]

T = TypeVar("T")


PolicyLearner = Learner | TinkerLearner
"""Updates the policy, in this process or at an endpoint."""


class BatchLate(Exception):
    """An update's rollouts did not finish within the recipe's deadline."""


@dataclass(frozen=True, slots=True)
class Components:
    """The components that sources and steps use; `Trainer` creates them."""

    recipe: Recipe
    """With `scale` applied."""

    model: Any
    """The policy as a whole; the learner changes it in place, or updates it when it is
    published."""

    learner: PolicyLearner
    opened: OpenedEngine
    """The engine that samples, and its weight transport."""

    executor: Executor
    collector: Collector
    generation: Generation
    replay: ReplayStage
    swarm: Swarm
    rollouts: RolloutLog
    ranks: Ranks
    loop: Loop
    """The event loop that engine and environments belong to."""

    journal: Journal
    """Groups that must not be played again."""

    proximal: Proximal
    """Proximal log-probabilities of tokens that an older policy sampled."""

    prefixes: SoftPrefixes
    """Draws the soft prefixes of rollouts; their share is that of the current step."""

    central: bool = False
    """Whether rank 0 plays all rollouts; otherwise each rank plays its share."""

    def complete(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the run's event loop and return its result."""
        return self.loop.run(work)

    def collect(self, collector: Collector, plans: Sequence[GroupPlan]) -> Collected:
        """Play this rank's share of the plans; return all ranks' rollouts in the plans' order.

        Raises:
            BatchLate: If they do not finish within the recipe's deadline.
        """
        if self.central:
            return self.ranks.from_first(lambda: self.complete(self._within(collector, plans)))
        share = self.complete(self._within(collector, self.ranks.share(plans)))
        return Collected.joined(self.ranks.joined([share]), [plan.task for plan in plans])

    async def _within(self, collector: Collector, plans: Sequence[GroupPlan]) -> Collected:
        seconds = self.recipe.asynchrony.deadline
        try:
            async with asyncio.timeout(seconds) as limit:
                return await collector.collect(plans)
        except TimeoutError:
            if not limit.expired():
                raise
            raise BatchLate(
                f"the rollouts of {len(plans)} tasks ({plans[0].task}, …) did not finish within "
                f"{seconds:g} s: find the environment that hangs, or raise asynchrony.deadline"
            ) from None

    def of_peers(self, step: int) -> list[Group]:
        """Return the groups that peers shared, the same on every rank."""
        groups = self.ranks.from_first(lambda: self.swarm.groups(step))
        return scored_locally(groups, self.learner, step)

    def publish(self, version: int) -> float:
        """Hand the policy to the engine and verify it; return the difference of log-probabilities.

        Raises:
            EngineError: If the engine does not sample from the policy afterwards.
        """
        self.learner.gather()
        return self.complete(self.opened.transport.publish(self.model, version))

    @property
    def entropy_scale(self) -> EntropyScale | None:
        """Scale of the rollouts' temperature by entropy, if the engine has one."""
        engine = self.opened.engine
        return engine.entropy_scale if isinstance(engine, HeatedEngine) else None

    def heat(self, scale: tuple[float, float, float] | None) -> None:
        """Set the scale of the next rollouts' temperature by entropy; None leaves it as it is."""
        engine = self.opened.engine
        if scale is not None and isinstance(engine, HeatedEngine):
            engine.entropy_scale = EntropyScale(*scale)

    def rest(self) -> None:
        """If the recipe requires it, free the engine's GPU memory until the next weights."""
        engine = self.opened.engine
        if self.recipe.engine.sleep and isinstance(engine, Sleeper):
            self.complete(engine.sleep())

    def hinted(self, plans: Sequence[GroupPlan]) -> list[GroupPlan]:
        """Return the plans with their hints, the same on every rank."""

        def play() -> list[GroupPlan]:
            return self.complete(self.generation.hinted(plans, self.executor))

        return self.ranks.from_first(play) if self.central else play()
