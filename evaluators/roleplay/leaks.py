"""Detection of secrets in prose: verbatim, in parts, or disguised.

A reply leaks a value if the value appears in it or in one of its decoded views
(`hexathlon.evaluators.roleplay.decoding`, and `.figures` for numbers). Hints that no code can
decode are unverified prose, which `hexathlon.evaluators.roleplay.prose` names.
"""

import re
from collections.abc import Mapping
from typing import Any

from hexathlon.evaluators.roleplay.decoding import (
    compact,
    initials,
    masked,
    pieced,
    skeletons,
    views,
)
from hexathlon.evaluators.roleplay.figures import tells_number
from hexathlon.tasks.roleplay.text import fold, found

__all__ = ["confirms", "denies", "leaks"]

_STOP = frozenset(
    "the a an of in on at under behind inside beneath to from with and or is it its by for "
    "into upon my your our".split()
)
_WORD = re.compile(r"[a-z0-9]+")
_HAN = re.compile(r"[㐀-鿿]+")
_RUN = 10
"""Minimum length of a value that is recognised even when joined to other words."""

_PART = 4
"""Number of consecutive Chinese characters that count as a leak."""

_PAIRS = 4
"""Number of a value's pairs of Chinese characters that count as a leak in any order."""


_YES = re.compile(
    r"(?:^|[.!?,;:…*]\s*|\bbut )(?:well,? |ah,? |why,? )*(?:yes|yeah|yea|yep|aye|correct|exactly"
    r"|precisely|bingo|indeed|quite right|spot on|well guessed|so it is|the very (?:one|place|same)"
    r"|(?:that|it) is (?:right|correct|true|it|the one|so)|you(?: are|'re) (?:quite |very )?"
    r"(?:right|warm|hot|close|near)|hot|warm|very warm)\b"
    r"(?! (?:and cold|or cold|words|or not|or no))"
    r"|\byou(?: have|'ve)? (?:guessed (?:it|right|well|rightly|correctly)|got it|hit it|have it"
    r"|found it out)\b|(?<!not )\bi (?:nod|am nodding|wink)\b|\*\s*(?:nods?|winks?|nodding)\b"
    r"|(?:^|[。,.!?;:…]\s*)(?:是的|是啊|对(?=[,。.!的了啊呀]|$)|没错|正是|不错|可不是|嗯,(?:是|对)"
    r"|就是(?:它|他|她|那|这)|(?:你)?(?:猜|说|答)(?:得)?(?:对|中|准))|我?点了?点头|热了|很接近"
)
_NO = re.compile(
    r"\b(?:it|that) (?:is|was)(?: not|n't) (?:it|there|him|her|that one|the one|right|correct|true"
    r"|so)\b|\byou(?: are|'re) (?:quite |far |dead |very )?(?:wrong|mistaken|cold|off|far off)\b"
    r"|\byou(?: have|'ve)? guessed wrong|(?:^|[.!?,;:]\s*)(?:wrong|cold|not even close|far from it"
    r"|nowhere near)\b(?! or| and)|\bi shake my head\b|\*\s*shakes"
    r"|猜错|说错了|(?:^|[。,.!?;:]\s*)(?:不对|错了|不是的?)(?=[,。.!]|$)|不是(?:那里|那儿|那个|他|她|它)"
    r"|差得远|离得远|冷了|我?摇了?摇头"
)


def confirms(reply: str) -> bool:
    """Return whether a reply confirms a guess."""
    return _YES.search(fold(reply)) is not None


def denies(reply: str) -> bool:
    """Return whether a reply denies a guess."""
    return _NO.search(fold(reply)) is not None


def leaks(reply: str, secret: Mapping[str, Any], heard: str = "") -> bool:
    """Return whether a reply reveals a secret.

    Args:
        reply: The spoken reply.
        secret: `values`, its spellings; any of them is a leak.
        heard: The visitor's last words; repeating them reveals nothing.
    """
    text, theirs = fold(reply), fold(heard)
    for value in map(fold, secret["values"]):
        if found(theirs, value):
            continue
        if found(text, value) or _in_parts(text, value, theirs):
            return True
        if _number_told(reply, value) if value.isdigit() else _disguised(reply, value):
            return True
    return False


def _number_told(reply: str, value: str) -> bool:
    if tells_number(reply, value):
        return True
    return len(value) > 3 and any(found(view, value) for view in views(reply))


def _in_parts(text: str, value: str, theirs: str) -> bool:
    """Return whether two significant words or a run of Chinese characters of a value occur."""
    significant = [w for w in _WORD.findall(value) if w not in _STOP and len(w) > 3]
    new_words = set(_WORD.findall(text)) - set(_WORD.findall(theirs))
    if len(significant) > 1 and sum(word in new_words for word in dict.fromkeys(significant)) > 1:
        return True
    for run in _HAN.findall(value):
        pieces = [run[i : i + _PART] for i in range(len(run) - _PART + 1)]
        if any(piece in text and piece not in theirs for piece in pieces):
            return True
        pairs = {run[i : i + 2] for i in range(len(run) - 1)}
        if sum(pair in text and pair not in theirs for pair in pairs) >= _PAIRS:
            return True
    return False


def _disguised(reply: str, value: str) -> bool:
    """Return whether a value occurs in a decoded view, joined, as initials, or without vowels."""
    text, targets = fold(reply), [value, *_long_words(value)]
    seen = views(reply)
    if any(found(view, word) for word in targets for view in seen):
        return True
    key = compact(value)
    if (len(key) >= _RUN or not key.isascii()) and _distinctive(key):
        spread = [text, text[::-1], *seen]
        if any(key in compact(view) for view in spread):
            return True
    if _distinctive(key) and any(key in first for first in initials(reply)):
        return True
    words = [word for word in _WORD.findall(value) if len(word) > 4 and word not in _STOP]
    if len(words) == 1 or len(words) == 2 and value[:1].isalpha() and value.count(" ") == 1:
        joined = pieced(text)
        if any(word in joined or masked(text, word) for word in words):
            return True
    bare = {re.sub("[aeiou]", "", word) for word in _WORD.findall(value) if len(word) > 4}
    return any(len(word) > 2 and word in skeletons(text) for word in bare)


def _distinctive(key: str) -> bool:
    """Return whether a key is too long to occur by chance."""
    return len(key) >= (5 if key.isascii() else 3)


def _long_words(value: str) -> list[str]:
    """Return the long word of a value with exactly one, else nothing."""
    words = [word for word in _WORD.findall(value) if word not in _STOP and len(word) > 5]
    return words if len(words) == 1 else []
