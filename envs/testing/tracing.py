"""Canonical byte form of episodes, so that "the same" means byte for byte."""

from hexathlon.envs.testing.fuzzing import fuzzed_actions
from hexathlon.envs.testing.subject import RecordedEpisode, Subject
from hexathlon.envs.testing.twin import canonical
from hexathlon.tasks.task import Task

__all__ = ["canonical", "first_difference", "probe_actions", "trace"]


def trace(episode: RecordedEpisode) -> list[str]:
    """Return an episode as canonical lines: the opening, then the steps."""
    return [canonical((episode.opening, episode.reset_info)), *map(canonical, episode.steps)]


def first_difference(one: list[str], other: list[str]) -> str:
    """Return the first difference between two traces; empty if they are equal."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
            at = min(len(a), len(b)) if at is None else at
            start = max(at - 30, 0)
            where = "at reset" if place == 0 else f"at step {place}"
            return f"{where}: …{a[start : at + 60]}… against …{b[start : at + 60]}…"
    if len(one) != len(other):
        return f"one has {len(one) - 1} steps, the other {len(other) - 1}"
    return ""


def probe_actions(subject: Subject, task: Task, count: int = 50) -> list[str]:
    """Return actions that reach deep into a task and off its path: fuzz, then the oracle's."""
    oracle = subject.oracle_actions(task)
    fuzz = list(fuzzed_actions(task, count, subject.seed))
    mixed: list[str] = []
    for position, action in enumerate(oracle[:-1]):
        mixed += [action, fuzz[position % len(fuzz)]] if position % 2 else [action]
    return [*mixed, *fuzz][: count - 1] + oracle[-1:]
