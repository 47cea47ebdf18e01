"""Sources of batches, which supply a step's groups.

`SynchronousSource` plays them on demand, with the current policy. The source of asynchronous runs,
which keeps rollouts running, is in `asynchronous`.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from hexathlon.baselines.pipeline.collect import Collected, GroupPlan, rollouts_in
from hexathlon.baselines.training.components import Components

__all__ = ["BatchSource", "SynchronousSource"]


class BatchSource(Protocol):
    """Supplies the batches of a run."""

    def begin(self, step: int) -> None:
        """Prepare for the batches of a step."""
        ...

    def batch(self, step: int, attempt: int, wanted: int) -> Collected:
        """Return the next groups, the same on every rank.

        Args:
            step: Number of the step; also the version of the policy.
            attempt: Number of the batch within the step.
            wanted: Number of groups that the step still needs.

        Raises:
            BatchLate: If there is no group within the recipe's deadline.
        """
        ...

    def publish(self, version: int) -> float:
        """Publish the weights to the engine; return the difference of its log-probabilities."""
        ...

    def poison(self, cause: str) -> None:
        """Never play the current step's groups again, since its update failed."""
        ...

    def metrics(self) -> dict[str, float]:
        """Return the source's metrics for the step."""
        ...

    def state(self) -> dict[str, Any]:
        """Return the state that a resumed run needs, as JSON values; every rank calls this."""
        ...

    def load(self, state: Mapping[str, Any], step: int) -> None:
        """Continue from a saved state at a step; {} starts afresh."""
        ...

    def close(self) -> None:
        """End the rollouts in progress."""
        ...


class SynchronousSource:
    """Plays the groups of a step on demand.

    A step's groups are a function of the recipe, the step and the policy. Groups that lose too many
    rollouts to failures are replaced by groups of other tasks, with their own keys.

    Args:
        run: The components of the run.
    """

    def __init__(self, run: Components) -> None:
        self._run = run
        self._plans: list[GroupPlan] = []
        self._redrawn = 0

    def begin(self, step: int) -> None:
        """Drop the engine's caches, so that its replies are reproducible."""
        self._run.complete(self._run.opened.engine.clear())
        self._plans, self._redrawn = [], 0

    def batch(self, step: int, attempt: int, wanted: int) -> Collected:
        """Play all groups of a batch, regardless of `wanted`."""
        recipe = self._run.recipe
        batch, lost = self._played(step, attempt, recipe.rollout.groups)
        for redraw in range(recipe.rollout.tries):
            if not lost:
                break
            self._redrawn += lost
            # Attempts are below `tries`, so nothing else uses these keys.
            key = attempt + recipe.rollout.tries * (redraw + 1)
            more, lost = self._played(step, key, lost)
            batch = Collected(
                batch.groups + more.groups,
                batch.records + more.records,
                batch.faults + more.faults,
            )
        return batch

    def _played(self, step: int, attempt: int, most: int) -> tuple[Collected, int]:
        """Play at most `most` groups of a batch; return them, and the number of lost ones."""
        run = self._run
        tasks = run.generation.tasks(step, attempt)
        drawn = run.generation.plans(tasks, step, attempt)[:most]
        plans = [plan for plan in drawn if not run.journal.holds(plan)]
        lost = len(drawn) - len(plans)
        if not plans:
            return Collected([], [], 0), lost
        plans = run.hinted(plans)
        run.collector.logged = partial(run.rollouts.keep, step + 1, attempt)
        batch = run.collect(run.collector, plans)
        self._plans += plans
        least = run.recipe.asynchrony.least
        whole = [group for group in batch.groups if rollouts_in(group) >= least]
        run.generation.observe(whole, plans)
        if len(whole) < len(plans):
            sizes = {group.task: rollouts_in(group) for group in batch.groups}
            short = [plan for plan in plans if sizes.get(plan.task, 0) < least]
            run.journal.add(short, f"fewer than {least} scored rollouts in step {step}")
            lost += len(short)
        return batch._replace(groups=whole), lost

    def publish(self, version: int) -> float:
        """Publish the weights to the engine and verify them."""
        return self._run.publish(version)

    def poison(self, cause: str) -> None:
        """Add the step's groups to the journal."""
        self._run.journal.add(self._plans, cause)

    def metrics(self) -> dict[str, float]:
        """Return the number of replaced groups, if any."""
        return {"groups/redrawn": float(self._redrawn)} if self._redrawn else {}

    def state(self) -> dict[str, Any]:
        """Return {}, since the step's number determines its groups."""
        return {}

    def load(self, state: Mapping[str, Any], step: int) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
