"""Numbers in text, in every form that English and Chinese writers use.

`numbers` reads digits of any script, keycaps, words, compounds ("eighty thirty-six"), ordinals,
formal Chinese figures (柒佰), bases and Roman numerals. What a number means is left to the caller.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Number", "numbers", "plain_digits"]


class Number(NamedTuple):
    """One number of a text."""

    value: int
    start: int
    end: int
    """Its place in `plain_digits(text)`."""

    digits: str
    """How it reads digit by digit: `2020` for "twenty twenty"."""


_UNITS: Mapping[str, int] = {
    word: value
    for value, words in enumerate(
        (
            "zero nought naught nil cipher", "one", "two", "three", "four", "five", "six", "seven",
            "eight", "nine niner", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen",
            "sixteen", "seventeen", "eighteen", "nineteen",
        )
    )
    for word in words.split()
}  # fmt: skip
_ORDINALS: Mapping[str, int] = {
    word: value
    for value, word in enumerate(
        "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()
    )
}
_TENS: Mapping[str, int] = {
    word: 10 * value
    for value, words in enumerate(
        (
            "twenty twentieth", "thirty thirtieth", "forty fortieth fourty", "fifty fiftieth",
            "sixty sixtieth", "seventy seventieth", "eighty eightieth", "ninety ninetieth",
        ),
        2,
    )
    for word in words.split()
}  # fmt: skip
_SCALES: Mapping[str, int] = {
    "hundred": 100, "hundreds": 100, "hundredth": 100, "thousand": 1000, "thousands": 1000,
    "thousandth": 1000, "dozen": 12, "dozens": 12, "score": 20, "gross": 144,
}  # fmt: skip
_SMALL = {**_UNITS, **_ORDINALS}
_WORDS = sorted([*_SMALL, *_TENS, *_SCALES], key=len, reverse=True)
_ANY = "|".join(_WORDS)
_ENGLISH = re.compile(rf"(?<![a-z])(?:{_ANY})(?:(?:[\s-]+|, | and )(?:and )?(?:{_ANY}))*(?![a-z])")
_TOKEN = re.compile(r"[a-z]+")
_ARABIC = re.compile(r"(?<![\w])\d{1,3}(?:[,'_ ]\d{3})+(?!\d)|\d+")
_BASED = re.compile(r"0x([0-9a-f]+)|0b([01]+)|0o([0-7]+)")
_ROMAN = re.compile(
    r"(?<![^\W_])(?=[MDCLXVI])(M{0,9}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4}))"
    r"(?![^\W_])"
)
_ROMAN_VALUES = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_FIGURES = {
    **dict(zip("零一二三四五六七八九", range(10), strict=True)),
    **dict(zip("〇壹贰叁肆伍陆柒捌玖", range(10), strict=True)),
    "○": 0, "貳": 2, "參": 3, "陸": 6, "两": 2, "兩": 2, "幺": 1, "弌": 1, "弍": 2, "弎": 3,
}  # fmt: skip
_PLACES = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000, "廿": 20, "卅": 30}
_CHINESE = re.compile(f"[{''.join(_FIGURES)}{''.join(_PLACES)}]+")
_SCALED = re.compile(r" ?(thousand|hundred|dozen|score|千|百|十)(?![a-z])", re.IGNORECASE)
_ENCLOSING = re.compile("[\ufe0e\ufe0f\u20dd-\u20e4]")


@lru_cache(maxsize=4096)
def plain_digits(text: str) -> str:
    """Return text with digits of every script as ASCII, and without keycap marks.

    >>> plain_digits("7️⃣٦④𝟗")
    '7649'
    """
    return "".join(map(_ascii_digit, _ENCLOSING.sub("", text)))


def _ascii_digit(letter: str) -> str:
    if letter.isascii() or "㐀" <= letter <= "鿿":
        return letter
    value = unicodedata.digit(letter, None)
    return unicodedata.normalize("NFKC", letter) if value is None else str(value)


@lru_cache(maxsize=4096)
def numbers(text: str) -> tuple[Number, ...]:
    """Return the numbers of a text in order.

    >>> [n.value for n in numbers("seventy-six ninety-four, 柒仟六百, MDX or 0x1f")]
    [76, 94, 7600, 1510, 31]
    """
    plain = plain_digits(text)
    found = [*_based(plain), *_roman(plain), *_arabic(plain), *_english(plain), *_chinese(plain)]
    kept: list[Number] = []
    for number in sorted(found, key=lambda n: (n.start, n.start - n.end)):
        if not kept or number.start >= kept[-1].end:
            kept.append(number)
    return tuple(kept)


def _based(text: str) -> Iterator[Number]:
    for match in _BASED.finditer(text.lower()):
        value = int(match[0], 0)
        yield Number(value, match.start(), match.end(), str(value))


def _roman(text: str) -> Iterator[Number]:
    last = -9
    for match in _ROMAN.finditer(text):
        if match[0] == "I" and match.start() - last > 2:  # the pronoun
            continue
        last = match.end()
        values = [_ROMAN_VALUES[letter] for letter in match[0]]
        pairs = zip(values, [*values[1:], 0], strict=True)
        value = sum(-one if one < after else one for one, after in pairs)
        yield Number(value, match.start(), match.end(), str(value))


def _arabic(text: str) -> Iterator[Number]:
    for match in _ARABIC.finditer(text):
        digits = re.sub(r"\D", "", match[0])[:18]
        scale = _SCALED.match(text, match.end())
        if scale:
            value = int(digits) * {**_SCALES, **_PLACES}[scale[1].lower()]
            yield Number(value, match.start(), scale.end(), str(value))
        else:
            yield Number(int(digits), match.start(), match.end(), digits)


def _english(text: str) -> Iterator[Number]:
    lowered = text.lower()
    if len(lowered) != len(text):
        return
    for run in _ENGLISH.finditer(lowered):
        words = [
            (word[0], run.start() + word.start(), run.start() + word.end())
            for word in _TOKEN.finditer(run[0])
            if word[0] != "and"
        ]
        while words:
            count, value = _compound([word for word, _, _ in words])
            yield Number(value, words[0][1], words[count - 1][2], str(value))
            words = words[count:]


def _compound(words: list[str]) -> tuple[int, int]:
    """Return how many leading words make one number, and the number."""
    total, part, count, last = 0, 0, 0, 10_000
    for word in words:
        if word in _SCALES:
            scale = _SCALES[word]
            if count and not 0 < part < 1000:
                break
            if scale == 1000:
                total, part = total + max(part, 1) * 1000, 0
            else:
                part = max(part, 1) * scale
            last = scale
        else:
            value = _SMALL.get(word, _TENS.get(word, 0))
            size = 10 if word in _TENS else 1
            fits = last > 10 and size == 10 or last >= 100 and value < 100
            if count and not (fits or (last == 10 and 0 < value < 10)):
                break
            part, last = part + value, size
        count += 1
    return count, total + part


def _chinese(text: str) -> Iterator[Number]:
    for match in _CHINESE.finditer(text):
        run = match[0]
        if any(letter in _PLACES for letter in run):
            yield from _placed(run, match.start())
        else:
            digits = "".join(str(_FIGURES[letter]) for letter in run)
            yield Number(int(digits), match.start(), match.end(), digits)


def _placed(run: str, offset: int) -> Iterator[Number]:
    """Read figures with places, such as 四百三十七; a place that does not fall starts anew."""
    start, total, figure, last = 0, 0, -1, 10_000
    for index, letter in enumerate(run):
        if letter in _PLACES:
            place = _PLACES[letter]
            unit = 10 if letter in "廿卅" else place
            if unit >= last:
                end = index - (figure >= 0)
                yield Number(total, offset + start, offset + end, str(total))
                start, total = end, 0
            factor = place // unit if letter in "廿卅" else max(figure, 1)
            total, figure, last = total + factor * unit, -1, unit
        else:
            if figure > 0 or (figure == 0 and last <= 10 and total):
                total += figure
                yield Number(total, offset + start, offset + index, str(total))
                start, total, last = index, 0, 10_000
            figure = _FIGURES[letter]
    total += max(figure, 0)
    yield Number(total, offset + start, offset + len(run), str(total))
