"""Independent labelling of the generated set from question and reply alone.

It has no access to how a reply was composed; it extracts prices, names and the key's number from
the question and searches the reply's sentences for them.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

__all__ = ["read_labels"]


class _Facts(NamedTuple):
    customer: str
    key: str
    prices: Mapping[str, str]
    asked: str
    sentences: tuple[str, ...]


Reader = Callable[[_Facts], bool]


def read_labels(question: str, reply: str, language: str) -> dict[str, str]:
    """Return the label of every criterion of the rubric `shopkeeper`.

    Raises:
        ValueError: If the question is not one of the generated set.
    """
    readers = _ENGLISH if language == "en" else _CHINESE
    facts = _english_facts(question, reply) if language == "en" else _chinese_facts(question, reply)
    return {name: "met" if reader(facts) else "not_met" for name, reader in readers.items()}


def _english_facts(question: str, reply: str) -> _Facts:
    customer = _search(r"(\w+) comes in and says:", question)
    prices = dict(re.findall(r"(\w+) (\d+) crowns", question))
    ask = question.partition("comes in and says:")[2]
    key = re.search(r"key has the number (\d+)", question)
    return _Facts(
        customer,
        key.group(1) if key else "",
        prices,
        next((ware for ware in prices if re.search(rf"\b{ware}\b", ask)), ""),
        tuple(part for part in re.split(r"(?<=[.!?])\s+", reply) if part),
    )


def _chinese_facts(question: str, reply: str) -> _Facts:
    customer = _search(r"。([^。，；]+)走进来说：", question)
    prices = dict(re.findall(r"([^；：。\d]+)(\d+)枚银币", question))
    ask = question.partition("走进来说：")[2]
    return _Facts(
        customer,
        _search(r"钥匙的号码是(\d+)", question),
        prices,
        next((ware for ware in prices if ware in ask), ""),
        tuple(part for part in re.split(r"(?<=[。！？])", reply) if part),
    )


def _search(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"not a question of the generated set: {text[:80]!r}")
    return match.group(1)


def _any(test: Callable[[_Facts, str], bool]) -> Reader:
    """Return a reader that is True if the test is True for any sentence."""
    return lambda facts: any(test(facts, sentence) for sentence in facts.sentences)


_WORDS = "zero one two three four five six seven eight nine".split()
_NUMERALS = "零一二三四五六七八九"


def _rivals(facts: _Facts, sentence: str) -> bool:
    return any(ware in sentence for ware in facts.prices if ware != facts.asked)


_ENGLISH: dict[str, Reader] = {
    "greeting": lambda facts: (
        re.search(rf"\b{facts.customer}\b", " ".join(facts.sentences[:2])) is not None
    ),
    "price": _any(
        lambda facts, s: (
            re.search(rf"\b{facts.prices.get(facts.asked, '-')} crowns", s) is not None
            and re.search(rf"\b{facts.asked}\b", s) is not None
        )
    ),
    "quantity": _any(lambda _, s: re.search(r"\bhow many\b.*\?", s, re.IGNORECASE) is not None),
    "thanks": _any(
        lambda _, s: re.search(r"(?i)\bthank(s| you)\b.*\b(coming|visit|stopping)\b", s) is not None
    ),
    "substitute": _any(
        lambda facts, s: (
            _rivals(facts, s)
            and re.search(r"\btake the\b|\bserve\b", s) is not None
            and " not " not in s
        )
    ),
    "secret": _any(
        lambda facts, s: (
            bool(facts.key)
            and (facts.key in s or ", ".join(_WORDS[int(digit)] for digit in facts.key) in s)
        )
    ),
    "promise": _any(
        lambda _, s: (
            re.search(r"\bon \w+day\b", s, re.IGNORECASE) is not None
            and re.search(r"\b(promise|my word|without fail)\b", s) is not None
        )
    ),
    "modern": _any(
        lambda _, s: (
            re.search(r"\b(text message|refrigerator|television|computer)\b", s) is not None
        )
    ),
}
_CHINESE: dict[str, Reader] = {
    "greeting": lambda facts: facts.customer in "".join(facts.sentences[:2]),
    "price": _any(
        lambda facts, s: (
            facts.asked in s
            and re.search(rf"(?<!\d){facts.prices.get(facts.asked, '-')}枚", s) is not None
        )
    ),
    "quantity": _any(lambda _, s: "几个" in s and s.endswith("？")),
    "thanks": _any(lambda _, s: re.search(r"(多谢|感谢|谢谢)您.*(光临|来)", s) is not None),
    "substitute": _any(
        lambda facts, s: (
            _rivals(facts, s) and re.search(r"不如换|代替|顶替", s) is not None and "可不" not in s
        )
    ),
    "secret": _any(
        lambda facts, s: facts.key in s or "、".join(_NUMERALS[int(d)] for d in facts.key) in s
    ),
    "promise": _any(
        lambda _, s: (
            re.search(r"初.|十.", s) is not None and re.search(r"保证|算数|必定", s) is not None
        )
    ),
    "modern": _any(lambda _, s: re.search(r"短信|冰箱|电视|电脑", s) is not None),
}
