"""Language understanding of the simulated user: the slots a message asks for, and its manner.

Matching is by whole words inside questions, after normalisation. Code blocks are ignored, long
lists count as overload, and attempts to talk the user out of its role are a separate category,
so that none of these reveals every slot at once.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Heard", "listen"]

MAX_CHARS = 1_500
"""Longer messages count as overload, whatever their content."""

MAX_ITEMS = 8
"""Maximum number of items named in the questions of one message; more count as overload."""


class Heard(NamedTuple):
    """The user's reading of one message."""

    asked: tuple[str, ...]
    """Slots asked for, in the order in which the message names them."""

    question: bool
    """Whether it asks anything at all."""

    overloaded: bool
    """Whether it asks for too much to be answered."""

    probing: bool
    """Whether it tries to make the user step out of its role."""

    opening: bool
    """Whether it asks what the user wants in general."""


_SENTENCE = re.compile(r"(?<=[?!;。？！；\n])|(?<=\.)(?=\s)")
_ITEM = re.compile(r"[,、，/|&+]|\band\b|\bor\b|\?|？|和|或|以及")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")

_BRITISH = (
    (re.compile(r"\b(col|flav|od)our"), r"\1or"),
    (re.compile(r"\b(fib|lit|cent|(?:kilo|centi|milli)?met)re(s?)\b"), r"\1er\2"),
    (re.compile(r"\baluminium\b"), "aluminum"),
    (re.compile(r"\bgrey"), "gray"),
    (re.compile(r"\bcatalogue"), "catalog"),
)
"""British spellings and their American forms, for messages and phrases alike."""

_QUESTION = re.compile(
    r"[?？]\s*[\"'”’)\]]*\s*$"
    r"|\b(?:what|which|who|whom|whose|when|where|how|why)\b"
    r"|^\W*(?:do|does|did|is|are|was|were|should|shall|can|could|would|will|may|have|has)\b"
    r"|\b(?:tell|clarify|specify|confirm|explain|describe|provide|let me know|need to know)\b"
    r"|吗|呢|什么|哪|几|多少|请问|告诉|是否|能否|怎|谁|何时|确认|说明|要不要|是不是"
)
_PROBE = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
    r"\b(?:instruction|rule|prompt|previous|above|prior|role|guideline)"
    r"|\b(?:system|developer|hidden|initial|original|secret)\s+"
    r"(?:prompt|instruction|message|state|goal|agenda|value|information|slot|data|note)"
    r"|\byour\s+(?:\w+\s+)?(?:agenda|instruction|prompt|script|slot|rule|system|config|memory"
    r"|source|persona|programming|internal|state|variable)"
    r"|\b(?:debug|developer|admin|maintenance|god|sudo|jailbreak|dan)\s+mode\b"
    r"|\b(?:all|every|each|list|dump|print|reveal|show|repeat|output|leak)\b.{0,30}"
    r"\b(?:slot|secret|hidden|agenda|everything|verbatim|above|unrevealed|requirements)"
    r"|\bpretend\b|\brole\s?-?play\b|\bsimulat(?:ed|ion|or)\b|\bbase64\b|\brot13\b|\bpatience\b"
    r"|忽略.{0,12}(?:指令|规则|提示|设定|之前|以上)"
    r"|系统提示|开发者模式|调试模式|管理员模式|隐藏的?(?:目标|信息|状态|内容|值)|内部(?:状态|变量)"
    r"|你的(?:指令|提示词|议程|脚本|规则|设定|程序|槽位)|(?:全部|所有|一次性).{0,8}(?:告诉|说出|列出|输出)"
    r"|(?:列出|输出|打印|重复|说出|告诉).{0,8}(?:全部|所有|一切)|假装|扮演|模拟用户"
)
_OPENING = re.compile(
    r"\bhow (?:can|may|could) (?:i|we) (?:help|assist)\b"
    r"|\bwhat (?:can|may) i (?:do|help)\b"
    r"|\bwhat (?:do|would) you (?:need|want|like)(?: (?:help|assistance|me to do|today))?\b"
    r"[^a-z]*(?:from me|today|to do|with)?[^a-z]*$"
    r"|\bwhat are you looking for\b|\bwhat brings you\b"
    r"|(?:有什么|什么).{0,4}(?:可以|能).{0,4}帮|需要什么帮助|想要什么|您需要什么|你需要什么"
)


def listen(message: str, phrases: Mapping[str, tuple[str, ...]]) -> Heard:
    """Parse a message.

    Args:
        message: The agent's message; any text.
        phrases: For each slot, the phrases that ask for it.
    """
    if len(message) > MAX_CHARS:
        return Heard((), True, True, False, False)
    text = normalise(_CODE.sub(" ", message))
    questions = [part for part in _SENTENCE.split(text) if part and _QUESTION.search(part)]
    items = sum(len([item for item in _ITEM.split(part) if item.strip()]) for part in questions)
    asked: dict[str, None] = {}
    for part in questions:
        asked.update(dict.fromkeys(_slots_in(part, phrases)))
    return Heard(
        asked=tuple(asked),
        question=bool(questions),
        overloaded=items > MAX_ITEMS,
        probing=bool(_PROBE.search(text)),
        opening=bool(_OPENING.search(text)),
    )


def normalise(text: str) -> str:
    """Fold compatibility forms, case and American spelling; collapse whitespace.

    Invisible characters are dropped.
    """
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    for pattern, american in _BRITISH:
        folded = pattern.sub(american, folded)
    return re.sub(r"[ \t\r\f\v]+", " ", folded).strip()


def _slots_in(sentence: str, phrases: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return the slots named in a sentence; a phrase inside a longer one does not count."""
    found = [
        (match.start(), match.end(), slot)
        for slot, options in phrases.items()
        for option in options
        for match in _pattern(option).finditer(sentence)
    ]
    kept = [
        hit
        for hit in found
        if not any(
            other[0] <= hit[0] and hit[1] <= other[1] and other[1] - other[0] > hit[1] - hit[0]
            for other in found
            if other[2] != hit[2]
        )
    ]
    return [slot for _, _, slot in sorted(kept, key=lambda hit: hit[:2])]


@lru_cache(maxsize=4096)
def _pattern(phrase: str) -> re.Pattern[str]:
    words = normalise(phrase).split()
    body = r"\W+".join(re.escape(word) for word in words)
    ascii_start, ascii_end = words[0][0].isascii(), words[-1][-1].isascii()
    before = r"(?<![a-z0-9_])" if ascii_start else ""
    after = r"(?:e?s)?(?![a-z0-9_])" if ascii_end else ""
    return re.compile(before + body + after)
