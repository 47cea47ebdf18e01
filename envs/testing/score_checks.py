"""Checks of scores: correct solutions score 1, others 0."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hexathlon.envs.testing.fuzzing import do_nothing, fuzzed_actions, random_calls, spam
from hexathlon.envs.testing.lessons import Lessons
from hexathlon.envs.testing.report import CheckFailed, ConformanceCheck
from hexathlon.envs.testing.subject import RecordedEpisode, Subject, fixed, noted
from hexathlon.evaluators.anchors import IMITATING_AGENTS
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task

__all__ = ["CHECKS"]

_MANY_TURNS = 60


def oracle_scores_one(subject: Subject) -> None:
    """Play the oracle on many tasks of every public split."""
    lost = [each for each in subject.solved if each.reward != 1.0]
    if lost:
        first = lost[0]
        raise CheckFailed(
            f"the oracle got {first.reward} ({first.status}) on {first.task.id}; "
            f"{len(lost)} of {len(subject.solved)} tasks are not solved"
        )


def noop_scores_zero(subject: Subject) -> None:
    """Send empty messages on every task."""
    for task, episode in _played(subject, do_nothing):
        if episode.reward != 0.0:
            raise CheckFailed(f"doing nothing got {episode.reward} on {task.id}")


def floor(subject: Subject) -> None:
    """Play the trivial policies; the mean score of each must not exceed the floor.

    A policy that only some templates have is played on the tasks of those.
    """
    played: dict[str, list[RecordedEpisode]] = {}
    env = subject.make()
    try:
        for task in subject.tasks:
            for name, script in _trivial(subject, task).items():
                played.setdefault(name, []).append(subject.play(env, task, script))
    finally:
        env.close()
    for name, episodes in played.items():
        _require_floor(subject, name, episodes)
    if subject.lessons is not None:
        for name in IMITATING_AGENTS:
            _require_floor(subject, name, _imitating(subject, subject.lessons, name))


def _trivial(subject: Subject, task: Task) -> Mapping[str, Script]:
    return {
        "random": random_calls(task, subject.seed),
        "spam": spam(task),
        "fuzz": fixed(fuzzed_actions(task, _MANY_TURNS, subject.seed)),
        **subject.source.policies(task),
    }


def _imitating(subject: Subject, lessons: Lessons, name: str) -> list[RecordedEpisode]:
    env = subject.make()
    try:
        return [
            subject.play_shown(env, task, lambda text, task=task: lessons.script(name, task, text))  # type: ignore[misc]
            for task in subject.tasks
        ]
    finally:
        env.close()


def _require_floor(subject: Subject, name: str, episodes: Sequence[RecordedEpisode]) -> None:
    mean = sum(episode.reward for episode in episodes) / len(episodes)
    if mean > subject.floor:
        raise CheckFailed(
            f"the policy {name!r} scores {mean:.3f} over {len(episodes)} tasks, "
            f"at most {subject.floor} is allowed"
        )


def mutants_score_zero(subject: Subject) -> None:
    """Play every near miss of every task, in every split; each template needs three."""
    for task, name, episode in _scripts(subject, subject.source.mutants, 3, "mutants"):
        if episode.reward != 0.0:
            raise CheckFailed(f"the mutant {name!r} got {episode.reward} on {task.id}")


def alternatives_score_one(subject: Subject) -> None:
    """Play every alternative solution, in every split; each template needs one."""
    for task, name, episode in _scripts(subject, subject.source.alternatives, 1, "alternatives"):
        if episode.reward != 1.0:
            raise CheckFailed(f"the alternative {name!r} got {episode.reward} on {task.id}")


def reward_bounded(subject: Subject) -> None:
    """Farm reward by repeating rewarded actions, and by fuzz; compare with the declared maximum."""
    env = subject.make()
    most = float(getattr(env, "max_reward", 1.0))
    try:
        for task in subject.tasks[:4]:
            oracle = subject.oracle_actions(task)
            repeated = oracle[:-1] * (1 + _MANY_TURNS // max(len(oracle), 1)) + oracle[-1:]
            fuzz = list(fuzzed_actions(task, _MANY_TURNS, subject.seed))
            stalled = oracle[:-1] + [""] * _MANY_TURNS
            for actions in (oracle, repeated, stalled, fuzz, [*fuzz[:10], *oracle]):
                episode = subject.play_actions(env, task, actions)
                gains = sum(max(float(step[1]), 0.0) for step in episode.steps)
                if episode.reward < 0.0:
                    raise CheckFailed(
                        f"an episode of {task.id} paid {episode.reward} in total, less than 0"
                    )
                if max(gains, episode.reward) > most:
                    raise CheckFailed(
                        f"an episode of {task.id} paid {max(gains, episode.reward)} in total, "
                        f"{most} is the declared maximum"
                    )
    finally:
        env.close()


def _played(
    subject: Subject, maker: Callable[[Task], Script]
) -> Iterator[tuple[Task, RecordedEpisode]]:
    env = subject.make()
    try:
        for task in subject.tasks:
            yield task, subject.play(env, task, maker(task))
    finally:
        env.close()


def _scripts(
    subject: Subject, maker: Callable[[Task], Mapping[str, Script]], fewest: int, what: str
) -> Iterator[tuple[Task, str, RecordedEpisode]]:
    env: Any = subject.make()
    found: dict[str, int] = {}
    try:
        for task in [*subject.tasks, *subject.others]:
            played: set[tuple[str, ...]] = set()
            for name, script in maker(task).items():
                actions: list[str] = []
                yield task, name, subject.play(env, task, noted(script, actions))
                if any(text.strip() for text in actions):
                    played.add(tuple(actions))
            found[task.template] = max(found.get(task.template, 0), len(played))
    finally:
        env.close()
    poor = sorted(template for template, count in found.items() if count < fewest)
    if poor:
        raise CheckFailed(
            f"fewer than {fewest} {what} that differ and do something, "
            f"for the templates {', '.join(poor[:5])}"
        )


CHECKS = (
    ConformanceCheck(
        "oracle_scores_one", "fix the oracle or the verifier: they disagree", oracle_scores_one
    ),
    ConformanceCheck(
        "noop_scores_zero", "make the verifier require an answer or a change", noop_scores_zero
    ),
    ConformanceCheck("floor", "make answers longer or rarer, or the verifier stricter", floor),
    ConformanceCheck(
        "mutants_score_zero",
        "make the verifier check what the near miss gets wrong",
        mutants_score_zero,
    ),
    ConformanceCheck(
        "alternatives_score_one",
        "make the verifier accept every correct solution",
        alternatives_score_one,
    ),
    ConformanceCheck(
        "reward_bounded",
        "pay rewards only at the end and never below 0, or declare max_reward",
        reward_bounded,
    ),
)
