"""The source of asynchronous runs: rollouts continue while the learner updates.

    plans → work buffer → rollouts (executor) → finished groups → late policy → batch
               ↑ admits groups while the bound on staleness and the slots allow it

The work buffer decides which groups are submitted and taken; this module plays them on the run's
event loop, enforces deadlines, and collects metrics. A resumed run resubmits the groups that were
in the buffer when its state was saved.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from hexathlon.baselines.algorithms.samples import Group
from hexathlon.baselines.pipeline.buffer import BufferedGroup, WorkBuffer
from hexathlon.baselines.pipeline.catalogue import LATENESS
from hexathlon.baselines.pipeline.collect import (
    Collected,
    GroupPlan,
    Logged,
)
from hexathlon.baselines.pipeline.lateness import withheld_of
from hexathlon.baselines.pipeline.structures import leaves
from hexathlon.baselines.pipeline.tasks_table import table_of
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.training.asynchronous_metrics import UpdateCounts, asynchronous_metrics
from hexathlon.baselines.training.components import BatchLate, Components

__all__ = ["AsynchronousSource", "BatchEmpty"]

_ENDING = 60.0
"""Maximum time that cancelled rollouts may take to end, in seconds."""


class BatchEmpty(Exception):
    """No group is left to train on, and none is running."""


class _Taken(NamedTuple):
    """One group of a batch, from one rank."""

    number: int
    task: str
    group: Group | None
    """The group to train on; None if the late policy dropped it."""

    records: list[Any]
    faults: int


class AsynchronousSource:
    """Keeps rollouts running and supplies batches of finished groups.

    Args:
        run: The components of the run; their event loop runs in the background.
    """

    def __init__(self, run: Components) -> None:
        table, ranks = run.recipe.asynchrony, run.ranks
        self._run = run
        self._log: Logged = lambda played: played
        self._here = not run.central or ranks.first
        """Whether this rank plays rollouts."""

        self._share = len(self._shared(range(run.recipe.rollout.groups)))
        rules = table.rules(max(1, self._share), run.recipe.rollout.concurrency)
        self._buffer: WorkBuffer[GroupPlan, Trajectory] = WorkBuffer(rules)
        self._upcoming: deque[GroupPlan] = deque()
        self._lot = 0
        """Number of the next batch of tasks to be drawn."""

        self._tasks: dict[tuple[int, int], asyncio.Task[None]] = {}
        self._failure: BaseException | None = None
        self._news: asyncio.Event | None = None
        self._plans: list[GroupPlan] = []
        self._counts: Counter[str] = Counter()
        self._ages: Counter[int] = Counter()
        self._offered: list[int] = []
        self._trained: list[int] = []
        self._cause = ""
        """Cause of the most recent loss of a group."""

    def _shared(self, items: Sequence[Any]) -> list[Any]:
        return list(items) if self._run.central else self._run.ranks.share(items)

    def begin(self, step: int) -> None:
        """Submit groups for the step; those in progress continue."""
        if self._here:
            self._run.complete(self._advance(step))

    def batch(self, step: int, attempt: int, wanted: int) -> Collected:
        """Wait for finished groups.

        Raises:
            BatchLate: If none finishes within the recipe's deadline.
            BatchEmpty: If too many groups in a row are lost to failures.
        """
        run = self._run
        self._log = partial(run.rollouts.keep, step + 1, attempt)
        share = len(self._shared(range(wanted)))

        def take() -> list[_Taken]:
            return run.complete(self._batch(step, share)) if share else []

        taken = run.ranks.from_first(take) if run.central else run.ranks.joined(take())
        return Collected(
            [one.group for one in taken if one.group is not None],
            [record for one in taken for record in one.records],
            sum(one.faults for one in taken),
        )

    def publish(self, version: int) -> float:
        """Publish the weights to the engine while rollouts continue."""
        return self._run.publish(version)

    def poison(self, cause: str) -> None:
        """Add the groups of the step to the journal."""
        self._run.journal.add(self._plans, cause)

    # On the event loop --------------------------------------------------------------------------

    async def _advance(self, step: int) -> None:
        self._news = self._news or asyncio.Event()
        self._plans = []
        self._counts.clear()
        self._ages.clear()
        self._offered, self._trained = [], []
        self._buffer.advance(step)
        self._fill()

    def _fill(self) -> None:
        """Submit groups while the buffer admits them."""
        while self._failure is None and self._buffer.admits():
            try:
                plan = self._next_plan()
            except Exception as error:
                self._fail(error)
                return
            roots = self._run.collector.roots(self._widened(plan))
            now = asyncio.get_running_loop().time()
            enough = plan.members if self._run.recipe.asynchrony.redundant else 0
            group = self._buffer.submit(plan, roots, now, enough)
            self._counts["groups/submitted"] += 1
            hinted = asyncio.ensure_future(self._hinted(group))
            for root in range(roots):
                task = asyncio.create_task(self._rollout(group, root, hinted))
                self._tasks[group.number, root] = task
                task.add_done_callback(partial(self._ended, (group.number, root)))

    def _next_plan(self) -> GroupPlan:
        run = self._run
        empty = 0
        while not self._upcoming:
            if empty > run.recipe.rollout.tries:
                raise BatchEmpty(
                    f"{empty} batches in a row had only tasks that the journal lists as lost"
                )
            empty += 1
            tasks = run.generation.tasks(self._lot, 0)
            plans = self._shared(run.generation.plans(tasks, self._lot, 0))
            self._upcoming.extend(plan for plan in plans if not run.journal.holds(plan))
            self._lot += 1
        return self._upcoming.popleft()

    async def _hinted(self, group: BufferedGroup[GroupPlan, Trajectory]) -> None:
        (group.item,) = await self._run.generation.hinted([group.item], self._run.executor)

    async def _rollout(
        self,
        group: BufferedGroup[GroupPlan, Trajectory],
        root: int,
        hinted: "asyncio.Future[None]",
    ) -> None:
        await asyncio.shield(hinted)
        played = await self._run.collector.rollout(self._widened(group.item), root)
        self._offered += [trajectory.sampled_tokens for trajectory in played if trajectory.scored]
        scored = sum(trajectory.scored for trajectory in played)
        failed = [trajectory for trajectory in played if not trajectory.scored]
        if failed:
            self._cause = str(failed[-1].record["error"])
        if self._buffer.report(group.number, root, played, scored):
            self._lose(group, f"failures: {self._cause}")
        surplus = self._buffer.surplus(group.number)
        self._counts["rollouts/redundant"] += len(surplus)
        self._cancel_members(group.number, surplus)

    def _widened(self, plan: GroupPlan) -> GroupPlan:
        """Return a plan with its redundant rollouts."""
        splits = self._run.recipe.generate.splits()
        redundant = self._run.recipe.asynchrony.redundant * leaves(splits)
        return plan._replace(members=plan.members + redundant)

    def _cancel_members(self, number: int, members: Sequence[int]) -> None:
        for member in members:
            task = self._tasks.get((number, member))
            if task is not None:
                task.cancel()

    def _ended(self, key: tuple[int, int], task: "asyncio.Task[None]") -> None:
        self._tasks.pop(key, None)
        if not task.cancelled() and task.exception() is not None:
            self._fail(task.exception())
        self._fill()
        if self._news is not None:
            self._news.set()

    def _lose(self, group: BufferedGroup[GroupPlan, Trajectory], cause: str) -> None:
        self._counts["groups/redrawn"] += 1
        self._run.journal.add([group.item], cause)

    def _fail(self, error: BaseException | None) -> None:
        self._failure = self._failure or error
        if self._news is not None:
            self._news.set()

    async def _batch(self, step: int, wanted: int) -> list[_Taken]:
        loop, seconds = asyncio.get_running_loop(), self._run.recipe.asynchrony.deadline
        limit, closing = loop.time() + seconds, False
        batch: list[_Taken] = []
        while sum(one.group is not None for one in batch) < wanted and not closing:
            missing = wanted - sum(one.group is not None for one in batch)
            if not self._buffer.ready(missing):
                if not await self._changed(limit):
                    closing = True
                    self._expire(limit - seconds)
                elif not self._buffer.ready(missing):
                    continue
            batch += self._settled(step, self._buffer.take(missing, closing=closing))
            self._fill()
        if not any(one.group is not None for one in batch):
            raise BatchLate(self._late(step, seconds))
        return sorted(batch, key=lambda one: one.number)

    async def _changed(self, limit: float) -> bool:
        """Wait until a rollout ends; return whether one did before the time limit.

        Raises:
            BatchEmpty: If nothing runs, or failures have taken too many groups in a row.
        """
        self._check()
        ended = await self._wait(limit)
        self._check()
        return ended

    async def _wait(self, limit: float) -> bool:
        """Wait for an event until a time of the event loop's clock; return whether one came."""
        assert self._news is not None, "a step begins before its batches"
        self._news.clear()
        try:
            async with asyncio.timeout_at(limit):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure
        most = self._run.recipe.rollout.tries * self._share
        if self._buffer.lost_in_a_row > most:
            raise BatchEmpty(
                f"{self._buffer.lost_in_a_row} groups in a row were lost to failures (the last: "
                f"{self._cause}); fix the environment, then resume the run"
            )
        if not self._tasks and not any(group.finished for group in self._buffer.open):
            raise BatchEmpty("no rollout is running or finished, and none may be submitted")

    def _expire(self, before: float) -> None:
        """End the rollouts of groups submitted at or before a time."""
        for group, members, lost in self._buffer.expire(before):
            self._counts["rollouts/cut"] += len(members)
            self._cancel_members(group.number, members)
            if lost:
                self._cause = "no score within the deadline of an update"
                self._lose(group, self._cause)

    def _late(self, step: int, seconds: float) -> str:
        oldest = self._buffer.open[0].item.task if self._buffer.open else "none"
        return (
            f"step {step}: no group finished within {seconds:g} s; {self._buffer.running} rollouts "
            f"are running (the oldest: {oldest}): find out what they wait for, or raise "
            "asynchrony.deadline"
        )

    def _settled(
        self, step: int, groups: Sequence[BufferedGroup[GroupPlan, Trajectory]]
    ) -> list[_Taken]:
        """Log and assemble taken groups, and apply the late policy."""
        if not groups:
            return []
        table = self._run.recipe.asynchrony
        rewarded = iter(self._log([t for group in groups for t in group.all_results()]))
        taken = []
        for group in groups:
            plan = group.item
            self._plans.append(plan)
            played = [next(rewarded) for _ in group.all_results()]
            collected = self._run.collector.assembled([plan.task], played)
            self._run.generation.observe(collected.groups, [plan])
            kept = None
            if collected.groups:
                kept = LATENESS[table.late](collected.groups[0], step - table.staleness)
            if kept is None:
                self._counts["groups/dropped"] += 1
                self._buffer.give_back(1)
            else:
                self._count(kept, step)
            taken.append(_Taken(group.number, plan.task, kept, collected.records, collected.faults))
        return taken

    def _count(self, group: Group, step: int) -> None:
        for sample in group.samples:
            withheld = withheld_of(sample)
            trained = sample.sampled & ~withheld
            self._counts["tokens/withheld"] += int(withheld.sum())
            if trained.any():
                self._trained.append(sample.tokens)
            if sample.version is not None:
                ages = step - sample.version[trained]
                self._ages.update(Counter(ages.tolist()))

    # Metrics and state --------------------------------------------------------------------------

    def metrics(self) -> dict[str, float]:
        """Return the metrics of the last update, over all ranks; see `asynchronous_metrics`."""
        parts = self._run.ranks.joined([self._run.complete(self._counted())])
        return asynchronous_metrics(parts, self._run.recipe.asynchrony.staleness)

    async def _counted(self) -> UpdateCounts:
        counts, ages = Counter(self._counts), Counter(self._ages)
        return UpdateCounts(counts, ages, [*self._offered], [*self._trained])

    def state(self) -> dict[str, Any]:
        """Return the next batch of tasks and the groups in the buffer, by rank."""
        mine = self._run.complete(self._pending()) if self._here else [0, []]
        return {"ranks": self._run.ranks.joined([mine])}

    async def _pending(self) -> list[Any]:
        plans = [*(group.item for group in self._buffer.open), *self._upcoming]
        return [self._lot, [[plan.task, plan.seed, plan.members] for plan in plans]]

    def load(self, state: Mapping[str, Any], step: int) -> None:
        """Resubmit the groups that were in the buffer when the state was saved.

        Rollouts that were in progress restart, with the policy of the state.
        """
        self._buffer.advance(step)
        rows = state.get("ranks", [])
        if not rows:
            return
        self._lot = max(lot for lot, _ in rows)
        same = len(rows) == self._run.ranks.count
        if same and not self._run.central:
            self._lot, pending = rows[self._run.ranks.number]
        else:
            pending = self._shared([plan for _, plans in rows for plan in plans])
        plans = [self._plan(*row) for row in pending]
        self._upcoming.extend(plan for plan in plans if not self._run.journal.holds(plan))

    def _plan(self, task: str, seed: int, members: int) -> GroupPlan:
        table = table_of(self._run.recipe.tasks, task)
        return GroupPlan(task, table.env, TrialLimits(turns=table.turns), members, seed)

    def close(self) -> None:
        """Cancel the rollouts in progress."""
        if self._here:
            self._run.complete(self._cancel())

    async def _cancel(self) -> None:
        self._failure = self._failure or BatchEmpty("the source is closed")
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_ENDING)
