"""Speech rules: checkable by code, described in words and followed by a composer.

The card states the rules (`rule_text`), and this event's scripts follow them (`compose`). Checking
whether a reply follows them is the job of `hexathlon.evaluators.roleplay.style`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.lexicon import setting
from hexathlon.tasks.roleplay.text import number_words

__all__ = ["MAX_LENGTH", "compose", "draw_rules", "rule_text"]

Rule = Mapping[str, Any]

MAX_LENGTH: Mapping[Language, int] = {"en": 60, "zh": 120}
"""Maximum reply length on any card: English words, Chinese characters."""

_TEXTS: Mapping[str, tuple[str, str]] = {
    "closing": (
        'Every reply ends with the words "{x}", capitalised or not.',
        "每句回话都以“{x}”结尾。",
    ),
    "opening": (
        'Every reply begins with the words "{x}", capitalised or not.',
        "每句回话都以“{x}”开头。",
    ),
    "address": ('You call the visitor "{x}" in every reply.', "每次回话都称对方为“{x}”。"),
    "taboo": ("You never say these words: {x}.", "你从不说这些词：{x}。"),
    "no_question": ("You never ask a question back.", "你从不反问。"),
    "no_exclamation": ("You never use exclamation marks.", "你从不用感叹号。"),
    "spelled": (
        "You say numbers in words, never in digits.",
        "你说数字只用汉字，从不用阿拉伯数字。",
    ),
    "short": (
        "No reply of yours is longer than {x} words, set phrases included.",
        "你的每次回话不超过{x}个字，套话也算在内。",
    ),
    "sentences": (
        "Each reply has exactly {x} sentences, counted by their final marks (. ? !); set phrases "
        "count like any other words.",
        "每次回话正好{x}句，按句末标点（。？！）计，套话也算在内。",
    ),
}
_FILLERS: Mapping[Language, tuple[str, ...]] = {
    "en": ("I say what I know", "That is all there is to it", "Now you have heard it"),
    "zh": ("我知道的就是这些", "话就说到这里", "你都听见了"),
}


def draw_rules(
    kinds: Sequence[str], key: str, language: Language, rng: np.random.Generator, text: str
) -> list[dict[str, Any]]:
    """Draw rules of the given kinds.

    Args:
        kinds: Kinds of rules, in the order of the card.
        key: The setting, for its phrases.
        language: The language of the replies.
        rng: The task's random generator.
        text: Everything that the dialogue may need to name; taboo words are never drawn from it.
    """
    own = setting(key)
    rules: list[dict[str, Any]] = []
    for kind in kinds:
        if kind == "taboo":
            words = [pair[language] for pair in own.pairs("taboo")]
            free = [word for word in words if word.casefold() not in text.casefold()]
            chosen = [free[int(i)] for i in rng.permutation(len(free))[:3]]
            rules.append({"kind": kind, "x": chosen})
        elif kind == "short":
            low, high = (32, 42) if language == "en" else (56, 72)
            rules.append({"kind": kind, "x": int(rng.integers(low, high + 1))})
        elif kind == "sentences":
            rules.append({"kind": kind, "x": int(rng.integers(2, 4))})
        elif kind in ("closing", "opening", "address"):
            pairs = own.pairs({"closing": "closings", "opening": "oaths"}.get(kind, "addresses"))
            phrase = pairs[int(rng.integers(len(pairs)))][language]
            rules.append({"kind": kind, "x": phrase})
        else:
            rules.append({"kind": kind})
    return rules


def rule_text(rule: Rule, language: Language) -> str:
    """Phrase a rule as the card does."""
    text = _TEXTS[rule["kind"]][language == "zh"]
    value = rule.get("x", "")
    if isinstance(value, list):
        value = ("、" if language == "zh" else ", ").join(value)
    return text.replace("{x}", str(value))


def compose(core: str, rules: Sequence[Rule], language: Language) -> str:
    """Phrase content according to the rules.

    Args:
        core: One sentence without a final stop or other sentence-ending marks.
        rules: The rules in force for this reply.
        language: The language of the reply.
    """
    known = {rule["kind"]: rule for rule in rules}
    comma, stop = (", ", ".") if language == "en" else ("，", "。")
    if "spelled" in known:
        core = _spelled(core, language)
    parts = [str(known[kind]["x"]) for kind in ("opening", "address") if kind in known]
    sentences = [comma.join([*parts, core])]
    wanted = known.get("sentences", {}).get("x", 0)
    closing = [str(known["closing"]["x"])] if "closing" in known else []
    fillers = iter(_FILLERS[language])
    while len(sentences) + len(closing) < wanted:
        sentences.append(next(fillers))
    if language == "en":
        sentences = [text[:1].upper() + text[1:] for text in sentences]
        closing = [text[:1].upper() + text[1:] for text in closing]
    joiner = " " if language == "en" else ""
    return joiner.join(text + stop for text in [*sentences, *closing])


def _spelled(text: str, language: Language) -> str:
    return re.sub(r"\d+", lambda match: number_words(int(match[0]), language), text)
