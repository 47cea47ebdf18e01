"""Self-test of an environment with the scripts of its task source.

The oracle and every alternative solution must score 1, doing nothing and every near-miss mutant
must score 0, and the mean of each trivial policy must not exceed `FLOOR`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from hexathlon.baselines.agents.base import Agent, Episode
from hexathlon.baselines.agents.scripted import ScriptedAgent, ScriptPlayer
from hexathlon.baselines.agents.trivial import NoopAgent, RandomAgent
from hexathlon.baselines.harness.environments import (
    find_environment,
    make_environment,
    open_taskset,
)
from hexathlon.baselines.harness.errors import EnvironmentUnavailable, UsageError, near_miss
from hexathlon.baselines.harness.processes import distributed, workers_of
from hexathlon.baselines.harness.progress import Progress
from hexathlon.baselines.rollout.drivers import play
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.rollout import EnvironmentSlot, FatalError, Rollout
from hexathlon.evaluators.records.canonical import canonical_json, encode_text, sha256_hex
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.source import Script, TaskSource, has_template, parse_address
from hexathlon.tasks.task import Task
from hexathlon.tasks.taskset import TaskSet, build_task

__all__ = ["FLOOR", "Mapped", "SelftestResult", "Tally", "differences", "run_selftest"]

FLOOR = 0.02
"""Highest mean score that a trivial policy may reach."""

_MAX_NAMED = 5
_CHUNK = 8

_SEARCHED = 10_000
"""Number of tasks of an unbounded set that are searched for those of a template."""

_FEW = 64
"""Tasks below which starting processes costs more than it saves."""


@dataclass
class Tally:
    """Results of one kind of script."""

    kind: str
    required: str
    """Required reward: `1`, `0`, or `floor` (a mean of at most `FLOOR`)."""

    episodes: int = 0
    total: float = 0.0
    wrong: int = 0
    """Episodes that violate the requirement, including infrastructure failures."""

    named: list[str] = field(default_factory=list)
    """Descriptions of the first few of them."""

    rewards: dict[str, float | None] = field(default_factory=dict)
    """"TASK SCRIPT" → reward; None for an infrastructure failure."""

    verdicts: dict[str, str] = field(default_factory=dict)
    """"TASK SCRIPT" → SHA-256 of the whole verdict: reward, partial credit, terms and evidence."""

    @property
    def mean(self) -> float:
        """Mean reward."""
        return self.total / self.episodes if self.episodes else 0.0

    @property
    def holds(self) -> bool:
        """Whether the requirement is met."""
        if self.required == "floor":
            return not self.wrong and self.mean <= FLOOR
        return not self.wrong

    def add(self, other: "Tally") -> None:
        """Add the episodes of another tally of the same kind."""
        self.episodes += other.episodes
        self.total += other.total
        self.wrong += other.wrong
        self.named = (self.named + other.named)[:_MAX_NAMED]
        self.rewards |= other.rewards
        self.verdicts |= other.verdicts


Mapped = Callable[
    [Callable[[list[str]], dict[str, Tally]], Sequence[list[str]]], Iterator[dict[str, Tally]]
]


class SelftestResult(NamedTuple):
    """Results of a self-test."""

    env: str
    tasks: int
    tallies: Mapping[str, Tally]

    @property
    def holds(self) -> bool:
        """Whether all requirements are met."""
        return all(tally.holds for tally in self.tallies.values())


def differences(
    first: SelftestResult, second: SelftestResult, *, whole: bool = False
) -> tuple[int, list[str]]:
    """Compare two self-tests episode by episode, such as one event in two sandboxes.

    Episodes of the random agent may differ and are not compared.

    Args:
        first: A self-test.
        second: Another one of the same tasks.
        whole: Whether the whole verdicts must be equal, not only the rewards.

    Returns:
        Number of compared episodes, and a description of each whose rewards differ.
    """
    compared, differing = 0, []
    for kind in [kind for kind in first.tallies if kind != "random"]:
        one, other = first.tallies[kind], second.tallies.get(kind, Tally(kind, ""))
        for name, reward in one.rewards.items():
            compared += 1
            if name not in other.rewards or other.rewards[name] != reward:
                differing.append(f"{name}: {reward} and {other.rewards.get(name, 'not played')}")
            elif whole and one.verdicts[name] != other.verdicts[name]:
                differing.append(f"{name}: {reward} in both, but terms or evidence differ")
    return compared, differing


_KINDS = ("oracle", "alternatives", "noop", "mutants", "random")
"""Kinds of scripts in addition to an event's trivial policies."""


