"""Plays the trials of a plan and writes their records, one at a time or many at once."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hexathlon.baselines import interrupts
from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
from hexathlon.baselines.harness.environments import make_environment
from hexathlon.baselines.harness.errors import EnvironmentUnavailable
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.harness.tokens import TokenLog
from hexathlon.baselines.rollout.course import Beside, play, play_async
from hexathlon.baselines.rollout.environments import waits
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, Rollout
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.evaluators.records import RecordWriter
from hexathlon.evaluators.records.plan import TrialKey

__all__ = ["Player"]


class Player:
    """Plays trials and writes their records.

    Args:
        rollout: How one trial is played.
        config: What is run.
        versions: Version by environment id.
        execution: How the run is executed.
        writer: Takes the records.
        progress: Is told of each.
        spoilt: How often a trial was tried before, where infrastructure spoilt it.
        tokens: Takes the tokens of trials, where they are kept.
    """

    def __init__(
        self,
        rollout: Rollout,
        config: EvalConfig,
        versions: Mapping[str, str],
        execution: ExecutionConfig,
        writer: RecordWriter,
        progress: Progress,
        spoilt: Mapping[TrialKey, int],
        tokens: TokenLog | None = None,
    ) -> None:
        self.rollout, self.config, self.versions = rollout, config, versions
        self.execution, self.writer, self.progress = execution, writer, progress
        self.spoilt, self.tokens = spoilt, tokens
        self._infra_in_a_row = self._passed = self._infra = 0
        self._waiting: frozenset[str] = frozenset()

    def play(self, keys: Iterator[TrialKey], count: int) -> None:
        """Play these trials, so many in number, at once where agent or environment waits.

        Raises:
            Fatal: No trial could be played.
            EnvironmentUnavailable: Too many trials in a row were spoilt.
        """
        slots = self._slots()
        try:
            self._waiting = frozenset(name for name, slot in slots.items() if waits(slot.get()))
            if not (self._waiting or self.rollout.agent.asynchronous):
                for key in keys:
                    spoilt = self.spoilt.get(key, 0)
                    self._keep(play(self.rollout.trial(slots[key[0]], key, spoilt)))
                return
        finally:
            for slot in slots.values():
                slot.close()
        interrupts.run(self._play_many(keys, count))

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
            engine = getattr(self.rollout.agent, "engine", None)
            if engine is not None:
                await engine.close()

    async def _work(self, keys: Iterator[TrialKey]) -> None:
        """Play trials one after another, steps that are no coroutines in a thread of their own.

        So a slow statement holds up neither the replies of models nor the statements of others.
        """
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        slots = self._slots()
        lane = ThreadPoolExecutor(1) if self.execution.concurrency > 1 else None

        async def beside(function: Callable[[], Any]) -> Any:
            return await asyncio.get_running_loop().run_in_executor(lane, function)

        def place(env_id: str) -> Beside | None:
            return None if lane is None or env_id in self._waiting else beside

        try:
            for key in keys:
                course = self.rollout.trial(slots[key[0]], key, self.spoilt.get(key, 0))
                self._keep(await play_async(course, place(key[0])))
        finally:
            for env_id, slot in slots.items():
                await (beside(slot.close) if place(env_id) else slot.aclose())
            if lane is not None:
                lane.shutdown()

    def _slots(self) -> dict[str, EnvironmentSlot]:
        return {
            env_id: EnvironmentSlot(make_environment(env_id, self.config.limits), version)
            for env_id, version in self.versions.items()
        }

    def _keep(self, trajectory: Trajectory) -> None:
        record = trajectory.record
        written = self.writer.append(record, trajectory.media)
        if self.tokens is not None and trajectory.tokens is not None:
            self.tokens.keep(written, trajectory.tokens)
        infra = record["status"] == "infra"
        self._infra_in_a_row = self._infra_in_a_row + 1 if infra else 0
        self._infra += infra
        self._passed += record["reward"] == 1.0
        self.progress.advance(
            f"{self._passed} passed" + (f", {self._infra} spoilt" if self._infra else "")
        )
        most = self.execution.most_infra_in_a_row
        if most and self._infra_in_a_row >= most:
            raise EnvironmentUnavailable(
                f"{most} trials in a row were spoilt ({record['cause']}: {record['error']}); "
                "when that is mended, continue with `hexathlon resume RUN --retry-infra`"
            )
