"""An agent that learns a train split by heart: wordings, the acts they get, and where values stand.

It sees what an agent sees, the card and the lines, and the training tasks with their right acts. A
line that it knows by heart, up to names and numbers, gets the act that it got in training when the
card's value was missing, the same as the visitor's, or another one; an unknown line is treated like
the one with the most words in common.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hexathlon.tasks.roleplay.card import fill, table
from hexathlon.tasks.roleplay.voice import compose
from hexathlon.tasks.task import Task
from hexathlon.tasks.tool_calls import tool_call
from support.scenes import claims_of

__all__ = ["Memoriser", "plain_reply"]

_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*|[㐀-鿿]")
_GAP = "\x00"


def _leads(language: str) -> list[str]:
    manners = table("visitor")["manners"].values()
    texts = [fill(text, language, {}) for manner in manners for text in manner["lead"]]
    return sorted({text for text in texts if text}, key=len, reverse=True)


def _card_lines(task: Task) -> list[str]:
    return [line[2:] for line in task.instruction.splitlines() if line.startswith("- ")]


def _words(text: str) -> frozenset[str]:
    found = _WORD.findall(text.lower())
    return frozenset([*found, *(a + b for a, b in zip(found, found[1:], strict=False))])


def plain_reply(act: str, value: str, rules: Sequence[Mapping[str, Any]], language: str) -> str:
    """Return the shortest reply for an act, with its value if there is one."""
    core = {"en": "very well", "zh": "好的"}[language]
    if act == "refuse":
        core = {"en": "that I will not say", "zh": "这我不说"}[language]
    elif value:
        core = {"en": f"it is {value}", "zh": f"是{value}"}[language]
    return compose(core, rules, language)


class _Frame:
    """A line with gaps for names, and what was right."""

    def __init__(self) -> None:
        self.acts: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        self.sources: Counter[tuple[str, str]] = Counter()
        self.claimed = 0


class Memoriser:
    """A table of lines with gaps and of the card's lines that held the answers.

    Args:
        tasks: Training tasks, with their right acts.
        language: The language to learn.
    """

    def __init__(self, tasks: Iterable[Task], language: str) -> None:
        self._language = language
        self._leads = _leads(language)
        self._frames: dict[str, _Frame] = defaultdict(_Frame)
        seen = [task for task in tasks if task.params["language"] == language]
        self._shapes: Counter[tuple[str, str]] = Counter()
        """What stands before and after a value in the card's lines."""
        self._known: dict[str, list[str]] = {}
        for task in seen:
            for beat, *_ in self._beats(task):
                value = (beat["value"] or [""])[0]
                for text in _card_lines(task) if value else ():
                    if value in text and len(text) > len(value) + 3:
                        before, _, after = text.partition(value)
                        self._shapes[before, after] += 1
        for task in seen:
            for beat, line, claims in self._beats(task):
                self._learn_source(task, beat, self._key(task, beat, line, claims))
        for task in seen:
            for beat, line, claims in self._beats(task):
                key = self._key(task, beat, line, claims)
                state = self._state(self._frames[key], _card_lines(task), line)[0]
                self._frames[key].acts[state][beat["act"], (beat["reasons"] or [""])[0]] += 1
        self._compiled = [
            (re.compile(re.escape(key).replace(_GAP, "(.+?)") + "$"), frame)
            for key, frame in self._frames.items()
        ]
        self._bags = [
            (_words(key.replace(_GAP, " ")), frame) for key, frame in self._frames.items()
        ]

    def actions(self, task: Task) -> list[str]:
        """Return one act per line of the dialogue."""
        made = []
        for place, line in enumerate(task.params["lines"]):
            rules = [r for r in task.checks[0].params["rules"] if r.get("from", 0) <= place]
            made.append(self._act(task, line["text"], rules))
        return made

    def _beats(self, task: Task) -> Iterable[tuple[Mapping[str, Any], str, list[str]]]:
        beats = task.checks[0].params["beats"]
        for place, (beat, line) in enumerate(zip(beats, task.params["lines"], strict=True)):
            yield beat, line["text"], claims_of(task, place)

    def _key(self, task: Task, beat: Mapping[str, Any], line: str, claims: Sequence[str]) -> str:
        line = self._bare(line)
        secrets = [v for s in task.checks[0].params["secrets"] for v in s["values"]]
        signs = re.findall(r"[\"“](.+?)\.?[\"”]", line)
        names = [*beat["value"], *claims, *secrets, *signs, *self._names(task)]
        for name in sorted(names, key=len, reverse=True):
            line = line.replace(name, _GAP)
        return re.sub(r"\d+", _GAP, line)

    def _names(self, task: Task) -> list[str]:
        """Return what stands where training cards had values."""
        if task.id not in self._known:
            self._known[task.id] = self._read_names(task)
        return self._known[task.id]

    def _read_names(self, task: Task) -> list[str]:
        shapes = [shape for shape, count in self._shapes.most_common(120) if count > 1]
        return [
            text[len(before) : len(text) - len(after)]
            for text in _card_lines(task)
            for before, after in shapes
            if len(text) > len(before + after) + 1
            and text.startswith(before) and text.endswith(after)
        ]  # fmt: skip

    def _bare(self, line: str) -> str:
        for lead in self._leads:
            line = line.removeprefix(lead)
        return line

    def _learn_source(self, task: Task, beat: Mapping[str, Any], key: str) -> None:
        frame = self._frames[key]
        value = (beat["value"] or [""])[0]
        for text in _card_lines(task) if value else ():
            if value in text:
                before, _, after = text.partition(value)
                frame.sources[before, after] += 1

    def _state(self, frame: _Frame, card: Sequence[str], line: str) -> tuple[str, str]:
        signs = re.findall(r"[\"“](.+?)\.?[\"”]", line)
        if signs:
            right = any(f'"{s}"' in text or f"“{s}”" in text for s in signs for text in card)
            return ("signed" if right else "unsigned"), self._value(frame, card)
        value = self._value(frame, card)
        if not value:
            return "missing", ""
        return ("same" if value in line else "other"), value

    def _value(self, frame: _Frame, card: Sequence[str]) -> str:
        for (before, after), count in frame.sources.most_common(40):
            for text in card if count > 1 and len(before + after) > 3 else ():
                if text.startswith(before) and text.endswith(after):
                    return text[len(before) : len(text) - len(after)]
        return ""

    def _act(self, task: Task, line: str, rules: Sequence[Mapping[str, Any]]) -> str:
        bare, card = self._bare(line), _card_lines(task)
        frame, claim = self._recalled(bare)
        state, value = self._state(frame, card, line)
        every = sum(frame.acts.values(), Counter())
        act, reason = (frame.acts.get(state) or every).most_common(1)[0][0]
        if act in ("answer", "correct") and not value:
            act, reason = "refuse", "not_known"
        if act == "correct" and not claim:
            claim = max(
                re.findall(r"\d+|[A-Z][\w-]+(?: [A-Z][\w-]+)*", bare[1:]), key=len, default=""
            )
        reply = plain_reply(act, "" if act == "say" else value, rules, self._language)
        if act == "say":
            return tool_call(act, reply=reply)
        if act == "refuse":
            return tool_call(act, reply=reply, reason=reason)
        if act == "answer":
            return tool_call(act, reply=reply, value=value)
        return tool_call(act, reply=reply, claim=claim, truth=value)

    def _recalled(self, line: str) -> tuple[_Frame, str]:
        """Return the frame of a line, and what stands in its longest gap."""
        for pattern, frame in self._compiled:
            match = pattern.match(line)
            if match:
                return frame, max(match.groups(), key=len, default="")
        bag = _words(line)
        near = max(self._bags, key=lambda other: len(bag & other[0]) / max(1, len(bag | other[0])))
        return near[1], ""
