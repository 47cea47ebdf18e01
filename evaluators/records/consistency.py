"""Contradictions inside a run's own files: its plan and its records cannot all be true.

No environment is needed, so these checks apply to any run. Whether the recorded actions lead to the
recorded outcome is left to `hexathlon.baselines.harness.verify`.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hexathlon.evaluators.records.canonical import content_hash
from hexathlon.evaluators.records.plan import TrialKey
from hexathlon.evaluators.records.trial import record_key
from hexathlon.tasks.errors import TaskError
from hexathlon.tasks.source import TaskAddress, parse_address

__all__ = ["OUTSIDE", "Contradiction", "RecordConsistency", "plan_contradictions", "stop_of"]

_ONGOING = "ongoing"
_JUDGE_STOP = "error_judge"
_JUDGE_CAUSES = ("verifier", "judge")
OUTSIDE = {
    "gave_up": "aborted",
    "refused": "aborted",
    "context_overflow": "truncated_length",
    "limit:output_tokens": "truncated_length",
    "limit:total_tokens": "truncated_length",
    "limit:cost": "truncated_length",
    "limit:wall_seconds": "truncated_time",
    "limit:working_seconds": "truncated_time",
}
"""Stop by flag, for trials that ended outside their environment."""


class Contradiction(NamedTuple):
    """Two statements of a run that contradict each other."""

    field: str
    """Field of the plan or the record."""

    message: str


def plan_contradictions(plan: Mapping[str, Any]) -> Iterator[Contradiction]:
    """Yield contradictions between the keys of a plan and its configuration and task sets.

    Only numbers of tasks, seeds and trials are checked, not the contents of task sets.
    """
    counts = Counter(map(tuple, plan["keys"]))
    for key, count in counts.items():
        if count > 1:
            yield Contradiction("keys", f"trial {key} is planned {count} times")
            return
    config = plan.get("config", {})
    seeds, trials = _count(config.get("seeds")), _count(config.get("trials"))
    if not seeds or not trials:
        yield Contradiction("config", "has no number of seeds or of trials per task")
        return
    yield from _incomplete_tasks(counts, seeds, trials)
    yield from _misplaced_tasks(plan, counts)
    yield from _wrong_selection(plan, config)


def _count(value: Any) -> int:
    return value if type(value) is int and value > 0 else 0


def _incomplete_tasks(keys: Iterable[Any], seeds: int, trials: int) -> Iterator[Contradiction]:
    planned: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for env, task, seed, trial in keys:
        planned.setdefault((env, task), set()).add((seed, trial))
    whole = {(seed, trial) for seed in range(seeds) for trial in range(trials)}
    for (_, task), pairs in planned.items():
        if pairs != whole:
            yield Contradiction(
                "keys",
                f"{task} has {len(pairs)} trials, not each of {seeds} seeds x {trials} trials "
                "of the configuration once",
            )
            return


def _misplaced_tasks(plan: Mapping[str, Any], keys: Iterable[Any]) -> Iterator[Contradiction]:
    """Compare the source, split and level of every task with the task sets of the plan."""
    rows = [(r.get("id"), r.get("taskset"), r.get("split"), r.get("level")) for r in plan["envs"]]
    for env, task in dict.fromkeys((env, task) for env, task, _, _ in keys):
        try:
            address = _address(task)
        except TaskError as error:
            yield Contradiction("keys", str(error))
            return
        place = (env, address.source, address.split)
        if not any(row[:3] == place and row[3] in (None, address.level) for row in rows):
            yield Contradiction("keys", f"{task} belongs to no task set of the plan's 'envs'")
            return


def _wrong_selection(plan: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[Contradiction]:
    chosen = config.get("task")
    if chosen:
        tasks = {task for _, task, _, _ in plan["keys"]}
        if tasks != set(chosen):
            yield Contradiction("keys", "has other tasks than the configuration's list 'task'")
        return
    tasks_of: dict[Any, set[str]] = {}
    for env, task, _, _ in plan["keys"]:
        tasks_of.setdefault(env, set()).add(task)
    for row in plan["envs"]:
        size, wanted = row.get("size"), config.get("tasks")
        if type(wanted) is not int:
            yield Contradiction("config.tasks", f"expected a number of tasks, found {wanted!r}")
            return
        expected = min(wanted or size, size) if type(size) is int else wanted
        found = len(tasks_of.get(row.get("id"), ()))
        if found != expected:
            yield Contradiction(
                "keys",
                f"has {found} tasks of {row.get('id')}, the configuration asks for {expected}",
            )


def stop_of(record: Mapping[str, Any]) -> str:
    """Return how a trial ended, by its last step and its flags; empty if they do not say.

    Either the environment ended it, or one named cause outside the environment did.
    """
    steps = record["steps"]
    if steps and steps[-1]["status"] != _ONGOING:
        return str(steps[-1]["status"])
    return next((OUTSIDE[flag] for flag in record["flags"] if flag in OUTSIDE), "")


class RecordConsistency:
    """Checks the records of a run one by one, in file order.

    Args:
        plan: The run's plan.
    """

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self._limits: Mapping[str, Any] = plan.get("limits") or {}
        self._versions = {row.get("id"): row.get("version") for row in plan["envs"]}
        self._attempts: dict[TrialKey, int] = {}

    def contradictions(self, record: Mapping[str, Any]) -> Iterator[Contradiction]:
        """Yield contradictions within a record, with the plan, and with its earlier attempts."""
        yield from _identity(record, self._versions)
        yield from self._attempt(record)
        yield from _episode(record)
        yield from _outcome(record)
        if record["status"] == "infra":
            return
        yield from _ending(record, self._limits)
        yield from _usage(record, self._limits)

    def _attempt(self, record: Mapping[str, Any]) -> Iterator[Contradiction]:
        key, attempt, earlier = record_key(record), record["attempt"], record["earlier"]
        first = self._attempts.get(key, 0) + 1
        self._attempts[key] = attempt
        if attempt != first + len(earlier):
            yield Contradiction(
                "attempt",
                f"is {attempt}, but {first - 1 + len(earlier)} earlier attempts are recorded",
            )
        elif [one.get("attempt") for one in earlier] != list(range(first, attempt)):
            yield Contradiction("earlier", f"does not list attempts {first} to {attempt - 1}")


@functools.lru_cache(maxsize=4096)
def _address(task: str) -> TaskAddress:
    return parse_address(task)


def _identity(record: Mapping[str, Any], versions: Mapping[Any, Any]) -> Iterator[Contradiction]:
    key = record["key"]
    try:
        address = _address(key["task"])
    except TaskError as error:
        yield Contradiction("key.task", str(error))
        return
    for name, own in (
        ("template", address.template),
        ("level", address.level),
        ("split", address.split),
    ):
        if record[name] != own:
            yield Contradiction(name, f"is {record[name]!r}, the task's id says otherwise")
    if key["env"] in versions and record["env_version"] != versions[key["env"]]:
        planned = versions[key["env"]]
        yield Contradiction("env_version", f"is {record['env_version']!r}, planned: {planned!r}")


def _episode(record: Mapping[str, Any]) -> Iterator[Contradiction]:
    steps = record["steps"]
    if record["turns"] != len(steps):
        yield Contradiction("turns", f"recorded {record['turns']}, there are {len(steps)} steps")
    for step in steps[:-1]:
        if step["status"] != _ONGOING:
            yield Contradiction(
                f"steps[{step['index']}].status",
                f"{step['status']!r} ends the episode, but further steps follow",
            )
            return
    state = content_hash(record["final_state"])
    if record["final_state_hash"] != state:
        yield Contradiction("final_state_hash", f"the final state gives {state}")


def _outcome(record: Mapping[str, Any]) -> Iterator[Contradiction]:
    status, cause = record["status"], record["cause"]
    ended = record["steps"] and record["steps"][-1]["status"] != _ONGOING
    if status == "infra" and ended:
        last = record["steps"][-1]["status"]
        yield Contradiction(
            "status", f"recorded infra ({cause}), but the last step ended the episode ({last})"
        )
    if status == "infra" and cause in _JUDGE_CAUSES:
        yield Contradiction("cause", f"a {cause} fault leaves a trial unscored, not infra")
    if status == "unscored" and cause not in _JUDGE_CAUSES:
        yield Contradiction("cause", f"a trial is unscored by verifier or judge, not by {cause!r}")
    if status == "scored" and (cause is not None or record["error"] is not None):
        yield Contradiction("cause", f"a scored trial has no fault, found {cause!r}")


def _ending(record: Mapping[str, Any], limits: Mapping[str, Any]) -> Iterator[Contradiction]:
    """Check that either the environment or one named cause outside it ended the trial."""
    steps, stop = record["steps"], record["stop"]
    outside = [flag for flag in record["flags"] if flag in OUTSIDE]
    if record["status"] == "unscored" and stop == _JUDGE_STOP:
        return
    if steps and steps[-1]["status"] != _ONGOING:
        if outside:
            yield Contradiction("flags", f"has {outside[0]!r}, but the last step ended the episode")
        elif stop != steps[-1]["status"]:
            yield Contradiction("stop", f"is {stop!r}, the last step {steps[-1]['status']!r}")
    elif len(outside) != 1:
        yield Contradiction("flags", "must name the one cause that ended the ongoing episode")
    elif stop != OUTSIDE[outside[0]]:
        yield Contradiction("stop", f"is {stop!r}, {outside[0]!r} gives {OUTSIDE[outside[0]]!r}")
    else:
        name = outside[0].removeprefix("limit:")
        if name != outside[0] and limits.get(name) is None:
            yield Contradiction("flags", f"has {outside[0]!r}, the plan sets no such limit")


def _usage(record: Mapping[str, Any], limits: Mapping[str, Any]) -> Iterator[Contradiction]:
    """Check that the steps' tokens add up to the agent's usage and respect the limits.

    A step without tokens asked no model. Records in which no step states any are not checked.
    """
    found = [step.get("tokens") for step in record["steps"]]
    given = [_tokens(tokens) for tokens in found] if any(found) else []
    if not any(given):
        return
    read = written = 0
    for step, tokens in zip(record["steps"], given, strict=True):
        one = tokens or {"input": 0, "output": 0}
        for name, used in (("output_tokens", written), ("total_tokens", read + written)):
            limit = limits.get(name)
            if isinstance(limit, int) and used >= limit:
                place = f"steps[{step['index']}]"
                yield Contradiction(place, f"follows after the limit {name}={limit} was reached")
                return
        read, written = read + one["input"], written + one["output"]
    usage = record["usage"].get("agent", {})
    for name, total in (("input", read), ("output", written)):
        if (usage.get(name) or 0) != total:
            yield Contradiction(
                f"usage.agent.{name}", f"is {usage.get(name)}, the steps add up to {total}"
            )


def _tokens(value: Any) -> Mapping[str, int] | None:
    names = ("input", "output")
    stated = isinstance(value, dict) and all(type(value.get(name)) is int for name in names)
    return value if stated and min(value[name] for name in names) >= 0 else None
