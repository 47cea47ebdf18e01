"""Checks that the ground truth stays out of the agent's sight.

The truth of a task is its canary, its id, the parameters of its checks and the arguments of the
oracle's last action, except the parts stated in the instruction or the tools. What an agent finds
out by acting is not a leak, so only unsolicited texts are searched: info, the opening, descriptions
of tools, answers to empty and malformed turns and to refused calls, and texts after a wrong ending.
The search covers its literal form and those of `DISGUISES`.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hexathlon.envs.testing.agreement import agreement, words_in
from hexathlon.envs.testing.arithmetic import derivation
from hexathlon.envs.testing.disguises import DISGUISES
from hexathlon.envs.testing.fuzzing import do_nothing, random_calls, spam
from hexathlon.envs.testing.report import CheckFailed, ConformanceCheck
from hexathlon.envs.testing.solving import Solved, calls_in, leaves
from hexathlon.envs.testing.subject import RecordedEpisode, Subject, text_of
from hexathlon.envs.testing.tracing import canonical
from hexathlon.envs.testing.truth import answers_of, holds, public_text, text_form, truth_of
from hexathlon.tasks.source import Script
from hexathlon.tasks.task import Task, ToolSchema

__all__ = ["CHECKS"]

_FEWEST = 5
"""Minimum number of tasks with a leak; fewer may be chance."""

_MOSTLY, _BY_CHANCE = 0.9, 0.5
"""Minimum share of tasks in which a place shows their own truth, and maximum share in which it
shows another task's."""

_TELLING = 6
"""Minimum length of texts that are searched for in info individually."""

_INDEX = re.compile(r"\[\d+\]")

_PUBLIC = ("tools", "system_prompt")
"""Keys of info that repeat public parts of the task."""


class _Shown(NamedTuple):
    """The text at one place in one task, with the task's truth by path."""

    task: Task
    text: str
    truth: Mapping[str, str]


def canary_hidden(subject: Subject) -> None:
    """Search everything visible to the agent for any task's canary."""
    canaries = [task.canary for task in subject.tasks]
    for task in subject.tasks:
        if not task.canary:
            raise CheckFailed(f"{task.id} has an empty canary, so a leak could not be seen")
    for task, seen in _watched(subject):
        for canary in canaries:
            if any(json.dumps(canary)[1:-1] in text for text in seen):
                raise CheckFailed(f"the canary {canary!r} was shown in {task.id}")


def id_hidden(subject: Subject) -> None:
    """Search everything visible to the agent for the ids of its task and of its twin.

    Names of templates are searched too, where they are no ordinary words: those with an underscore
    that instruction and tools do not use.
    """
    for task, seen in _watched(subject):
        for name in filter(None, (task.id, task.twin)):
            if any(json.dumps(name)[1:-1] in text for text in seen):
                raise CheckFailed(f"the id {name} was shown in its own episode")
        name = task.template
        if "_" in name and not holds(public_text(task), name):
            if any(holds(text, name) for text in seen):
                raise CheckFailed(f"the template's name {name} was shown in {task.id}")


def truth_in_info(subject: Subject) -> None:
    """Search info for the truth."""
    shown: dict[str, list[_Shown]] = defaultdict(list)
    env = subject.make()
    try:
        for solved in subject.solved[: len(subject.tasks)]:
            truth = truth_of(solved)
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


def truth_in_parts(subject: Subject) -> None:
    """Search info, before anything useful was done, for values that give or narrow the truth.

    They may give it together, or be short, or be lists of choices that contain it.
    """
    shown: list[dict[str, str]] = []
    truths: list[dict[str, str]] = []
    listed: list[dict[str, list[str]]] = []
    env = subject.make()
    try:
        for solved in subject.solved[: len(subject.tasks)]:
            idle = subject.play_actions(env, solved.task, ["?"])
            infos = {"reset": idle.reset_info, "an idle step": idle.steps[0][4]}
            shown.append(dict(_unstated(solved.task, infos)))
            truths.append(truth_of(solved))
            listed.append(_listed(infos))
    finally:
        env.close()
    _refuse_agreement(subject.solved[: len(subject.tasks)], listed)
    for path in sorted({path for truth in truths for path in truth}):
        having = [place for place, truth in enumerate(truths) if path in truth]
        values = [truths[place][path] for place in having]
        found = derivation([shown[place] for place in having], values)
        if found:
            raise CheckFailed(f"{found} gives {path} ({values[0]!r:.60} in the first task)")


