"""Plays the trials of a plan and writes their records, one at a time or many at once.

Other processes can play the trials, such as those of a cluster; this process then only writes the
records.
"""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, aclosing
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hexathlon.baselines import interrupts
from hexathlon.baselines.harness.budget import RunBudget
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.environments import make_environment
from hexathlon.baselines.harness.errors import EnvironmentUnavailable
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.tokens import TokenLog
from hexathlon.baselines.rollout.drivers import Offload, play, play_async
from hexathlon.baselines.rollout.environments import is_asynchronous
from hexathlon.baselines.rollout.executor import Request
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.evaluators.records import RecordWriter
from hexathlon.evaluators.records.plan import TrialKey

__all__ = ["OpenPlayers", "RemotePlayers", "RemoteSetup", "TrialPlayer"]


class RemoteSetup(NamedTuple):
    """Everything that other processes need to play the trials of a run."""

    config: EvalConfig
    execution: ExecutionConfig
    description: Mapping[str, Any]
    """The plan's `model`."""

    asynchronous: bool
    """Whether the agent waits for a model, so that a process can play many trials at once."""

    salt: str | None
    versions: Mapping[str, str]
    """Environment version by environment id."""

    run: Path
    """The run directory, for reports about the processes."""

    trials: int
    """Number of trials to play."""


class RemotePlayers(Protocol):
    """Processes that play trials."""

    def trajectories(self, requests: Iterator[Request]) -> AsyncGenerator[Trajectory, None]:
        """Play trials and yield their trajectories, those of local models in the requests' order.

        Args:
            requests: Consumed one at a time, when a process can play the next.
        """
        ...


OpenPlayers = Callable[[RemoteSetup], AbstractContextManager[RemotePlayers | None]]
"""Opens the processes that play the trials of a run; None leaves them to this process."""


class TrialPlayer:
    """Plays trials and writes their records.

    Args:
        rollout: Plays one trial.
        config: Model, tasks and limits of the run.
        versions: Environment version by environment id.
        execution: Concurrency and abort settings.
        writer: Writer of the run's records.
        progress: Advanced after every trial.
        attempts: Earlier attempts per trial that ended in infrastructure failures.
        budget: Of the whole run; no trial starts once it is exhausted.
        tokens: Writer of token trees, if they are kept.
        players: Other processes that play the trials; None plays them in this one.
    """

    def __init__(
        self,
        rollout: Rollout,
        config: EvalConfig,
        versions: Mapping[str, str],
        execution: ExecutionConfig,
        writer: RecordWriter,
        progress: Progress,
        attempts: Mapping[TrialKey, int],
        budget: RunBudget,
        tokens: TokenLog | None = None,
        players: RemotePlayers | None = None,
    ) -> None:
        self._players = players
        self.rollout, self.config, self.versions = rollout, config, versions
        self.execution, self.writer, self.progress = execution, writer, progress
        self.attempts, self.budget, self.tokens = attempts, budget, tokens
        self.stopped: str | None = None
        """The exhausted budget that stopped the run; None if there was none."""
        self._infra_in_a_row = self._passed = self._infra = 0
        self._async_envs: frozenset[str] = frozenset()

    def play(self, keys: Iterator[TrialKey], count: int) -> None:
        """Play `count` trials, concurrently if the agent or an environment is asynchronous.

        Fewer are played when the budget is exhausted; `stopped` then says so.

        Raises:
            FatalError: If an error would affect every trial.
            EnvironmentUnavailable: After too many consecutive infrastructure failures.
        """
        if self._players is not None:
            interrupts.run(self._play_remotely(self._players, keys))
            return
        slots = self._slots()
        try:
            self._async_envs = frozenset(
                name for name, slot in slots.items() if is_asynchronous(slot.get())
            )
            if not (self._async_envs or self.rollout.agent.asynchronous):
                for key in self._within_budget(keys):
                    tried = self.attempts.get(key, 0)
                    self._record(play(self.rollout.trial(slots[key[0]], key, tried)))
                return
        finally:
            for slot in slots.values():
                slot.close()
        interrupts.run(self._play_many(keys, count))

    async def _play_remotely(self, players: RemotePlayers, keys: Iterator[TrialKey]) -> None:
        limits = self.rollout.limits
        requests = (
            Request(key, limits, tried=self.attempts.get(key, 0))
            for key in self._within_budget(keys)
        )
        try:
            async with aclosing(players.trajectories(requests)) as trajectories:
                async for trajectory in trajectories:
                    interrupts.check()
                    self._record(trajectory)
        finally:
            await self._close_engine()

    async def _close_engine(self) -> None:
        engine = getattr(self.rollout.agent, "engine", None)
        if engine is not None:
            await engine.close()

    async def _play_many(self, keys: Iterator[TrialKey], count: int) -> None:
        import asyncio

        workers = min(self.execution.concurrency, count)
        tasks = [asyncio.create_task(self._work(keys)) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._close_engine()

    async def _work(self, keys: Iterator[TrialKey]) -> None:
        """Play trials one after another, with blocking environment steps in a separate thread.

        A slow SQL statement then delays neither model replies nor the steps of other trials.
        """
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        slots = self._slots()
        threaded = getattr(self.rollout.agent, "needs_threads", False)
        concurrent = self.execution.concurrency > 1 or threaded
        thread = ThreadPoolExecutor(1) if concurrent else None

        async def in_thread(function: Callable[[], Any]) -> Any:
            return await asyncio.get_running_loop().run_in_executor(thread, function)

        def offload(env_id: str) -> Offload | None:
            return None if thread is None or env_id in self._async_envs else in_thread

        try:
            for key in self._within_budget(keys):
                trial = self.rollout.trial(slots[key[0]], key, self.attempts.get(key, 0))
                self._record(await play_async(trial, offload(key[0])))
        finally:
            for env_id, slot in slots.items():
                await (in_thread(slot.close) if offload(env_id) else slot.aclose())
            if thread is not None:
                thread.shutdown()

    def _within_budget(self, keys: Iterator[TrialKey]) -> Iterator[TrialKey]:
        """Yield keys until the budget is exhausted."""
        for key in keys:
            exhausted = self.budget.exhausted()
            if exhausted is not None:
                self.stopped = exhausted
                return
            yield key

    def _slots(self) -> dict[str, EnvironmentSlot]:
        return {
            env_id: EnvironmentSlot(make_environment(env_id, self.config.limits), version)
            for env_id, version in self.versions.items()
        }

    def _record(self, trajectory: Trajectory) -> None:
        record = trajectory.record
        written = self.writer.append(record, trajectory.media)
        if self.tokens is not None and trajectory.tokens is not None:
            self.tokens.keep(written, trajectory.tokens)
        self.budget.add(record)
        infra = record["status"] == "infra"
        unsupported = record["cause"] == "unsupported"  # a property of the task, not of the machine
        self._infra_in_a_row = self._infra_in_a_row + 1 if infra and not unsupported else 0
        self._infra += infra
        self._passed += record["reward"] == 1.0
        failures = f", {self._infra} infrastructure failures" if self._infra else ""
        self.progress.advance(f"{self._passed} passed{failures}")
        limit = self.execution.most_infra_in_a_row
        if limit and self._infra_in_a_row >= limit:
            raise EnvironmentUnavailable(
                f"aborted after {limit} consecutive infrastructure failures "
                f"({record['cause']}: {record['error']}); fix the cause, then continue with "
                "`hexathlon resume RUN --retry-infra`"
            )
