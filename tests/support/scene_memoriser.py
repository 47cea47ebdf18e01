"""An agent that memorises scenes of the train split: lines, responses, and where values stood.

It sees the lines that an agent sees, one after the other, and the rules of speech. A line that it
knows up to names and numbers gets the act that it got in training; values come from the gap, in the
same or an earlier known line, in which they most often stood in training.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hexathlon.tasks.task import Task
from hexathlon.tasks.tool_calls import tool_call
from support.memoriser import plain_reply

__all__ = ["SceneMemoriser"]

_GAP = "\x00"


class _Memory(NamedTuple):
    responses: Counter[tuple[str, str]]
    """Acts with the reasons of refusals."""

    dues: Counter[str]
    sources: Mapping[str, Counter[tuple[str, int]]]
    """For each argument, the lines and gaps that held its value."""


def _wanted(task: Task) -> list[str]:
    """Return every value of a scene that training may show, longest first."""
    params, truth = task.params, task.checks[0].params
    values = [figure["name"] for figure in params["figures"]]
    values += [name for figure in params["figures"] for name in figure["names"]]
    values += [v for c in truth["confidences"] for v in c["values"]]
    values += [v for due in truth["dues"] for v in due["what"]]
    for moment in (*truth["moments"], *params["moments"]):
        for accept in moment.get("accept", ()):
            values += [*accept.get("value", ()), *accept.get("claim", ())]
        values += moment.get("choice", {}).get("options", ())
    return sorted(set(values), key=len, reverse=True)


class SceneMemoriser:
    """A table of lines with gaps.

    Args:
        tasks: Training scenes.
        language: The language to learn.
    """

    def __init__(self, tasks: Iterable[Task], language: str) -> None:
        self._language = language
        self._memory: dict[str, _Memory] = defaultdict(
            lambda: _Memory(Counter(), Counter(), defaultdict(Counter))
        )
        for task in tasks:
            if task.params["language"] == language:
                self._learn(task)
        self._shapes = [
            (re.compile(re.escape(key).replace(_GAP, "(.+?)") + "$"), key) for key in self._memory
        ]

    def actions(self, task: Task) -> Iterator[str]:
        """Yield the acts for the lines of a scene."""
        heard: list[tuple[str, tuple[str, ...]]] = []
        rules = task.checks[0].params["rules"]
        for line in task.params["moments"]:
            key, gaps = self._recalled(line["text"])
            heard.append((key, gaps))
            memory = self._memory.get(key)
            speaker = task.params["figures"][line["speaker"]]["name"]
            if memory is None:
                yield self._spoken("agree" if line["asks"] else "say", rules)
                continue
            for act, count in memory.dues.items():
                if 2 * count > sum(memory.responses.values()):
                    what = self._value(memory, act, heard)
                    names = {"value": what} if act == "tell" else {"what": what, "price": 0}
                    yield self._spoken(act, rules, what, to=speaker, **names)
            act, reason = memory.responses.most_common(1)[0][0]
            typed = {"reason": reason} if act == "refuse" else {}
            value = ""
            if act in ("answer", "correct"):
                value = self._value(memory, "value", heard)
                typed = {"value" if act == "answer" else "truth": value}
            if act == "correct":
                typed["claim"] = self._value(memory, "claim", heard)
            yield self._spoken(act, rules, value, **typed)

    def _learn(self, task: Task) -> None:
        truth, values = task.checks[0].params, _wanted(task)
        heard: list[tuple[str, tuple[str, ...]]] = []
        for place, (line, moment) in enumerate(
            zip(task.params["moments"], truth["moments"], strict=True)
        ):
            key, gaps = self._gapped(line["text"], values)
            heard.append((key, gaps))
            memory = self._memory[key]
            accept = moment["accept"][0] if moment["accept"] else {"act": "say"}
            act = "agree" if accept["act"] == "say" and line["asks"] else accept["act"]
            memory.responses[act, accept.get("reasons", [""])[0]] += 1
            for name in ("value", "claim"):
                for wanted in accept.get(name, ())[:1]:
                    self._learn_source(memory, name, wanted, heard)
            for due in truth["dues"]:
                occasion = due["to"] == line["speaker"] and due["at"] <= place
                if occasion and moment["thread"] == due["thread"] and not line["asks"]:
                    memory.dues[due["act"]] += 1
                    self._learn_source(memory, due["act"], due["what"][0], heard)

    def _learn_source(
        self, memory: _Memory, name: str, wanted: str, heard: list[tuple[str, tuple[str, ...]]]
    ) -> None:
        for key, gaps in heard:
            for place, gap in enumerate(gaps):
                if gap == wanted:
                    memory.sources[name][key, place] += 1

    def _gapped(self, text: str, values: list[str]) -> tuple[str, tuple[str, ...]]:
        shape = re.compile("|".join([*map(re.escape, values), r"\d+"]))
        return shape.sub(_GAP, text), tuple(shape.findall(text))

    def _recalled(self, text: str) -> tuple[str, tuple[str, ...]]:
        for shape, key in self._shapes:
            match = shape.match(text)
            if match:
                return key, match.groups()
        return text, ()

    def _value(self, memory: _Memory, name: str, heard: list[tuple[str, tuple[str, ...]]]) -> str:
        for (key, place), _ in memory.sources[name].most_common():
            for known, gaps in reversed(heard):
                if known == key and place < len(gaps):
                    return gaps[place]
        return "?"

    def _spoken(self, act: str, rules: Any, value: str = "", /, **typed: Any) -> str:
        return tool_call(act, reply=plain_reply(act, value, rules, self._language), **typed)