def truth_in_observations(subject: Subject) -> None:
    """Search openings, tools, answers to idle turns and refused calls, and wrong endings."""
    shown: dict[str, list[_Shown]] = defaultdict(list)
    for solved in subject.solved:
        told = subject.source.public_facts(solved.task)
        if missing := [fact for fact in told if fact not in solved.opening]:
            raise CheckFailed(f"the opening of {solved.task.id} lacks {missing[0]!r:.60}")
        truth = truth_of(solved, "\n".join((public_text(solved.task), *told)))
        shown["the opening"].append(_Shown(solved.task, _beyond(solved), truth))
        described, told = _described(solved.task), solved.task.instruction
        shown["a tool's description"].append(_Shown(solved.task, described, truth_of(solved, told)))
    env = subject.make()
    try:
        for solved in subject.solved[: len(subject.tasks)]:
            task, truth = solved.task, truth_of(solved)
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


def _unstated(task: Task, infos: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the values in info by place, without those that instruction or tools state."""
    public = public_text(task)
    for where, info in infos.items():
        for key in info.keys() - {*_PUBLIC, "task_hash", "task_id"}:
            for path, leaf in leaves(info[key]):
                text = text_form(leaf)
                if text and not isinstance(leaf, bool) and not holds(public, text):
                    yield f"info[{key!r}]{path and '.'}{path} of {where}", text


def _listed(infos: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the values and words in info by place; items of a list have the place of the list."""
    values: dict[str, list[str]] = defaultdict(list)
    for where, info in infos.items():
        for key in info.keys() - {*_PUBLIC, "task_hash", "task_id"}:
            for path, leaf in leaves(info[key]):
                within = _INDEX.sub("", path)
                text = text_form(leaf)
                values[f"info[{key!r}]{within and '.'}{within} of {where}"] += [
                    text,
                    *words_in(text),
                ]
    return values


def _refuse_agreement(
    episodes: Sequence[Solved], listed: Sequence[Mapping[str, Sequence[str]]]
) -> None:
    """Fail if a place in info agrees with answers that instruction and tools do not decide."""
    answers = [{k: text_form(v) for k, v in answers_of(each).items()} for each in episodes]
    public = [{"public": words_in(public_text(each.task))} for each in episodes]
    for path in sorted({path for each in answers for path in each}):
        having = [place for place, each in enumerate(answers) if path in each]
        values = [answers[place][path] for place in having]
        if len(set(values)) > 1 and not agreement([public[place] for place in having], values):
            found = agreement([listed[place] for place in having], values)
            if found:
                raise CheckFailed(f"{found} contains {path} ({values[0]!r:.60} in the first task)")


def _refuse_telling(task: Task, place: str, text: str, truth: Mapping[str, str]) -> None:
    for path, value in truth.items():
        if len(value) >= _TELLING and not value.replace(".", "").isdigit() and value in text:
            raise CheckFailed(f"{place} shows {path} ({value!r:.60}) in {task.id}")


def _refuse_leaks(shown: Mapping[str, list[_Shown]]) -> None:
    """Fail if a place usually shows a task's own truth and rarely that of another task."""
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
    return sum(bool(v) and holds(item.text, v) for item, v in zip(items, values, strict=True))


def _scopes(items: list[_Shown]) -> dict[str, list[_Shown]]:
    scopes = {"": items}
    for item in items:
        scopes.setdefault(f" of the template {item.task.template}", []).append(item)
    return scopes


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
    """Return meaningless calls of every tool; those that end the episode come last."""
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
    """Yield the values in info as text, by key, except hash and opaque id."""
    for key, value in info.items():
        if key not in ("task_hash", "task_id"):
            yield key, " ".join(text_form(leaf) for _, leaf in leaves(value))


def _last_words(subject: Subject, env: Any, task: Task, script: Script) -> str | None:
    """Return the new text after a near miss's last action; None if the episode continues."""
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


def _watched(subject: Subject) -> list[tuple[Task, list[str]]]:
    """Return what oracle, spam, random calls and trivial policies see; computed once.

    Each episode is a task with canonical texts, of which what `render` returns is the last.
    """
    cached: list[tuple[Task, list[str]]] | None = subject.__dict__.get("_watched")
    if cached is None:
        cached = subject.__dict__["_watched"] = list(_watch(subject))
    return cached


def _watch(subject: Subject) -> Iterator[tuple[Task, list[str]]]:
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
                yield task, [*map(canonical, episode.shown()), canonical(env.render())]
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
        "truth_in_parts",
        "keep what an answer can be computed from out of info, also in parts",
        truth_in_parts,
    ),
    ConformanceCheck(
        "truth_in_observations",
        "show answers only after a deliberate look; public facts belong in the instruction",
        truth_in_observations,
    ),
)
