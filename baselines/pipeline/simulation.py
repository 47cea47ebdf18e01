"""Simulation of asynchronous training on a simulated clock: environments, engine, learner, buffer.

Durations come from a workload; decisions are made by the same work buffer and late policies as in
real runs. It predicts the duration of a run, shows which rollouts a setting favours, and checks the
scheduler's properties on thousands of environments in seconds. Nothing is learned.
"""

import heapq
import itertools
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from hexathlon.baselines.algorithms.samples import Group, Sample
from hexathlon.baselines.pipeline.buffer import AdmissionRules, BufferedGroup, WorkBuffer
from hexathlon.baselines.pipeline.lateness import LATENESS, withheld_of
from hexathlon.tasks.seeding import generator_for

__all__ = [
    "RunSettings",
    "SimulatedRollout",
    "SimulationReport",
    "Workload",
    "bound",
    "log_normal",
    "simulate",
]


class SimulatedRollout(NamedTuple):
    """Durations of one rollout, in seconds."""

    reset: float
    turns: tuple[tuple[float, float], ...]
    """Per turn: the engine's time, then the environment's."""

    fails: bool = False
    """Whether it ends without a score, after its full duration."""

    @property
    def environment(self) -> float:
        """Total environment time."""
        return self.reset + sum(step for _, step in self.turns)

    @property
    def engine(self) -> float:
        """Total engine time."""
        return sum(sampling for sampling, _ in self.turns)


Workload = Callable[[int, int], SimulatedRollout]
"""Maps the numbers of a group and a member to a rollout."""


