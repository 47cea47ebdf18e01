"""Streaming counters of trial records: per task, per group, and distributions over time.

Memory does not grow with the number of trials, only with that of tasks and distinct causes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_FAULT = "fault_"
_BINS_PER_DECADE = 100
_SMALLEST = 1e-6
_WAITING = 256
LEVELS = ("tiny", "easy", "medium", "hard")


def level_order(level: str) -> tuple[int, str]:
    """Return a sorting key that orders levels from easy to hard, unknown ones last."""
    return (LEVELS.index(level) if level in LEVELS else len(LEVELS), level)


def trial_seconds(timing: Mapping[str, Any]) -> float | None:
    """Return the duration of a whole trial; None if none of its parts is known."""
    get = timing.get
    parts: list[Any] = [get("reset"), get("agent"), get("env"), get("grade")]
    if None in parts:
        parts = [part for part in parts if part is not None]
    return math.fsum(parts) if parts else None


class Spread:
    """Quantiles of positive numbers in constant memory, exact to 1.2 % (bins on a log scale)."""

    def __init__(self) -> None:
        self._bins: Counter[int] = Counter()
        self._waiting: list[float] = []
        self.count = 0
        self._total = 0.0

    def add(self, value: float) -> None:
        """Count one value; values below a millionth count as a millionth."""
        self.count += 1
        self._total += value
        self._waiting.append(value)
        if len(self._waiting) >= _WAITING:
            self._binned()

    def extend(self, values: Sequence[float]) -> None:
        """Count all these values."""
        total = self._total
        for value in values:  # one by one: the sum is that of `add`
            total += value
        self._total = total
        self.count += len(values)
        self._waiting += values
        if len(self._waiting) >= _WAITING:
            self._binned()

    def _binned(self) -> Counter[int]:
        """Return the bins with all values in them; values are put there many at a time."""
        if self._waiting:
            log, floor = math.log10, math.floor
            self._bins.update(
                [
                    floor(_BINS_PER_DECADE * log(value if value > _SMALLEST else _SMALLEST))
                    for value in self._waiting
                ]
            )
            self._waiting.clear()
        return self._bins

    def as_json(self) -> list[Any]:
        """Return the distribution as JSON."""
        return [self.count, self._total, sorted(self._binned().items())]

    @classmethod
    def from_json(cls, state: list[Any]) -> Spread:
        """Return the distribution of such JSON."""
        made = cls()
        made.count, made._total = state[0], state[1]
        made._bins = Counter(dict(map(tuple, state[2])))
        return made

    @property
    def mean(self) -> float | None:
        """Mean of all values; None if there are none."""
        return self._total / self.count if self.count else None

    def quantile(self, share: float) -> float | None:
        """Return the value not exceeded by ``share`` of all values; None if there are none."""
        if not self.count:
            return None
        left = share * self.count
        bins = self._binned()
        for index in sorted(bins):
            left -= bins[index]
            if left <= 0:
                break
        return float(10.0 ** ((index + 0.5) / _BINS_PER_DECADE))


@dataclass(slots=True)
class TaskCounts:
    """Counts of the trials of one task."""

    template: str
    level: str
    reward: float = 0.0
    """Sum over scored trials."""
    partial: float = 0.0
    """Sum of partial credit, where given, over scored trials."""
    with_partial: int = 0
    scored: int = 0
    unscored: int = 0
    infra: int = 0
    passed: int = 0
    """Scored trials with reward 1."""
    empty_gold: bool = False
    """Whether the expected answer has no rows, as verifiers report it."""

    @property
    def trials(self) -> int:
        """Number of all trials."""
        return self.scored + self.unscored + self.infra

    def count(self, record: Mapping[str, Any], sign: int = 1) -> None:
        """Count one trial; ``sign=-1`` uncounts an infrastructure failure."""
        status = record["status"]
        if status == "scored":
            reward = float(record["reward"])
            self.scored += 1
            self.reward += reward
            self.passed += reward == 1.0
            if record["partial"] is not None:
                self.with_partial += 1
                self.partial += float(record["partial"])
        elif status == "unscored":
            self.unscored += 1
        else:
            self.infra += sign


@dataclass(slots=True)
class RoleUsage:
    """Tokens, calls and cost of one role (agent, judge, user) over all trials."""

    input: int = 0
    output: int = 0
    calls: int = 0
    cost: float = 0.0
    unpriced: int = 0
    """Trials of unknown cost; if any, the total is unknown."""

    def count(self, usage: Mapping[str, Any]) -> None:
        """Add the usage of one trial."""
        self.input += int(usage.get("input") or 0)
        self.output += int(usage.get("output") or 0)
        self.calls += int(usage.get("calls") or 0)
        cost = usage.get("cost")
        if cost is None:
            self.unpriced += 1
        else:
            self.cost += float(cost)

    @property
    def known_cost(self) -> float | None:
        """Total cost; None if any trial's is unknown."""
        return None if self.unpriced else self.cost


@dataclass(slots=True)
class LookCounts:
    """Counts of the scored trials in one look, where an event has several."""

    scored: int = 0
    reward: float = 0.0

    @property
    def mean(self) -> float:
        """Mean reward of the scored trials."""
        return self.reward / self.scored if self.scored else 0.0


