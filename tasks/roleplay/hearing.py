"""The second derivation for memory tasks: tracks the latest facts in the visitor's lines."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hexathlon.tasks.bilingual import BilingualText, Language
from hexathlon.tasks.roleplay.card import table
from hexathlon.tasks.roleplay.reading import Ruling

__all__ = ["VisitorListener"]

_OWNERS: Mapping[str, tuple[str, str]] = {
    "own": ("my", "我"),
    "brother": ("my brother's", "我哥哥"),
}
_MIXED = re.compile(
    r"as to (.+?), I gave you mine for my brother's|(?:哎呀，)(.+?)我把自己的和我哥哥的说反"
)


class VisitorListener:
    """Processes the visitor's lines in order.

    Args:
        language: The language of the lines.
        words: Setting-specific words, such as the currency.
    """

    def __init__(self, language: Language, words: Mapping[str, str]) -> None:
        self._language: Language = language
        self._words = tuple(sorted(words.items()))
        self._known: dict[tuple[str, str], str] = {}

    def hear(self, line: str) -> None:
        """Record what a line states about the visitor and their brother."""
        for fact, spec in table("visitor")["facts"].items():
            for owner in _OWNERS:
                match = _pattern(fact, owner, self._language, self._words).search(line)
                if match:
                    self._known[owner, fact] = match[1]
            label = BilingualText.parse(spec["label"])[self._language]
            mixed = _MIXED.search(line)
            if mixed and label in mixed.groups():
                own, other = ("own", fact), ("brother", fact)
                self._known[own], self._known[other] = self._known[other], self._known[own]

    def rule(self, query: Mapping[str, Any]) -> Ruling:
        """Return the correct act for a question about earlier statements."""
        owner, fact = query["told"]
        value = self._known.get((owner, fact))
        if value is None:
            return Ruling("refuse", reason="not_known")
        if query.get("claim", value) != value:
            return Ruling("correct", value)
        return Ruling("answer", value)


@lru_cache(maxsize=2048)
def _pattern(
    fact: str, owner: str, language: Language, words: tuple[tuple[str, str], ...]
) -> re.Pattern[str]:
    text = BilingualText.parse(table("visitor")["facts"][fact]["tell"])[language]
    possessive = _OWNERS[owner][language == "zh"]
    text = text.replace("{whose}", possessive)
    text = text.replace("{Whose}", possessive[:1].upper() + possessive[1:])
    for word, value in words:
        text = text.replace("{" + word + "}", value)
    body = re.escape(text).replace(re.escape(" a {v}"), " an? {v}")
    body = body.replace(re.escape("{v}"), "(.+?)").replace("{v}", "(.+?)")
    before = "(?<![a-z\u4e00-\u9fff])" if owner == "own" and language == "zh" else ""
    return re.compile(before + body, re.IGNORECASE if language == "en" else 0)