class _TaskScriptAgent:
    """Plays one alternative solution or mutant of a task, by name."""

    version = "1"
    asynchronous = False

    def __init__(
        self, name: str, scripts: Callable[[TaskSource, Task], Mapping[str, Script]]
    ) -> None:
        self.name = name
        self._scripts = scripts

    def begin(self, episode: Episode) -> ScriptPlayer:
        return ScriptPlayer(self._scripts(episode.source, episode.task)[self.name])


def run_selftest(
    env: str,
    tasks: int,
    taskset: str | None = None,
    workers: int = 1,
    options: Mapping[str, Any] | None = None,
    kinds: Sequence[str] = (),
    mapped: Mapped | None = None,
    template: str = "",
) -> SelftestResult:
    """Test an environment on the first tasks of its test split.

    Args:
        env: Id or short name.
        tasks: Number of tasks.
        taskset: Task source; by default that of the environment.
        workers: Number of processes; 0 for one per core if there are many tasks.
        options: Keyword arguments of the environment, such as `sandbox`.
        kinds: Kinds of scripts to play, such as `oracle`; all by default.
        mapped: Calls a function on each list of tasks in other processes, such as those of a
            cluster, and yields the results in order; replaces `workers`.
        template: Prefix of the templates to test; all templates by default.

    Raises:
        UsageError: If a name is unknown, or no task has such a template.
        EnvironmentUnavailable: If the environment cannot be created on this machine.
    """
    info = find_environment(env)
    chosen = open_taskset(info, taskset, "test", None, None)
    ids = _ids(chosen, tasks, template)
    count = len(ids)
    chunks = [ids[start : start + _CHUNK] for start in range(0, count, _CHUNK)]
    _check_kinds(kinds, ids)
    merged: dict[str, Tally] = {}
    with Progress(f"selftest {info.family}", count) as progress:
        play = partial(check_tasks, info.id, options=options, kinds=kinds)
        processes = workers_of(workers, count, [info.id], _FEW)
        results = mapped(play, chunks) if mapped else _mapped(play, chunks, processes)
        for chunk, tallies in zip(chunks, results, strict=True):
            for kind, tally in tallies.items():
                merged.setdefault(kind, Tally(kind, tally.required)).add(tally)
            for _ in chunk:
                progress.advance()
    return SelftestResult(info.id, count, merged)


def _ids(chosen: TaskSet, tasks: int, template: str) -> list[str]:
    """Return the ids of the first tasks whose template begins with `template`.

    Raises:
        UsageError: If there are none.
    """
    if not template:
        return list(chosen.ids(tasks if chosen.size is None else min(tasks, chosen.size)))
    every = chosen.ids(_SEARCHED if chosen.size is None else chosen.size)
    ids = list(islice((each for each in every if has_template(each, template)), tasks))
    if not ids:
        raise UsageError(f"{chosen.name} has no task whose template begins with {template!r}")
    return ids


def _check_kinds(kinds: Sequence[str], ids: Sequence[str]) -> None:
    """Check names before anything is played; policies by one task of each template and level.

    Raises:
        UsageError: If a name is unknown.
    """
    wanted = [kind for kind in kinds if kind not in _KINDS]
    if not wanted:
        return
    known = list(_KINDS)
    for task_id in {one.rpartition("/")[0]: one for one in ids}.values():
        source = get_source(parse_address(task_id).source)
        known += [name for name in source.policies(build_task(task_id)) if name not in known]
        if set(wanted) <= set(known):
            return
    unknown = next(kind for kind in wanted if kind not in known)
    raise UsageError(near_miss("kind of script", unknown, known))


