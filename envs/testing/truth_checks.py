"""Checks that the ground truth stays out of the agent's sight.

The truth of a task is its canary, its id, the parameters of its checks and the arguments of the
oracle's last action, less what instruction and tools state. What an agent finds out by acting is
no leak, so only places that show the truth unasked are searched: info, the opening, answers to
empty and malformed turns, and what follows a wrong ending.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from hexathlon.envs.testing.fuzzing import do_nothing, random_calls, spam
from hexathlon.envs.testing.report import CheckFailed, ConformanceCheck
from hexathlon.envs.testing.solving import Solved, leaves, scalars_of
from hexathlon.envs.testing.subject import RecordedEpisode, Subject, text_of
from hexathlon.envs.testing.tracing import canonical
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task

__all__ = ["CHECKS"]

_FEWEST = 5
"""Showings in fewer tasks than this may be chance."""

_MOSTLY, _BY_CHANCE = 0.9, 0.5
"""Share of tasks in which a place shows their own truth, and at most that of another task."""

_TELLING = 6
"""Texts of at least this many characters are looked for in info one by one."""

_PUBLIC = ("tools", "system_prompt")
"""Parts of info that say what the task says."""


class _Shown(NamedTuple):
    """What one place showed in one task, with the task's truth by path."""

    task: Task
    text: str
    truth: Mapping[str, str]


def canary_hidden(subject: Subject) -> None:
    """Search everything visible to the agent for any task's canary."""
    canaries = [task.canary for task in subject.tasks]
    for task in subject.tasks:
        if not task.canary:
            raise CheckFailed(f"{task.id} has an empty canary, so a leak could not be seen")
    for task, episode, rendered in _watched(subject):
        seen = [*map(canonical, episode.shown()), rendered]
        for canary in canaries:
            if any(json.dumps(canary)[1:-1] in text for text in seen):
                raise CheckFailed(f"the canary {canary!r} was shown in {task.id}")


def id_hidden(subject: Subject) -> None:
    """Search everything visible to the agent for the ids of its task and of its twin."""
    for task, episode, rendered in _watched(subject):
        seen = [*map(canonical, episode.shown()), rendered]
        for name in filter(None, (task.id, task.twin)):
            if any(json.dumps(name)[1:-1] in text for text in seen):
                raise CheckFailed(f"the id {name} was shown in its own episode")


def truth_in_info(subject: Subject) -> None:
    """Search info for the truth."""
    shown: dict[str, list[_Shown]] = defaultdict(list)
    env = subject.make()
    try:
        for solved in subject.solved[: len(subject.tasks)]:
            truth = _truth(solved)
            episode = subject.play_actions(env, solved.task, solved.actions)
            reset = {k: v for k, v in episode.reset_info.items() if k not in _PUBLIC}
            infos = {"reset": [reset], "step": [step[4] for step in episode.steps]}
            for where, parts in infos.items():
                for part in parts:
                    for key, text in _by_key(part):
                        _refuse_telling(solved.task, f"info[{key!r}] of {where}", text, truth)
                if parts:
                    for key, text in _by_key(parts[-1]):
                        place = f"info[{key!r}] of the last {where}"
                        shown[place].append(_Shown(solved.task, text, truth))
    finally:
        env.close()
    _refuse_leaks(shown)


def truth_in_observations(subject: Subject) -> None:
    """Search openings, answers to empty and malformed turns, and what follows wrong endings."""
    shown: dict[str, list[_Shown]] = defaultdict(list)
    for solved in subject.solved:
        shown["the opening"].append(_Shown(solved.task, _beyond(solved), _truth(solved)))
    env = subject.make()
    try:
        for solved in subject.solved[: len(subject.tasks)]:
            task, truth = solved.task, _truth(solved)
            idle = subject.play_actions(env, task, ["", "?", '{"name": "?"}'])
            said = "\n".join(text_of(step[0]) for step in idle.steps)
            shown["an answer to an empty or malformed turn"].append(_Shown(task, said, truth))
            for script in subject.source.mutants(task).values():
                last = _last_words(subject, env, task, script)
                if last is not None:
                    shown["the answer to a wrong ending"].append(_Shown(task, last, truth))
                    break
    finally:
        env.close()
    _refuse_leaks(shown)


def _refuse_telling(task: Task, place: str, text: str, truth: Mapping[str, str]) -> None:
    for path, value in truth.items():
        if len(value) >= _TELLING and not value.replace(".", "").isdigit() and value in text:
            raise CheckFailed(f"{place} shows {path} ({value!r:.60}) in {task.id}")


