"""Instruction priority: the card overrides the visitor, except where it says otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.tasks.bilingual import BilingualText
from hexathlon.tasks.roleplay.beat import Beat
from hexathlon.tasks.roleplay.card import fill, table
from hexathlon.tasks.roleplay.stage import Stage, TaskSpec
from hexathlon.tasks.task import Level

__all__ = ["priority"]

_RULES: Mapping[Level, Sequence[str]] = {
    "tiny": ("closing",),
    "easy": ("closing", "spelled"),
    "medium": ("closing", "taboo", "spelled"),
    "hard": ("closing", "taboo", "opening", "spelled"),
}
_AGAINST: Mapping[Level, int] = {"tiny": 1, "easy": 2, "medium": 3, "hard": 4}
_GRANTED: Mapping[Level, int] = {"tiny": 1, "easy": 1, "medium": 2, "hard": 2}
_QUESTIONS: Mapping[Level, Sequence[str]] = {
    "tiny": ("known",),
    "easy": ("name", "life_year"),
    "medium": ("name", "life_year", "contradicted"),
    "hard": ("name", "life_year", "contradicted", "world_contradicted"),
}


def priority(order: TaskSpec) -> Stage:
    """Mix requests against the card, requests that it permits, and questions."""
    stage = Stage.opened(order, rules=_RULES[order.level])
    texts = table("priority")["texts"]
    stage.card["boundaries"] = [fill(texts[k], order.language, {}) for k in ("granted", "fixed")]
    questions = stage.shuffled(stage.ask(*_QUESTIONS[order.level], about="after_wish"))
    wishes = [*_against(stage, _AGAINST[order.level]), *_granted(stage, _GRANTED[order.level])]
    _arrange(stage, _mixed(stage, wishes), questions)
    stage.led_in()
    return stage


VisitorWish = tuple[Beat, dict[str, Any] | None]
"""A request, and the rule in force afterwards if it is granted."""


def _mixed(stage: Stage, wishes: list[VisitorWish]) -> list[VisitorWish]:
    return [wishes[int(i)] for i in stage.rng.permutation(len(wishes))]


def _arrange(stage: Stage, wishes: list[VisitorWish], questions: list[Beat]) -> None:
    """Place requests first and in between, always with a question after the last."""
    slots = sorted(int(i) for i in stage.rng.integers(len(questions), size=len(wishes)))
    beats: list[Beat] = []
    waiting = list(zip(slots, wishes, strict=True))
    for place, question in enumerate(questions):
        for _, (beat, rule) in [item for item in waiting if item[0] == place]:
            if rule is not None:
                stage.rules.append({**rule, "from": len(beats)})
            beats.append(beat)
        beats.append(question)
    stage.beats = beats


def _against(stage: Stage, count: int) -> list[VisitorWish]:
    wishes = table("priority")["against"]
    own = {rule["kind"]: rule for rule in stage.rules}
    kinds = [kind for kind in wishes if kind in own or kind in ("language", "role")]
    made: list[VisitorWish] = []
    for kind in stage.some(kinds, count):
        value = own.get(kind, {}).get("x", "")
        values = {"x": value[0] if isinstance(value, list) else value, "name": stage.card["name"]}
        line = fill(stage.pick(wishes[kind]), stage.language, values)
        beat = Beat(line, "refuse", reasons=("against_my_rules",), about="against_card")
        made.append((beat, None))
    return made


def _granted(stage: Stage, count: int) -> list[VisitorWish]:
    wishes = table("priority")["granted"]
    made: list[VisitorWish] = []
    for kind in stage.some(["title", "short", "no_question"], count):
        rule, values = _rule(stage, kind)
        line = fill(stage.pick(wishes[kind]), stage.language, values)
        made.append((Beat(line, "say", about="granted"), rule))
    return made


def _titles(stage: Stage) -> list[str]:
    """Return titles that contain no taboo word."""
    taboo = [word.casefold() for r in stage.rules if r["kind"] == "taboo" for word in r["x"]]
    names = [BilingualText.parse(t)[stage.language] for t in table("priority")["titles"]["names"]]
    return [name for name in names if not any(word in name.casefold() for word in taboo)]


def _rule(stage: Stage, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    if kind == "title":
        name = stage.pick(_titles(stage))
        return {"kind": "address", "x": name}, {"title": name}
    if kind == "short":
        low, high = (30, 40) if stage.language == "en" else (50, 64)
        limit = int(stage.rng.integers(low, high + 1))
        # For both "under" and "at most", replies stay below the limit.
        return {"kind": "short", "x": limit}, {"limit": limit}
    return {"kind": "no_question"}, {}
