"""Trivial agents and cheap tricks, whose scores set the floor: none reads the question.

Some receive the card's speech rules and follow them, so that they fail on content alone.
"""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.beat import REASONS
from hexathlon.tasks.roleplay.stage import Stage
from hexathlon.tasks.roleplay.voice import Rule, compose
from hexathlon.tasks.source import Script
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["policies"]

_REFUSAL: Mapping[Language, str] = {"en": "I cannot say", "zh": "我不能说"}
_DODGES: Mapping[Language, Sequence[str]] = {
    "en": (
        "a fine thing to wonder about on such an evening",
        "forgive me, I would rather hear more of you",
        "that is a long story, and the hour is late",
    ),
    "zh": ("今晚想想这个也挺好", "请别见怪，我更想听听您的事", "说来话长，天也不早了"),
}
_STOPS = re.compile(r"[.!?。！？…\s]+")
_TURNS = 8
"""Number of turns that non-listening agents play in a game."""


def policies(stage: Stage, instruction: str) -> dict[str, Script]:
    """Return the trivial agents of a task; games have additional ones."""
    count, language = len(stage.beats) or _TURNS, stage.language
    values = [str(value) for value in stage.card["attributes"].values()]
    spam = (", " if language == "en" else "，").join(values)
    first = tool_call("answer", reply=compose(values[0], stage.rules, language), value=values[0])
    mute = tool_call("say", reply=compose("…", stage.rules, language))
    return {
        "empty": _answering(stage, lambda heard, rules: tool_call("say", reply="")),
        "echo": _answering(stage, lambda heard, rules: heard),
        "styled_echo": _styled_echo(stage),
        "yes_man": _yes_man(stage),
        "card_aloud": _card_aloud(stage, instruction),
        "polite_dodge": _polite_dodge(stage),
        "always_say": _repeated(mute, count),
        **{f"always_{reason}": _repeated(_refusing(stage, reason), count) for reason in REASONS},
        "keyword_spam": _repeated(tool_call("answer", reply=spam, value=spam), count),
        "dump": _repeated(instruction[:1_900], count),
        "majority": _repeated(first, count),
    }


def _repeated(act: str, count: int) -> Script:
    for _ in range(count):
        yield act


def _answering(stage: Stage, act: Callable[[str, Sequence[Rule]], str]) -> Script:
    """Respond to each line by one rule of thumb, indefinitely."""
    heard = stage.beats[0].line if stage.beats else "?"
    for place in itertools.count():
        heard = yield act(heard, stage.rules_at(place))


def _refusing(stage: Stage, reason: str) -> str:
    reply = compose(_REFUSAL[stage.language], stage.rules, stage.language)
    return tool_call("refuse", reply=reply, reason=reason)


def _styled_echo(stage: Stage) -> Script:
    """Echo each line, in the form that the speech rules require."""

    def act(heard: str, rules: Sequence[Rule]) -> str:
        words = _STOPS.sub(" ", heard).strip() or "…"
        return tool_call("say", reply=compose(words, rules, stage.language))

    return _answering(stage, act)


def _yes_man(stage: Stage) -> Script:
    """Agree with the visitor whenever they name something that is on the card."""
    values = [str(value) for value in stage.card["attributes"].values()]

    def act(heard: str, rules: Sequence[Rule]) -> str:
        named = [value for value in values if value in heard]
        if not named:
            return _refusing(stage, "not_known")
        return tool_call("answer", reply=compose(named[0], rules, stage.language), value=named[0])

    return _answering(stage, act)


def _card_aloud(stage: Stage, instruction: str) -> Script:
    """Recite the card line by line, each as an answer."""
    lines = [line[2:] for line in instruction.splitlines() if line.startswith("- ")]
    left = itertools.cycle(lines)

    def act(heard: str, rules: Sequence[Rule]) -> str:
        line = next(left)
        return tool_call("answer", reply=compose(line, rules, stage.language), value=line[:200])

    return _answering(stage, act)


def _polite_dodge(stage: Stage) -> Script:
    """Decline politely, with a different reason each time."""
    wordings = itertools.cycle(_DODGES[stage.language])
    reasons = itertools.cycle(REASONS)

    def act(heard: str, rules: Sequence[Rule]) -> str:
        reply = compose(next(wordings), rules, stage.language)
        return tool_call("refuse", reply=reply, reason=next(reasons))

    return _answering(stage, act)
