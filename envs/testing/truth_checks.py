"""Checks that the ground truth stays out of the agent's sight.

The truth of a task is its canary, its id, the parameters of its checks and the arguments of the
oracle's last action, less what instruction and tools state. What an agent finds out by acting is
no leak, so only places that show the truth unasked are searched: info, the opening, descriptions
of tools, answers to empty and malformed turns and to refused calls, and what follows a wrong
ending. It is looked for as it is and in the forms of `DISGUISES`.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hexathlon.envs.testing.disguises import DISGUISES
from hexathlon.envs.testing.fuzzing import do_nothing, random_calls, spam
from hexathlon.envs.testing.report import CheckFailed, ConformanceCheck
from hexathlon.envs.testing.solving import Solved, calls_in, leaves, scalars_of
from hexathlon.envs.testing.subject import RecordedEpisode, Subject, text_of
from hexathlon.envs.testing.tracing import canonical
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task, ToolSchema

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
    """Search openings, tools, answers to idle turns and refused calls, and wrong endings."""
    shown: dict[str, list[_Shown]] = defaultdict(list)
    for solved in subject.solved:
        shown["the opening"].append(_Shown(solved.task, _beyond(solved), _truth(solved)))
        described, told = _described(solved.task), solved.task.instruction
        shown["a tool's description"].append(_Shown(solved.task, described, _truth(solved, told)))
    env = subject.make()
    try:
        for solved in subject.solved[: len(subject.tasks)]:
            task, truth = solved.task, _truth(solved)
            idle = subject.play(env, task, _idle(task))
            said = "\n".join(text_of(step[0]) for step in idle.steps)
            shown["an answer to an empty or malformed turn"].append(_Shown(task, said, truth))
            refused = _refusals(subject.play_actions(env, task, _nonsense(solved)))
            shown["the answer to a refused call"].append(_Shown(task, refused, truth))
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
                others = [values[i - 1] for i in range(len(values))]
                for name, form in DISGUISES.items():
                    own = _showing(having, map(form, values))
                    if own < _MOSTLY * len(having):
                        continue
                    if _showing(having, map(form, others)) <= _BY_CHANCE * len(having):
                        raise CheckFailed(
                            f"{place} shows {f'{path} {name}'.strip()} in {own} of {len(having)} "
                            f"tasks{scope}, such as {values[0]!r:.60} in {having[0].task.id}"
                        )


def _showing(items: list[_Shown], values: Iterable[str]) -> int:
    return sum(bool(v) and _holds(item.text, v) for item, v in zip(items, values, strict=True))


def _scopes(items: list[_Shown]) -> dict[str, list[_Shown]]:
    scopes = {"": items}
    for item in items:
        scopes.setdefault(f" of the template {item.task.template}", []).append(item)
    return scopes


def _truth(solved: Solved, public: str | None = None) -> dict[str, str]:
    """Return the truth of a task by path, without what instruction and tools state."""
    task = solved.task
    if public is None:
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


def _described(task: Task) -> str:
    """Return the descriptions in the tools of a task, without the values that they list."""
    return "\n".join(
        str(text)
        for tool in task.tools
        for path, text in leaves(tool.model_dump())
        if path.endswith("description")
    )


def _idle(task: Task) -> Script:
    yield "?"
    yield '{"name": "?"}'
    yield from do_nothing(task)


def _nonsense(solved: Solved) -> list[str]:
    """Return calls of every tool with arguments that mean nothing; those that end come last."""
    last = [name for name, _ in calls_in(solved.actions[-1])] if solved.actions else []
    refusing = [tool for tool in solved.task.tools if tool.parameters.get("properties")]
    tools = sorted(refusing, key=lambda tool: tool.name in last)
    return [
        json.dumps({"name": tool.name, "arguments": arguments})
        for tool in tools
        for arguments in ({}, {"?": 0}, _meaningless(tool))
    ]


def _meaningless(tool: ToolSchema) -> dict[str, Any]:
    kinds: dict[str, Any] = {
        "integer": -1,
        "number": -1,
        "boolean": False,
        "array": [],
        "object": {},
    }
    return {
        name: part["enum"][0] if part.get("enum") else kinds.get(str(part.get("type")), "?")
        for name, part in tool.parameters.get("properties", {}).items()
    }


def _refusals(episode: RecordedEpisode) -> str:
    """Return the observations of the steps that were counted as tool errors."""
    counts = [0, *(step[4].get("tool_errors", 0) for step in episode.steps)]
    steps = zip(counts, counts[1:], episode.steps, strict=False)
    return "\n".join(text_of(step[0]) for before, after, step in steps if after > before)


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
