"""Agents that imitate solved train tasks without understanding them; their scores set the floor.

`constant`, `neighbour`, `overlap` and `identity` are described in `hexathlon.envs.testing.lessons`.
The lessons are the oracle's episodes on the first train tasks of the same source and level. They
are played once per process, when the first episode of a source and level begins, and not graded:
grading would take most of the time and change nothing, since the oracle solves its tasks.
"""

import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hexathlon.baselines.agents.base import AgentMismatch, Episode, Turn, text_of
from hexathlon.baselines.agents.scripted import ScriptPlayer
from hexathlon.envs.messages import Message
from hexathlon.envs.testing.lessons import Lessons
from hexathlon.envs.testing.subject import Subject
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.task import Level, Split

__all__ = ["LESSONS", "ImitatingAgent", "lesson_split"]

LESSONS = 40
"""Number of train tasks, of one source and level, that are imitated."""

_lock = threading.Lock()


class ImitatingAgent:
    """Plays one of the policies that imitate lessons.

    Args:
        name: The policy.
    """

    version = "2"
    asynchronous = False

    def __init__(self, name: str) -> None:
        self.name = name

    def begin(self, episode: Episode) -> "_ImitatingPlayer":
        """Return a player of the policy, after playing the lessons if they are new.

        Raises:
            AgentMismatch: If the source has tasks of this split only.
        """
        split = lesson_split(episode.source.name, episode.task.split, episode.task.level)
        if split is None:
            raise AgentMismatch(
                f"{self.name} imitates tasks of another split, and {episode.source.name!r} has "
                f"none of level {episode.task.level} outside {episode.task.split}"
            )
        with _lock:
            lessons = _lessons(episode.env, episode.source.name, split, episode.task.level)
        return _ImitatingPlayer(self.name, lessons, episode)


class _ImitatingPlayer:
    def __init__(self, policy: str, lessons: Lessons, episode: Episode) -> None:
        self._policy, self._lessons, self._task = policy, lessons, episode.task
        self._player: ScriptPlayer | None = None

    def act(self, messages: Sequence[Message]) -> Turn:
        """Return the policy's next action; see `Player.act`."""
        if self._player is None:
            opening = text_of(messages)
            self._player = ScriptPlayer(self._lessons.script(self._policy, self._task, opening))
        return self._player.act(messages)


def lesson_split(source: str, split: Split, level: Level) -> Split | None:
    """Return the split whose tasks are imitated by agents that play another; None if there is none.

    A held-out round, too, is played with lessons from a public split.
    """
    public: tuple[Split, ...] = ("train", "dev", "test")
    others = (other for other in public if other != split)
    return next((other for other in others if get_source(source).size(other, level) != 0), None)


@lru_cache(maxsize=32)
def _lessons(env_id: str, source: str, split: Split, level: Level) -> Lessons:
    subject = Subject(env_id, kwargs={"taskset": source}, tasks=LESSONS)
    return Lessons(subject.solve(_ids(source, split, level), grading=False))


def _ids(source: str, split: Split, level: Level) -> Iterator[str]:
    found = get_source(source)
    size = found.size(split, level)
    count = LESSONS if size is None else min(LESSONS, size)
    return (found.address(split, index, level) for index in range(count))
