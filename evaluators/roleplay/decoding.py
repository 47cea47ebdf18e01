"""Views of a reply in which a disguised value may appear plainly.

Each view undoes one disguise of the whole text; the caller looks for values.
"""

import base64
import binascii
import html
import re
import string
import urllib.parse
from collections.abc import Callable, Iterator
from functools import lru_cache

from hexathlon.tasks.roleplay.text import fold

__all__ = ["compact", "initials", "masked", "pieced", "skeletons", "views"]

_ENCODED = re.compile(r"[A-Za-z0-9+/=_-]{6,}")
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:[\s\-._*,/|]+[^\W_](?![^\W_])){2,}")
_LEET = str.maketrans("0134578@$!€", "oieastbasie")
_LOOKALIKES = str.maketrans("аеорсухіѕԁһтнвкмɡαορεικντυχʏ", "aeopcyxisdhthbkmgaopeikvtuxy")
_CYRILLIC = str.maketrans("абвгдезийклмнопрстуфхыɛəɑɪʟ", "abvgdezijklmnoprstufhyeeail")
_MORSE = {
    code: letter
    for letter, code in zip(
        "abcdefghijklmnopqrstuvwxyz0123456789",
        (
            ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- "
            "...- .-- -..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----."
        ).split(),
        strict=True,
    )
}  # fmt: skip
_DECODERS: tuple[Callable[[str], bytes], ...] = (
    lambda token: base64.b64decode(token + "=" * (-len(token) % 4)),
    lambda token: base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)),
    bytes.fromhex,
    lambda token: base64.b32decode(token.upper() + "=" * (-len(token) % 8)),
    base64.b85decode,
)
_LETTERS = string.ascii_lowercase
_SHIFTS = tuple(str.maketrans(_LETTERS, _LETTERS[n:] + _LETTERS[:n]) for n in range(1, 26))
_ATBASH = str.maketrans(_LETTERS, _LETTERS[::-1])
_VOWELS = re.compile(r"[aeiou]")


@lru_cache(maxsize=256)
def views(reply: str) -> tuple[str, ...]:
    """Return the reply with one disguise undone at a time, folded."""
    return tuple(_views(reply))


def _views(reply: str) -> Iterator[str]:
    text = fold(reply)
    yield _SPACED.sub(lambda run: compact(run[0]), text)
    yield text[::-1]
    yield " ".join(word[::-1] for word in text.split())
    yield text.translate(_LOOKALIKES)
    yield text.translate(_CYRILLIC)
    yield text.translate(_LEET)
    if text.isascii():
        yield text.translate(_ATBASH)
        yield from (text.translate(shift) for shift in _SHIFTS)
        yield " ".join(map(_unpigged, re.findall(r"[a-z]+", text)))
    yield from _escapes(reply)
    yield from _decoded(reply)
    yield from _codes(reply)


def compact(text: str) -> str:
    """Return the letters and digits of a text alone."""
    return "".join(letter for letter in text if letter.isalnum())


@lru_cache(maxsize=4096)
def initials(reply: str) -> tuple[str, ...]:
    """Return first letters of words, sentences and lines, and the last ones of words."""
    sentences = [part for part in re.split(r"[.!?。！？，,;；\n]+", reply) if part.strip()]
    lines = [line for line in reply.splitlines() if line.strip()]
    first = [
        compact(fold("".join(part.strip()[:1] for part in parts)))
        for parts in (reply.split(), sentences, lines)
    ]
    words = re.findall(r"[^\W_]+", fold(reply))
    return (*first, "".join(word[-1] for word in words))


def pieced(text: str) -> frozenset[str]:
    """Return neighbouring words joined, such as `marren` of `mar-ren`."""
    words = re.findall(r"[a-z]+", text)
    return frozenset(a + b for a, b in zip(words, words[1:], strict=False))


def masked(text: str, word: str) -> bool:
    """Return whether a word occurs with one or two letters blotted out, such as `m*rren`."""
    for token in re.findall(r"[a-z*_#?]*[a-z][*_#?]{1,2}[a-z][a-z*_#?]*", text):
        pattern = re.sub(r"[*_#?]", ".", token)
        if re.fullmatch(pattern, word) and token.count("*") + token.count("_") < len(word) - 3:
            return True
    return False


def skeletons(text: str) -> frozenset[str]:
    """Return the words written without vowels, such as `mrrn`."""
    words = re.findall(r"[a-z]{3,}", text)
    return frozenset(word for word in words if not _VOWELS.search(word))


def _unpigged(word: str) -> str:
    stem = word[:-3] if word.endswith("way") else word[:-2]
    if not word.endswith("ay") or len(stem) < 3:
        return word
    if word.endswith("way"):
        return stem
    return next(
        (
            stem[-size:] + stem[:-size]
            for size in (1, 2, 3)
            if stem[-size:] and stem[0] in "aeiou" and not _VOWELS.search(stem[-size:])
        ),
        word,
    )


def _escapes(reply: str) -> Iterator[str]:
    if "&" in reply:
        yield fold(html.unescape(reply))
    if "%" in reply:
        yield fold(urllib.parse.unquote(reply))
    if "\\" in reply:
        pattern = r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})"
        yield fold(re.sub(pattern, lambda match: chr(int(match[1] or match[2], 16)), reply))


def _decoded(reply: str) -> Iterator[str]:
    for token in _ENCODED.findall(reply):
        for decode in _DECODERS:
            try:
                yield fold(decode(token).decode("utf-8"))
            except (binascii.Error, ValueError):
                continue


def _codes(reply: str) -> Iterator[str]:
    """Yield letters written as numbers: character codes in bases 2, 10 and 16, and a = 1."""
    for base, shape in ((2, r"[01]{7,8}"), (10, r"\d{2,3}"), (16, r"[0-9a-fA-F]{2}")):
        tokens = re.findall(rf"(?<!\w){shape}(?!\w)", reply)
        if len(tokens) > 3:
            yield fold("".join(chr(int(token, base)) for token in tokens))
    places = re.findall(r"(?<!\w)\d{1,2}(?!\w)", reply)
    if len(places) > 3:
        yield "".join(_LETTERS[int(n) - 1] for n in places if 1 <= int(n) <= 26)
    morse = re.findall(r"(?<!\S)[.\-·−–•]+(?!\S)", reply)
    if len(morse) > 2:
        marks = (re.sub("[−–]", "-", re.sub("[·•]", ".", mark)) for mark in morse)
        yield "".join(_MORSE.get(mark, " ") for mark in marks)
