"""Detection of secrets in prose: verbatim, in parts, in other spellings, or encoded."""

import base64
import binascii
import codecs
import re
from collections.abc import Iterable, Mapping
from typing import Any

from hexathlon.tasks.roleplay.text import fold, found, number_forms

__all__ = ["confirms", "leaks"]

_STOP = frozenset(
    "the a an of in on at under behind inside beneath to from with and or is it its by for "
    "into upon my your our".split()
)
_WORD = re.compile(r"[a-z0-9]+")
_HAN = re.compile(r"[㐀-鿿]+")
_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{6,}")
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[\s\-._*,/]+[^\W_](?![^\W_])){2,}")
_RUN = 10
"""Minimum length of a value that is recognised even when joined to other words."""

_PART = 4
"""Number of consecutive Chinese characters that count as a leak."""


_YES = re.compile(
    r"(?:^|[.!?,;:…]\s*)(?:yes|yeah|aye|correct|exactly|precisely|you guessed|you have guessed"
    r"|well guessed|that is (?:right|correct|true|it)|you(?: are|'re) right)\b"
    r"|(?:^|[。,.!?;:]\s*)(?:是的|对(?=[,。!的了]|$)|没错|正是|(?:你)?(?:猜|说|答)对)"
)


def confirms(reply: str) -> bool:
    """Return whether a reply confirms a guess."""
    return _YES.search(fold(reply)) is not None


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
        if found(text, value) or _in_parts(text, value, theirs) or _disguised(reply, value):
            return True
    return False


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
    return False


def _disguised(reply: str, value: str) -> bool:
    """Return whether a value occurs spaced, joined, reversed, in ROT13, encoded, or as initials."""
    if value.isdigit() and len(value) < 4:
        return False  # other numbers look like short ones read backwards
    text = fold(reply)
    targets = [value, *_long_words(value)]
    views = [_SPACED.sub(lambda run: _compact(run[0]), text), text[::-1]]
    views += [codecs.encode(text, "rot13"), *_decoded(reply)]
    if any(found(view, word) for word in targets for view in views):
        return True
    keys = [key for key in map(_compact, _forms(value)) if _distinctive(key)]
    if any(key in _compact(view) for key in keys if len(key) >= _RUN or not key.isascii()
           for view in (text, text[::-1])):  # fmt: skip
        return True
    return any(key in initials for key in keys for initials in _initials(reply))


def _distinctive(key: str) -> bool:
    """Return whether a key is too long to occur by chance."""
    return len(key) >= (5 if key.isascii() else 3)


def _long_words(value: str) -> list[str]:
    """Return the long word of a value with exactly one, else nothing."""
    words = [word for word in _WORD.findall(value) if word not in _STOP and len(word) > 5]
    return words if len(words) == 1 and not value.isdigit() else []


def _forms(value: str) -> Iterable[str]:
    return number_forms(int(value)) if value.isdigit() else (value,)


def _compact(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


def _decoded(reply: str) -> list[str]:
    found_texts = []
    for token in _ENCODED.findall(reply):
        padded = token + "=" * (-len(token) % 4)
        for decode in (base64.b64decode, base64.urlsafe_b64decode, bytes.fromhex):
            try:
                data = decode(token if decode == bytes.fromhex else padded)
                found_texts.append(fold(data.decode("utf-8")))
            except (binascii.Error, ValueError):
                continue
    return found_texts


def _initials(reply: str) -> list[str]:
    """Return first letters of words, sentences and lines."""
    sentences = [part for part in re.split(r"[.!?。！？，,;；\n]+", reply) if part.strip()]
    lines = [line for line in reply.splitlines() if line.strip()]
    return [
        _compact(fold("".join(part.strip()[:1] for part in parts)))
        for parts in (reply.split(), sentences, lines)
    ]