def _mapped(
    play: Callable[[list[str]], dict[str, Tally]], chunks: Sequence[list[str]], workers: int
) -> Iterator[dict[str, Tally]]:
    with distributed(partial(_ScriptWorker, play), min(workers, len(chunks))) as played:
        yield from played(chunks)


class _ScriptWorker:
    """Plays the scripts of one list of tasks after another; an `ItemWorker`."""

    def __init__(self, play: Callable[[list[str]], dict[str, Tally]]) -> None:
        self._play = play

    def __call__(self, ids: list[str]) -> dict[str, Tally]:
        """Play the scripts of tasks."""
        return self._play(ids)

    def close(self) -> None:
        """Do nothing: each list has its own environment."""


def check_tasks(
    env_id: str,
    ids: Iterable[str],
    options: Mapping[str, Any] | None = None,
    kinds: Sequence[str] = (),
) -> dict[str, Tally]:
    """Play the scripts of tasks and tally the results by kind; `kinds` restricts them."""
    find_environment(env_id)
    slot = EnvironmentSlot(make_environment(env_id, TrialLimits(), options))
    tallies: dict[str, Tally] = {}
    try:
        for task_id in ids:
            _check_task(slot, env_id, task_id, tallies, kinds)
    finally:
        slot.close()
    return tallies


def _check_task(
    slot: EnvironmentSlot,
    env_id: str,
    task_id: str,
    tallies: dict[str, Tally],
    kinds: Sequence[str],
) -> None:
    oracle = ScriptedAgent("oracle")
    record = _played(slot, env_id, task_id, oracle)
    _count(tallies.setdefault("oracle", Tally("oracle", "1")), record, task_id, "oracle")
    source = get_source(parse_address(task_id).source)
    # Reuse the task of the environment: building it again may be slow.
    task = build_task(task_id) if record["status"] == "infra" else slot.get().task
    for kind, required, agent in _agents(source, task):
        if kinds and kind not in kinds:
            continue
        tally = tallies.setdefault(kind, Tally(kind, required))
        _count(tally, _played(slot, env_id, task_id, agent), task_id, agent.name)


def _agents(source: TaskSource, task: Task) -> Iterator[tuple[str, str, Agent]]:
    for name in source.alternatives(task):
        yield "alternatives", "1", _TaskScriptAgent(name, lambda s, t: s.alternatives(t))
    yield "noop", "0", NoopAgent()
    for name in source.mutants(task):
        yield "mutants", "0", _TaskScriptAgent(name, lambda s, t: s.mutants(t))
    yield "random", "floor", RandomAgent()
    for name in source.policies(task):
        yield name, "floor", ScriptedAgent(name)


def _played(slot: EnvironmentSlot, env_id: str, task_id: str, agent: Agent) -> Mapping[str, Any]:
    try:
        return play(Rollout(agent, retries=0).trial(slot, (env_id, task_id, 0, 0))).record
    except FatalError as error:
        raise EnvironmentUnavailable(str(error)) from error


def _count(tally: Tally, record: Mapping[str, Any], task_id: str, name: str) -> None:
    tally.episodes += 1
    reward = record["reward"]
    tally.total += reward or 0.0
    tally.rewards[f"{task_id} {name}"] = reward
    verdict = [record[part] for part in ("reward", "partial", "terms", "evidence")]
    tally.verdicts[f"{task_id} {name}"] = sha256_hex(encode_text(canonical_json(verdict)))
    met = {"1": reward == 1.0, "0": reward == 0.0, "floor": reward is not None}
    if not met[tally.required]:
        tally.wrong += 1
        why = "" if reward is not None else f" ({record['cause']}: {record['error']})"
        if len(tally.named) < _MAX_NAMED:
            tally.named.append(f"{task_id} {name}: {reward}{why}")