@dataclass(slots=True)
class EnvTally:
    """All counts of one version of one environment."""

    env: str
    version: str
    tasks: dict[str, TaskCounts] = field(default_factory=dict)
    causes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(status, cause) of trials without a score, and of earlier failed attempts (``retried``)."""
    stops: Counter[str] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    """Faults found by verifiers in scored trials that failed: the terms `fault_…` that are set."""
    unmet: Counter[str] = field(default_factory=Counter)
    """Terms of 0 in scored trials that failed, for verifiers that name no faults."""
    looks: dict[str, LookCounts] = field(default_factory=dict)
    """Scored trials by look: the appearance that the environment's final state names."""
    sandboxes: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    usage: dict[str, RoleUsage] = field(default_factory=dict)
    seconds: Spread = field(default_factory=Spread)
    """Duration of whole trials."""
    latencies: Spread = field(default_factory=Spread)
    """Duration of single model calls."""
    turns: int = 0
    tool_errors: int = 0
    cut_chars: int = 0
    records: int = 0

    @property
    def looks_by_score(self) -> list[tuple[str, LookCounts]]:
        """Looks with their counts, the worst first; equal ones by name."""
        return sorted(self.looks.items(), key=lambda item: (item[1].mean, item[0]))

    @property
    def look_spread(self) -> float:
        """Distance between the mean scores of the best and the worst look; 0 without looks."""
        looks = self.looks_by_score
        return looks[-1][1].mean - looks[0][1].mean if looks else 0.0

    def count(self, record: Mapping[str, Any]) -> None:
        """Count one trial record."""
        name, scored = record["key"]["task"], record["status"] == "scored"
        task = self.tasks.get(name)
        if task is None:
            task = self.tasks[name] = TaskCounts(record["template"], record["level"])
        task.count(record)
        if not task.empty_gold and _has_empty_gold(record["terms"]):
            task.empty_gold = True
        self.records += 1
        self.stops[record["stop"]] += 1
        # Loops: most are empty, and `Counter.update` costs more than they do.
        for flag in record["flags"]:
            self.flags[flag] += 1
        if scored and record["reward"] != 1.0:
            self._count_causes(record["terms"])
        self.sandboxes[record["sandbox"]] += 1
        for check in record["checks"]:
            self.checks[f"{check.get('name')}@{check.get('version')}"] += 1
        look = record["final_state"].get("look")
        if isinstance(look, str) and look and scored:
            counts = self.looks.setdefault(look, LookCounts())
            counts.scored += 1
            counts.reward += float(record["reward"])
        if not scored:
            self.causes[record["status"], record["cause"] or "unknown"] += 1
        for earlier in record["earlier"]:
            self.causes["retried", str(earlier.get("cause", "unknown"))] += 1
        self.turns += record["turns"]
        self.tool_errors += record["tool_errors"]
        self.cut_chars += record["cut_chars"]
        for role, usage in record["usage"].items():
            if role not in self.usage:
                self.usage[role] = RoleUsage()
            self.usage[role].count(usage)
        self._count_time(record["timing"])

    def _count_causes(self, terms: Mapping[str, Any]) -> None:
        """Count the faults that a verifier found in a failed trial, or the terms that it missed."""
        named = [name for name in terms if _FAULT in name]
        for name in named:
            last = name.rpartition(".")[2]
            if terms[name] and last.startswith(_FAULT):
                self.faults[last.removeprefix(_FAULT)] += 1
        if not named:
            for name, value in terms.items():
                if value == 0:
                    self.unmet[name] += 1

    def uncount(self, record: Mapping[str, Any]) -> None:
        """Uncount an infrastructure failure that was retried later.

        Its usage remains counted, since the tokens were consumed.
        """
        name = record["key"]["task"]
        self.tasks[name].count(record, -1)
        if not self.tasks[name].trials:
            del self.tasks[name]
        self.records -= 1
        self.stops[record["stop"]] -= 1
        cause = record["cause"] or "unknown"
        self.causes["infra", cause] -= 1
        self.causes["retried", cause] += 1

    def _count_time(self, timing: Mapping[str, Any]) -> None:
        seconds = trial_seconds(timing)
        if seconds is not None:
            self.seconds.add(seconds)
        self.latencies.extend(timing.get("latencies") or ())

    def total_cost(self) -> float | None:
        """Return the cost of all roles; None if any is unknown or nothing was priced."""
        costs = [usage.known_cost for usage in self.usage.values() if usage.calls]
        known = [cost for cost in costs if cost is not None]
        return math.fsum(known) if costs and len(known) == len(costs) else None

    def total_tokens(self) -> int:
        """Return input and output tokens of all roles."""
        return sum(usage.input + usage.output for usage in self.usage.values())

    def by(self, name: str) -> Iterator[tuple[str, list[TaskCounts]]]:
        """Yield the tasks in groups of one ``template`` or ``level``.

        Templates come in the order of names, levels from easy to hard.
        """
        groups: dict[str, list[TaskCounts]] = {}
        for task in self.tasks.values():
            groups.setdefault(getattr(task, name), []).append(task)
        for group in sorted(groups, key=level_order if name == "level" else str):
            yield group, groups[group]


def _has_empty_gold(terms: Mapping[str, Any]) -> bool:
    """Whether a rule, of the score or beside it, reports an empty expected answer."""
    for name, value in terms.items():
        if value and name.endswith("empty_gold"):
            return True
    return False
