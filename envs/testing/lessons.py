"""Trivial policies that imitate solved tasks without understanding them.

They set the floor together with a source's own policies: a score that one of them reaches needs no
understanding. All are built from the oracle's episodes on train tasks, the lessons:

* `constant` ends every episode in the way most frequent among the lessons (such as always buying);
* `neighbour` replays the lesson whose opening shares the most words with this one;
* `overlap` calls the tools of that lesson with texts of this episode, chosen by the words that
  their lines share with the instruction;
* `identity` reads only id, index, seed and hash, and replays the lesson with the closest values.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from hexathlon.envs.testing.likeness import Texts, words_of
from hexathlon.envs.testing.solving import Solved, calls_in
from hexathlon.evaluators.anchors import IMITATING_AGENTS
from hexathlon.tasks.source import Script, parse_address
from hexathlon.tasks.task import Task

__all__ = ["Lessons"]

_TOKEN = re.compile(r"[A-Za-z0-9_#][\w.#/-]*")
_BITS = 8


class Lessons:
    """Solved tasks to imitate.

    Args:
        solved: Oracle episodes; of train tasks if tasks of another split are played.
    """

    def __init__(self, solved: Sequence[Solved]) -> None:
        self._groups: dict[tuple[str, ...], _Group] = {}
        self._all = _Group(solved) if solved else None
        by_tools: dict[tuple[str, ...], list[Solved]] = {}
        for each in solved:
            by_tools.setdefault(_tools(each.task), []).append(each)
        for tools, members in by_tools.items():
            self._groups[tools] = _Group(members)

    def script(self, policy: str, task: Task, opening: str) -> Script:
        """Return a policy's script for a task.

        Args:
            policy: One of `IMITATING_AGENTS`.
            task: The task; the module describes which of its fields a policy reads.
            opening: The text of the opening observation.

        Raises:
            ValueError: If there is no such policy, or no lesson.
        """
        group = self._groups.get(_tools(task), self._all)
        if group is None:
            raise ValueError("there are no lessons: the source has no tasks in another split")
        makers: dict[str, Callable[[], Script]] = {
            "constant": lambda: _fixed([group.commonest_ending]),
            "neighbour": lambda: _fixed(group.nearest(opening).actions),
            "overlap": lambda: _overlapping(group.nearest(opening), task, opening),
            "identity": lambda: _fixed(group.nearest_in_id(task).actions),
        }
        if policy not in makers:
            raise ValueError(f"there is no policy {policy!r}; there are {IMITATING_AGENTS}")
        return makers[policy]()


class _Group:
    """Lessons on tasks with the same tools."""

    def __init__(self, solved: Sequence[Solved]) -> None:
        self._solved = solved
        self._texts = Texts([each.opening for each in solved])
        self._numbers = [_numbers(each.task) for each in solved]
        endings = Counter(each.actions[-1] if each.actions else "" for each in solved)
        names = Counter(_names(ending) for ending in endings.elements())
        most = names.most_common(1)[0][0]
        self.commonest_ending = next(e for e, _ in endings.most_common() if _names(e) == most)

    def nearest(self, opening: str) -> Solved:
        return self._solved[self._texts.nearest(opening)]

    def nearest_in_id(self, task: Task) -> Solved:
        own = _numbers(task)

        def likeness(place: int) -> int:
            other = self._solved[place].task
            kin = 64 * (other.template == task.template) + 32 * (other.level == task.level)
            bits = zip(own, self._numbers[place], strict=True)
            return kin + sum(_BITS - ((a ^ b) & 0xFF).bit_count() for a, b in bits)

        return self._solved[max(range(len(self._solved)), key=likeness)]


def _overlapping(lesson: Solved, task: Task, opening: str) -> Script:
    """Call the lesson's tools with texts seen here."""
    wanted = set(words_of(task.instruction))
    lesson_words = words_of(lesson.task.instruction)
    lines = opening.splitlines()
    for action in lesson.actions:
        calls = [
            {
                "name": name,
                "arguments": {
                    key: _filled(value, lesson_words, task.instruction, wanted, lines)
                    for key, value in arguments.items()
                },
            }
            for name, arguments in calls_in(action)
        ]
        if not calls or not calls[0]["name"]:
            seen = yield action
        else:
            seen = yield json.dumps(calls[0] if len(calls) == 1 else calls, ensure_ascii=False)
        lines += seen.splitlines()


def _filled(
    value: Any,
    lesson_words: Sequence[str],
    instruction: str,
    wanted: set[str],
    lines: Sequence[str],
) -> Any:
    """Return a counterpart of a lesson's argument: a text of the same form, or as many words."""
    if not isinstance(value, str) or not value:
        return value
    words = words_of(value)
    if len(words) > 1 and sum(word in lesson_words for word in words) * 2 > len(words):
        own = set(words_of(instruction))
        rare = sorted(own, key=lambda word: (word in lesson_words, -len(word), word))
        return " ".join(rare[: len(words)])
    form = _form(value)
    if form == "a" or " " in form:
        return value
    best: tuple[int, str] = (0, value)
    for line in lines:
        shared = len(wanted.intersection(words_of(line)))
        if shared > best[0]:
            fitting = [token for token in _TOKEN.findall(line) if _form(token) == form]
            if fitting:
                best = (shared, fitting[0])
    return best[1]


def _form(text: str) -> str:
    """Return a text's form: letters as `a` or `A`, digits as 9, runs as one."""
    plain = re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", text))
    return re.sub(r"\d+", "9", plain)


def _numbers(task: Task) -> tuple[int, int, int]:
    return parse_address(task.id).index, task.seed, int(task.hash[:8], 16)


def _tools(task: Task) -> tuple[str, ...]:
    return tuple(schema.name for schema in task.tools)


def _names(action: str) -> tuple[str, ...]:
    return tuple(name for name, _ in calls_in(action))


def _fixed(actions: Sequence[str]) -> Script:
    for action in actions:  # noqa: UP028 - a list cannot be sent observations
        yield action