def _refuse_leaks(shown: Mapping[str, list[_Shown]]) -> None:
    """Refuse a place that mostly shows a task's own truth and seldom that of another task."""
    for place, items in shown.items():
        for scope, members in _scopes(items).items():
            for path in sorted({path for item in members for path in item.truth}):
                having = [item for item in members if path in item.truth]
                values = [item.truth[path] for item in having]
                if len(having) < _FEWEST or len(set(values)) < 3:
                    continue
                own = sum(_holds(item.text, item.truth[path]) for item in having)
                others = [values[i - 1] for i in range(len(values))]
                chance = sum(
                    _holds(item.text, other) for item, other in zip(having, others, strict=True)
                )
                if own >= _MOSTLY * len(having) and chance <= _BY_CHANCE * len(having):
                    raise CheckFailed(
                        f"{place} shows {path} in {own} of {len(having)} tasks{scope}, such as "
                        f"{values[0]!r:.60} in {having[0].task.id}"
                    )


def _scopes(items: list[_Shown]) -> dict[str, list[_Shown]]:
    scopes = {"": items}
    for item in items:
        scopes.setdefault(f" of the template {item.task.template}", []).append(item)
    return scopes


def _truth(solved: Solved) -> dict[str, str]:
    """Return the truth of a task by path, without what instruction and tools state."""
    task = solved.task
    public = task.instruction + json.dumps([tool.model_dump() for tool in task.tools])
    found: list[tuple[str, Any]] = []
    for check in task.checks:
        found += [(f"{check.name}.{path}", value) for path, value in leaves(check.params)]
    if solved.actions:
        last = scalars_of(solved.actions[-1])
        found += [(f"the oracle's last {path}", value) for path, value in last]
    return {
        path: _text(value)
        for path, value in found
        if not isinstance(value, bool) and len(_text(value)) > 1 and _text(value) not in public
    }


def _beyond(solved: Solved) -> str:
    """Return the opening without the instruction."""
    return solved.opening.replace(solved.task.instruction, "")


def _by_key(info: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the values in info as text, by key; hash and opaque id hold nothing of the truth."""
    for key, value in info.items():
        if key not in ("task_hash", "task_id"):
            yield key, " ".join(_text(leaf) for _, leaf in leaves(value))


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _holds(text: str, value: str) -> bool:
    """Whether a text holds a value as a whole: 17 is not in 170."""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (value[0].isalnum() and before.isalnum()) and not (
            value[-1].isalnum() and after.isalnum()
        ):
            return True
        start = text.find(value, start + 1)
    return False


def _last_words(subject: Subject, env: Any, task: Task, script: Script) -> str | None:
    """Return what follows a near miss's last action and was not said before; None if it goes on."""
    said: list[str] = []

    def noted() -> Script:
        try:
            action = next(script)
            while True:
                said.append(action)
                action = script.send((yield action))
        except StopIteration:
            return

    episode = subject.play(env, task, noted())
    if not episode.ended or episode.reward == 1.0:
        return None
    before = {text_of(episode.opening), *said}
    before |= {text_of(step[0]) for step in episode.steps[:-1]}
    last = text_of(episode.steps[-1][0])
    for known in before:
        for line in known.splitlines():
            last = last.replace(line, "") if line else last
    return last


def _watched(subject: Subject) -> Iterator[tuple[Task, RecordedEpisode, str]]:
    """Play oracle, spam, random calls and trivial policies; yield also what `render` returns."""
    env = subject.make()
    makers: tuple[Callable[[Task], Script], ...] = (
        subject.source.oracle,
        spam,
        lambda task: random_calls(task, subject.seed),
        do_nothing,
    )
    try:
        for task in subject.tasks[:8]:
            scripts = [maker(task) for maker in makers]
            for script in [*scripts, *subject.source.policies(task).values()]:
                episode = subject.play(env, task, script)
                yield task, episode, canonical(env.render())
    finally:
        env.close()


CHECKS = (
    ConformanceCheck(
        "canary_hidden",
        "give every task a canary; keep expected answers out of observations, info and tools",
        canary_hidden,
    ),
    ConformanceCheck(
        "id_hidden",
        "name the task by task.opaque_id where the agent's side can see it",
        id_hidden,
    ),
    ConformanceCheck(
        "truth_in_info",
        "keep the parameters of checks, and what is derived from them, out of info",
        truth_in_info,
    ),
    ConformanceCheck(
        "truth_in_observations",
        "show answers only to those who look; what everybody may know belongs in the instruction",
        truth_in_observations,
    ),
)