def log_normal(
    mean: float,
    sigma: float,
    *,
    turns: int = 1,
    engine: float = 0.0,
    failing: float = 0.0,
    seed: int = 0,
) -> Workload:
    """Return a workload whose environment steps take log-normal times.

    Args:
        mean: Mean time of a step, in seconds.
        sigma: Deviation of its logarithm.
        turns: Turns of every rollout.
        engine: The engine's time for a turn, in seconds.
        failing: Share of rollouts that fail.
        seed: Seed of the draws, which depend only on the numbers of group and member.
    """
    location = math.log(mean) - sigma**2 / 2

    def rollout(group: int, member: int) -> SimulatedRollout:
        draw = generator_for("simulated rollout", seed, group, member)
        steps = draw.lognormal(location, sigma, size=turns)
        fails = bool(draw.random() < failing)
        return SimulatedRollout(0.0, tuple((engine, float(step)) for step in steps), fails)

    return rollout


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of a simulated run."""

    rules: AdmissionRules
    members: int
    learner: float = 0.0
    """Duration of an update in seconds, including the publication of the weights."""

    lanes: int = 0
    """Maximum number of requests that the engine serves concurrently; 0 for no limit."""

    late: str = "pace"
    deadline: float = math.inf
    """Maximum time that an update waits for its batch, in seconds."""

    redundant: int = 0
    """Rollouts of a group beyond its members; they end once enough others have a score."""


@dataclass(slots=True)
class SimulationReport:
    """Results of a simulated run; times in seconds."""

    seconds: float = 0.0
    """Time to the end of the last update."""

    waits: list[float] = field(default_factory=list)
    """Per update: time that the learner waited for its batch."""

    groups: list[list[int]] = field(default_factory=list)
    """Per update: numbers of the groups trained on, in the order of submission."""

    staleness: list[int] = field(default_factory=list)
    """Per trained turn: number of updates between sampling and training."""

    offered: list[float] = field(default_factory=list)
    """Environment time of every rollout that was submitted."""

    trained: list[float] = field(default_factory=list)
    """Environment time of every rollout with a trained turn."""

    environment: float = 0.0
    """Environment time of all completed turns."""

    engine: float = 0.0
    """Engine time of all turns played."""

    most_running: int = 0
    lost: int = 0
    cut: int = 0
    dropped: int = 0
    withheld: int = 0
    """Turns that were not trained on."""

    stalled: str = ""
    """Reason why the run ended early; empty if it did not."""


class _Playing:
    """A rollout in progress."""

    def __init__(self, group: BufferedGroup[int, Sample], member: int, plan: SimulatedRollout):
        self.group, self.member, self.plan = group, member, plan
        self.versions: list[int] = []
        self.started = False
        self.ended = False
        """Whether it has finished or was abandoned."""


def simulate(workload: Workload, settings: RunSettings, steps: int) -> SimulationReport:
    """Simulate a run of some updates."""
    return _Simulation(workload, settings).run(steps)


class _Simulation:
    def __init__(self, workload: Workload, settings: RunSettings) -> None:
        self.workload, self.settings = workload, settings
        self.buffer: WorkBuffer[int, Sample] = WorkBuffer(settings.rules)
        self.report = SimulationReport()
        self.now = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._waiting: deque[_Playing] = deque()
        self._asking: deque[_Playing] = deque()
        self._playing: dict[tuple[int, int], _Playing] = {}
        self._slots = settings.rules.slots
        self._busy_lanes = 0
        self._news = True
        """Whether a group has ended since the buffer last had no batch."""

    def run(self, steps: int) -> SimulationReport:
        for step in range(steps):
            began = self.now
            self.buffer.advance(step)
            self._news = True
            self._admit()
            batch = self._batch()
            if not batch:
                break
            self.report.waits.append(self.now - began)
            self.report.groups.append(batch)
            self._until(self.now + self.settings.learner)
        self.report.seconds = self.now
        return self.report

    # The learner's side -------------------------------------------------------------------------

    def _batch(self) -> list[int]:
        """Wait for the next batch; return the numbers of its groups."""
        wanted, limit = self.settings.rules.groups, self.now + self.settings.deadline
        chosen: list[int] = []
        closing = False
        while len(chosen) < wanted and not closing:
            missing = wanted - len(chosen)
            if not self._ready(missing):
                if self._events and self._events[0][0] <= limit:
                    self._next()
                    continue
                if math.isinf(limit):
                    break
                self.now, closing = limit, True
                self._expire()
            for group in self.buffer.take(missing, closing=closing):
                if self._trained(group):
                    chosen.append(group.number)
                else:
                    self.buffer.give_back(1)
            self._admit()
        if not chosen:
            self.report.stalled = f"no group finished after {self.now:.0f} s"
        return sorted(chosen)

    def _ready(self, wanted: int) -> bool:
        if not self._news:
            return False
        self._news = self.buffer.ready(wanted)
        return self._news

    def _expire(self) -> None:
        for group, members, lost in self.buffer.expire(self.now - self.settings.deadline):
            self.report.cut += len(members)
            self.report.lost += lost
            for member in members:
                self._end(self._playing[group.number, member])
        self._admit()

    def _trained(self, taken: BufferedGroup[int, Sample]) -> bool:
        version, report = self.buffer.version, self.report
        oldest = version - self.settings.rules.staleness
        group = Group(str(taken.number), tuple(taken.all_results()))
        kept = LATENESS[self.settings.late](group, oldest)
        if kept is None:
            report.dropped += 1
            return False
        for sample in kept.samples:
            assert sample.version is not None, "simulated samples have versions"
            trained = sample.sampled & ~withheld_of(sample)
            report.withheld += int((~trained).sum())
            report.staleness += [int(version - sampled) for sampled in sample.version[trained]]
            if trained.any():
                report.trained.append(sample.reward)
        return True

    # Rollouts -----------------------------------------------------------------------------------

    def _admit(self) -> None:
        while self.buffer.admits():
            members, redundant = self.settings.members, self.settings.redundant
            enough = members if redundant else 0
            group = self.buffer.submit(0, members + redundant, self.now, enough)
            for member in range(members + redundant):
                plan = self.workload(group.number, member)
                self.report.offered.append(plan.environment)
                playing = _Playing(group, member, plan)
                self._playing[group.number, member] = playing
                self._waiting.append(playing)
            self._start()

    def _start(self) -> None:
        while self._slots and self._waiting:
            playing = self._waiting.popleft()
            if playing.ended:
                continue
            self._slots -= 1
            playing.started = True
            running = self.settings.rules.slots - self._slots
            self.report.most_running = max(self.report.most_running, running)
            self._after(playing.plan.reset, partial(self._ask, playing))

    def _ask(self, playing: _Playing) -> None:
        if playing.ended:
            return
        if len(playing.versions) == len(playing.plan.turns):
            self._finish(playing)
            return
        self._asking.append(playing)
        self._serve()

    def _serve(self) -> None:
        while self._asking and (not self.settings.lanes or self._busy_lanes < self.settings.lanes):
            playing = self._asking.popleft()
            if playing.ended:
                continue
            self._busy_lanes += 1
            sampling, step = playing.plan.turns[len(playing.versions)]
            self.report.engine += sampling
            self._after(sampling, partial(self._sampled, playing, step))

    def _sampled(self, playing: _Playing, step: float) -> None:
        self._busy_lanes -= 1
        playing.versions.append(self.buffer.version)
        self._after(step, partial(self._stepped, playing, step))
        self._serve()

    def _stepped(self, playing: _Playing, step: float) -> None:
        self.report.environment += step
        self._ask(playing)

    def _finish(self, playing: _Playing) -> None:
        plan, number = playing.plan, playing.group.number
        scored = not plan.fails
        results = [_sample(playing)] if scored else []
        self._end(playing)
        self.report.lost += self.buffer.report(number, playing.member, results, int(scored))
        for surplus in self.buffer.surplus(number):
            self._end(self._playing[number, surplus])
        self._news = self._news or playing.group.finished
        self._admit()

    def _end(self, playing: _Playing) -> None:
        """Free the slot of a rollout that has ended or is abandoned."""
        del self._playing[playing.group.number, playing.member]
        playing.ended = True
        if playing.started:
            self._slots += 1
            self._start()

    # The clock ----------------------------------------------------------------------------------

    def _after(self, seconds: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._order), event))

    def _next(self) -> None:
        self.now, _, event = heapq.heappop(self._events)
        event()

    def _until(self, time: float) -> None:
        while self._events and self._events[0][0] <= time:
            self._next()
        self.now = time


def _sample(playing: _Playing) -> Sample:
    """Return a sample with one token per turn; its reward is the rollout's environment time."""
    count = len(playing.versions)
    sampled = np.ones(count, dtype=np.bool_)
    rewards = tuple(step for _, step in playing.plan.turns)
    return Sample(
        ids=np.zeros(count, dtype=np.int64),
        sampled=sampled,
        observed=~sampled,
        behaviour=np.zeros(count),
        turn=np.arange(count),
        rewards=(rewards[0] + playing.plan.reset, *rewards[1:]),
        version=np.array(playing.versions, dtype=np.int64),
    )


def bound(rollouts: Sequence[SimulatedRollout], slots: int, learner: float, lanes: int) -> float:
    """Return a lower bound on the duration of a run.

    Args:
        rollouts: All rollouts of the run.
        slots: Concurrent rollouts.
        learner: Total duration of all updates, in seconds.
        lanes: Maximum number of requests that the engine serves concurrently; 0 for no limit.
    """
    engine = sum(rollout.engine for rollout in rollouts)
    environment = sum(rollout.environment for rollout in rollouts)
    return max(engine / lanes if lanes else 0.0, environment / slots, learner)
