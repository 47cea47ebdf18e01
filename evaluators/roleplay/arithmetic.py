"""Values of the sums in a text: `twice 3110`, `7 thousand, 6 hundred and 9 tens`, `10-3`."""

import re
from collections.abc import Iterator
from functools import lru_cache

from hexathlon.tasks.roleplay.numerals import numbers, plain_digits

__all__ = ["computed", "with_values"]

_OPERATORS = tuple(
    (re.compile(pattern), sign)
    for pattern, sign in (
        (r"\b(?:plus|added to)\b|加上?", "+"),
        (r"\b(?:minus|less|take away)\b|减去?|−", "-"),
        (r"\b(?:times|multiplied by)\b|乘以?|×|(?<=\d)\s*[x*]\s*(?=\d)", "*"),
        (r"\b(?:divided by|over)\b|除以|÷", "/"),
    )
)
_SUM = re.compile(r"\d+(?:\s*[+\-*/]\s*\d+)+")
_PLACES = re.compile(r"(\d+) (tens|ones|units|hundreds|thousands)\b|(\d)个(千|百|十|一)")
_SCALES = {
    "tens": 10, "ones": 1, "units": 1, "hundreds": 100, "thousands": 1000,
    "千": 1000, "百": 100, "十": 10, "一": 1,
}  # fmt: skip
_MOST = 10**9
"""Larger values are no code; Python refuses to print very large ones."""

_TY = dict(
    zip(
        "two three four five six seven eight nine".split(),
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        strict=True,
    )
)
_TENS = re.compile(rf"\b({'|'.join(_TY)}) tens\b", re.IGNORECASE)
_DECIMAL = re.compile(r"(?<!\d)(\d{1,6})[.,](\d{1,3}) ?(k|thousand|hundred|千|百)(?![a-z])")
_SHORT = re.compile(r"([一二三四五六七八九两])(千|百)([一二三四五六七八九])(?![十百千万])")
_DIGITS = {letter: str(value) for value, letter in enumerate("零一二三四五六七八九")} | {"两": "2"}


@lru_cache(maxsize=1024)
def with_values(text: str) -> str:
    """Return a text with its numbers in digits and its sums worked out.

    >>> with_values("five plus two, then 10 - 4")
    '7, then 6'
    """
    plain = _in_digits(_TENS.sub(lambda m: _TY[m[1].lower()], plain_digits(text)))
    for pattern, sign in _OPERATORS:
        plain = pattern.sub(sign, plain)
    return _SUM.sub(lambda match: str(_value(match[0])), plain)


def computed(text: str) -> Iterator[int]:
    """Yield the values that a text works out: sums, decimals of a scale, and places added up."""
    plain = plain_digits(text).lower()
    for match in _DECIMAL.finditer(plain):
        scale = 100 if match[3] in ("hundred", "百") else 1000
        yield round(float(f"{match[1]}.{match[2]}") * scale)
    for match in _SHORT.finditer(plain):  # 七千七 is 7700
        scale = 1000 if match[2] == "千" else 100
        yield int(_DIGITS[match[1]]) * scale + int(_DIGITS[match[3]]) * scale // 10
    worked = with_values(text)
    yield from (int(value) for value in re.findall(r"\d+", worked) if len(value) < 10)
    places = [(m[1] or m[3], m[2] or m[4]) for m in _PLACES.finditer(worked)]
    rest = re.findall(r"\d+", _PLACES.sub(" ", worked))
    if places and all(len(digits) < 10 for digits in (*rest, *(count for count, _ in places))):
        yield sum(int(count) * _SCALES[scale] for count, scale in places) + sum(map(int, rest))


def _in_digits(text: str) -> str:
    """Return text with every number as decimal digits."""
    parts, end = [], 0
    for number in numbers(text):
        parts += [text[end : number.start], str(number.value)]
        end = number.end
    return "".join([*parts, text[end:]]).lower()


def _value(expression: str) -> int:
    """Return the value of a sum of whole numbers, products first; 0 for one without a value."""
    terms: list[int] = []
    tokens = re.findall(r"\d+|[+\-*/]", expression)
    sign = "+"
    for token in tokens:
        if not token.isdigit():
            sign = token
        elif sign in "+-":
            terms.append(int(token[:9]) * (1 if sign == "+" else -1))
        elif sign == "*":
            terms[-1] = min(terms[-1] * int(token[:9]), _MOST)
        else:
            divisor = int(token[:9])
            terms[-1] = terms[-1] // divisor if divisor else 0
    return max(0, min(sum(terms), _MOST))
