"""The second derivation: parses a card from the agent's text and derives the correct acts.

A beat is valid only if this reader, which sees only the text and the question's topic, derives the
same act and the same value as the generator.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from hexathlon.tasks.bilingual import BilingualText, Language
from hexathlon.tasks.roleplay.beat import Beat
from hexathlon.tasks.roleplay.card import ATTRIBUTES, articled
from hexathlon.tasks.roleplay.lexicon import setting
from hexathlon.tasks.roleplay.phrasing import attribute_phrases

__all__ = ["CardReader", "Ruling", "disagreement"]


class Ruling(NamedTuple):
    """The act that the reader considers correct."""

    act: str
    value: str = ""
    reason: str = ""


@dataclass(frozen=True)
class _Read:
    """The parsed text."""

    attributes: Mapping[str, str]
    past: Mapping[str, int]
    later: Mapping[str, int]
    life: Mapping[str, int]
    rulers: tuple[tuple[int, str], ...]
    now: int
    name: str


class CardReader:
    """Derives the correct acts for questions from the text of a card.

    Args:
        text: The instruction.
        key: The setting, whose words the sentences use.
        language: The language of the text.
        words: Setting-specific words: trade, animal, currency and the like.
    """

    def __init__(self, text: str, key: str, language: Language, words: Mapping[str, str]) -> None:
        self._language: Language = language
        self._foreign = {pair[language] for pair in setting(key).pairs("foreign")}
        self._read = self._taken_apart(text, key, words)

    def rule(self, query: Mapping[str, Any]) -> Ruling:
        """Return the correct act for a question about the card."""
        if "foreign" in query:
            known = query["foreign"] in self._foreign
            return Ruling("refuse", reason="not_of_my_world" if known else "not_known")
        if "untold" in query:
            return Ruling("refuse", reason="not_known")
        if "next_ruler" in query:
            return Ruling("refuse", reason="not_yet")
        truth = self._truth(query)
        if truth is None:
            ahead = query.get("world") in self._read.later
            return Ruling("refuse", reason="not_yet" if ahead else "not_known")
        if "claim" in query and query["claim"] != truth:
            return Ruling("correct", truth)
        if query.get("mode") == "presuppose":
            return Ruling("refuse", reason="not_known")
        return Ruling("answer", truth)

    def _truth(self, query: Mapping[str, Any]) -> str | None:
        read = self._read
        if "attribute" in query:
            return read.attributes.get(query["attribute"])
        if "name" in query:
            return read.name
        if "life" in query:
            return _text(read.life.get(query["life"]))
        if "world" in query:
            return _text(read.past.get(query["world"]))
        if "ruler_after" in query:
            place: int = query["ruler_after"]
            return read.rulers[place + 1][1]
        if "ruler_at" in query:
            return self._ruler_in(read.past[query["ruler_at"]])
        if "gap" in query:
            event, own = query["gap"]
            return str(abs(read.past[event] - read.life[own]))
        if "age" in query and "birth_year" in read.attributes:
            year = read.now if query["age"] == "now" else read.life[query["age"]]
            return str(year - int(read.attributes["birth_year"]))
        return None

    def _ruler_in(self, year: int) -> str:
        holder = ""
        for start, name in self._read.rulers:
            if start <= year:
                holder = name
        return holder

    def _taken_apart(self, text: str, key: str, words: Mapping[str, str]) -> _Read:
        attributes = {}
        for name in ATTRIBUTES:
            for other in (False, True):
                spec = attribute_phrases(name, other)["card"]
                match = _frame(spec, self._language, tuple(sorted(words.items()))).search(text)
                if match:
                    attributes[name] = match[1]
        dated = _dated(key, self._language)
        past: dict[str, int] = {}
        later: dict[str, int] = {}
        life: dict[str, int] = {}
        rulers: list[tuple[int, str]] = []
        now = 0
        for line in text.splitlines():
            present = dated["now"].match(line)
            now = int(present[1]) if present else now
            for kind, place in (("life", life), ("event", past)):
                match = dated[kind].match(line)
                if match:
                    ahead = kind == "event" and now < int(match[1])
                    (later if ahead else place)[match[2]] = int(match[1])
            match = dated["ruler"].match(line.replace(words["ruler"], "@"))
            if match and int(match[1]) <= now:
                rulers.append((int(match[1]), match[2]))
        first = re.search(r"You play (.+?)\. Stay|你扮演(.+?)。整场", text)
        name = (first[1] or first[2]) if first else ""
        return _Read(attributes, past, later, life, tuple(sorted(rulers)), now, name)


def disagreement(ruling: Ruling, beat: Beat) -> str:
    """Describe how a ruling differs from the beat's; empty if they agree."""
    wanted = Ruling(
        beat.act, beat.value[0] if beat.value else "", beat.reasons[0] if beat.reasons else ""
    )
    return "" if ruling == wanted else f"{beat.line!r}: intended {wanted}, read {ruling}"


def _text(year: int | None) -> str | None:
    return None if year is None else str(year)


@lru_cache(maxsize=4096)
def _frame(spec: str, language: Language, words: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    text = BilingualText.parse(spec)[language]
    for word, value in words:
        text = text.replace("{" + word + "}", value)
    text = articled(text[:1].upper() + text[1:]) if language == "en" else text
    body = re.escape(text).replace(re.escape(" a {v}"), " an? {v}")
    body = re.sub(r"^An?\\ ", "An? ", body)
    body = body.replace(re.escape("{v}"), "(.+?)").replace("{v}", "(.+?)")
    return re.compile(f"^- {body}$", re.MULTILINE)


@lru_cache(maxsize=32)
def _dated(key: str, language: Language) -> Mapping[str, re.Pattern[str]]:
    era = setting(key).pair("era")[language]
    when = re.escape(era).replace(re.escape("{n}"), r"(\d+)")
    if language == "en":
        shapes = {
            "now": rf"- It is now the year {when}\.", "life": rf"- {when}: you (.+)\.$",
            "event": rf"- {when}: the (.+) took place\.$",
            "ruler": rf"- {when}: (.+) became @\.$",
        }  # fmt: skip
    else:
        shapes = {
            "now": rf"- 现在是{when}。", "life": rf"- {when}：你(.+)。$",
            "event": rf"- {when}：发生“(.+)”。$", "ruler": rf"- {when}：(.+)出任@。$",
        }  # fmt: skip
    return {name: re.compile(shape) for name, shape in shapes.items()}
