"""Checks that a verifier rejects neighbours of a solution: its actions with one step changed."""

import copy
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hexathlon.envs.forking import fork
from hexathlon.envs.testing.perturbing import Neighbour, neighbours
from hexathlon.envs.testing.report import CheckFailed, ConformanceCheck
from hexathlon.envs.testing.solving import calls_in
from hexathlon.envs.testing.subject import RecordedEpisode, Subject
from hexathlon.envs.testing.tracing import canonical
from hexathlon.evaluators.verifier import verify
from hexathlon.tasks.source import TaskSource
from hexathlon.tasks.task import Task

__all__ = ["CHECKS"]

_NAMED = 5


def neighbours_score_zero(subject: Subject) -> None:
    """Change oracle episodes one step at a time; what still scores 1 must be declared.

    A neighbour with the same final state is the same solution: extra reads are allowed. So is one
    whose state `TaskSource.equivalent` takes for the oracle's. Any other that scores 1 is a wrong
    answer accepted, or a right one that the source must declare in `TaskSource.tolerated`.
    """
    declared = subject.source.tolerated
    elsewhere = _values(subject)
    accepted: dict[str, list[str]] = defaultdict(list)
    compared: set[str] = set()
    env = subject.make()
    try:
        for solved in subject.solved[: len(subject.tasks)]:
            if solved.reward != 1.0:
                continue
            task = solved.task
            again = subject.play_actions(env, task, solved.actions).reward
            if again != solved.reward:
                raise CheckFailed(f"the oracle's actions on {task.id}, replayed, got {again}")
            right = _require_readable(env, task, solved.reward)
            final = _final(env)
            if task.template not in compared:
                compared.add(task.template)
                _require_told_apart(subject, env, task, final)
            replays = _Replays(subject, env, task)
            for neighbour in neighbours(task, solved.actions, elsewhere):
                if any(
                    name in declared or f"{task.template}/{name}" in declared
                    for name in neighbour.names
                ):
                    continue
                with replays.played(neighbour) as (played, episode):
                    scores = _score(played, episode) == 1.0
                    if scores and not _same(subject, played, task, right, final):
                        where = f"step {neighbour.place + 1} of {len(solved.actions)} in {task.id}"
                        accepted[neighbour.kind].append(where)
    finally:
        env.close()
    if accepted:
        listed = sorted(accepted.items())
        told = [f"{kind} ({len(places)}, first at {places[0]})" for kind, places in listed]
        more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
        raise CheckFailed(f"these still score 1: {'; '.join(told[:_NAMED])}{more}")


class _Replays:
    """Plays neighbours of one solution.

    Where environments can fork, what a neighbour shares with the solution is played once, and the
    rest on a clone: neighbours come in the order of their places.
    """

    def __init__(self, subject: Subject, env: Any, task: Task) -> None:
        self._subject, self._env, self._task = subject, env, task
        self._begun: RecordedEpisode | None = None

    @contextmanager
    def played(self, neighbour: Neighbour) -> Iterator[tuple[Any, RecordedEpisode]]:
        """Play a neighbour; the environment that has played it is closed on leaving."""
        if not getattr(self._env, "supports_fork", False):
            yield self._env, self._subject.play_actions(self._env, self._task, neighbour.actions)
            return
        begun = self._advanced(neighbour)
        (clone,) = fork(self._env, 1)
        try:
            episode = replace(begun, steps=list(begun.steps))
            self._subject.resume(clone, episode, neighbour.actions[neighbour.place :])
            yield clone, episode
        finally:
            clone.close()

    def _advanced(self, neighbour: Neighbour) -> RecordedEpisode:
        """Play the solution up to the place of a neighbour."""
        begun = self._begun
        if begun is None or len(begun.steps) > neighbour.place:
            begun = self._subject.play_actions(self._env, self._task, ())
        missing = neighbour.actions[len(begun.steps) : neighbour.place]
        self._subject.resume(self._env, begun, missing)
        self._begun = begun
        return begun


def _require_readable(env: Any, task: Task, reward: float) -> str | None:
    """Return the final state, after regrading the episode from it."""
    state = _state(env)
    if state is None or not hasattr(env, "transcript"):
        return state
    if state != _state(env):
        raise CheckFailed(f"final_state() of {task.id} changes when it is read")
    verdict = verify(task, env.final_state(), env.transcript)
    if verdict.status == "scored" and verdict.score != reward:
        raise CheckFailed(
            f"the checks of {task.id} give {verdict.score} for its final state and transcript, "
            f"the episode {reward}"
        )
    return state


def _require_told_apart(subject: Subject, env: Any, task: Task, final: Any) -> None:
    """Require that the source's rule takes no near miss for a solution."""
    if final is None or type(subject.source).equivalent is TaskSource.equivalent:
        return
    for name, script in subject.source.mutants(task).items():
        subject.play(env, task, script)
        if subject.source.equivalent(task, final, _final(env)):
            raise CheckFailed(f"equivalent() takes the near miss {name!r} of {task.id} for right")


def _same(subject: Subject, env: Any, task: Task, right: str | None, final: Any) -> bool:
    """Whether the current final state is the oracle's, or equivalent to it."""
    if right is None:
        return False
    return _state(env) == right or subject.source.equivalent(task, final, _final(env))


def _values(subject: Subject) -> dict[str, list[Any]]:
    """Return, by `tool.argument`, a few different values from the oracle's episodes."""
    values: dict[str, list[Any]] = defaultdict(list)
    for solved in subject.solved:
        for action in solved.actions:
            for name, arguments in calls_in(action):
                for key, value in arguments.items():
                    known = values[f"{name}.{key}"]
                    if len(known) < 3 and value not in known:
                        known.append(value)
    return values


def _score(env: Any, episode: RecordedEpisode) -> float:
    """Return the reward or, for an unfinished episode, the score of its current state."""
    grade = getattr(env, "verdict", None)
    if episode.ended or not callable(grade):
        return episode.reward
    return float(grade().score)


def _state(env: Any) -> str | None:
    """Return the final state, None for environments that hide it or have none."""
    state = _final(env)
    return canonical(state) if state else None


def _final(env: Any) -> Any:
    read = getattr(env, "final_state", None)
    return copy.deepcopy(read()) if callable(read) else None


CHECKS = (
    ConformanceCheck(
        "neighbours_score_zero",
        "make the verifier check the whole result, or declare the change in TaskSource.tolerated "
        "with the reason why it is correct, or its effect in TaskSource.equivalent",
        neighbours_score_zero,
    ),
)
