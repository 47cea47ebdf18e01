"""Numbers in words, and matching of values in English and Chinese prose.

After folding, matching is by whole words in English and by substring in Chinese.
"""

import re
import unicodedata
from functools import lru_cache

from hexathlon.tasks.bilingual import Language

__all__ = [
    "fold",
    "denotes",
    "found",
    "number_forms",
    "number_words",
    "same_value",
]

_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_BLANKS = re.compile(r"\s+")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "「": '"', "」": '"'})
_ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORD = "|".join([*_ONES, *_TENS, "hundred", "thousand"])
_RUN = re.compile(
    rf"(?<![a-z0-9-])(?:a (?=hundred|thousand))?(?:{_WORD})"
    rf"(?:(?:-| and | )(?:{_WORD}))*(?![a-z0-9])"
)
_DIGITS = "零一二三四五六七八九"


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Normalise compatibility forms, case, quotes, invisible characters and white space."""
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_QUOTES).casefold()
    return _BLANKS.sub(" ", folded).strip()


def number_words(number: int, language: Language) -> str:
    """Write an integer from 0 to 9999 in words.

    >>> number_words(1042, "en"), number_words(1042, "zh")
    ('one thousand and forty-two', '一千零四十二')
    """
    if not 0 <= number <= 9999:
        raise ValueError(f"expected a number from 0 to 9999, got {number}")
    return _english(number) if language == "en" else _chinese(number)


def _english(number: int) -> str:
    if number < 20:
        return _ONES[number]
    if number < 100:
        rest = number % 10
        return _TENS[number // 10] + (f"-{_ONES[rest]}" if rest else "")
    unit, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    head, rest = divmod(number, unit)
    joiner = " and " if 0 < rest < 100 else " "
    return f"{_english(head)} {name}" + (joiner + _english(rest) if rest else "")


def _chinese(number: int) -> str:
    if number < 10:
        return _DIGITS[number]
    text, gap = "", False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            text += ("零" if gap and text else "") + _DIGITS[digit] + name
            gap = False
        else:
            gap = True
    return text.removeprefix("一") if 10 <= number < 20 else text


@lru_cache(maxsize=1024)
def number_forms(number: int) -> tuple[str, ...]:
    """Return the folded spellings of a number, in both languages."""
    words = _english(number)
    chinese = _chinese(number)
    forms = [
        str(number), words, words.replace("-", " "), words.replace(" and ", " "),
        words.replace(" and ", " ").replace("-", " "), chinese,
        "".join(_DIGITS[int(digit)] for digit in str(number)),
        chinese.replace("二", "两", 1) if chinese.startswith("二") and number != 20 else chinese,
    ]  # fmt: skip
    if 1000 < number < 2000 and number % 100:
        forms += [f"{_english(number // 100)} {_english(number % 100)}"]
    if number >= 1000:
        forms.append(f"{number:,}")
    return tuple(dict.fromkeys(fold(form) for form in forms))


def found(reply: str, value: str) -> bool:
    """Whether prose mentions a value: numbers in digits or words, other values verbatim."""
    text = fold(reply)
    value = _ARTICLE.sub("", value)
    if value.isascii() and value.isdigit():
        return _names_number(text, int(value))
    return _names(text, fold(value))


def _names_number(text: str, number: int) -> bool:
    """Whether folded text contains a number, in digits or as a complete run of number words."""
    literal, plain = _sought(number)
    return any(_names(text, form) for form in literal) or not plain.isdisjoint(_runs(text))


@lru_cache(maxsize=1024)
def _sought(number: int) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the forms of a number that occur verbatim, and its words without joints."""
    forms = number_forms(number)
    literal = tuple(form for form in forms if not form[0].isalpha() or not form.isascii())
    return literal, frozenset(map(_plain, forms))


@lru_cache(maxsize=4096)
def _runs(text: str) -> frozenset[str]:
    """Return the complete runs of number words in folded text."""
    return frozenset(_plain(run[0]) for run in _RUN.finditer(text))


def _plain(words: str) -> str:
    text = words.replace("-", " ").replace(" and ", " ")
    return re.sub(r"^a (?=hundred|thousand)", "one ", text)


def _names(text: str, wanted: str) -> bool:
    return bool(wanted) and _pattern(wanted).search(text) is not None


@lru_cache(maxsize=8192)
def _pattern(wanted: str) -> re.Pattern[str]:
    before = r"(?<![a-z0-9])" if wanted[0].isascii() else ""
    after = r"(?![a-z0-9])" if wanted[-1].isascii() else ""
    if wanted[0].isdigit():
        before = r"(?<![a-z0-9])(?<!\d[.,])"
    if wanted[0] in _DIGITS + "十百千两" and wanted[-1] in _DIGITS + "十百千":
        before, after = f"(?<![{_DIGITS}十百千两])", f"(?![{_DIGITS}十百千])"
    return re.compile(before + re.escape(wanted) + after)


_TRIM = re.compile(
    r"^(?:the|a|an|in|at|year|about|my|exactly|is)\s+|^第|^公元|^[\"'《]+|[.。!！?？,，;；\"'》]+$"
    r"|(?:\s(?:years|year|years old|winters))$|(?:年|岁|号|个|名)$"
)
_UNIT = re.compile(r"^(\d{1,4})\s*[a-z一-鿿]{0,12}$")


def same_value(given: str, wanted: str) -> bool:
    """Whether a typed value equals the expected one, ignoring articles, quotes and units."""
    return _bare(given) == _bare(wanted)


def denotes(given: str, wanted: str) -> bool:
    """Whether a typed value equals the expected one, or contains it among other words."""
    return same_value(given, wanted) or found(given, wanted)


@lru_cache(maxsize=8192)
def _bare(text: str) -> str:
    bare = fold(text)
    for _ in range(3):
        bare = _TRIM.sub("", bare).strip()
    number = _UNIT.match(bare)
    if number:
        return str(int(number[1]))
    return str(_numbers().get(bare, bare))


@lru_cache(maxsize=1)
def _numbers() -> dict[str, int]:
    """Return all spellings of the numbers in use, so that number words parse as numbers."""
    table: dict[str, int] = {}
    for value in range(1, 2100):
        for form in number_forms(value):
            table.setdefault(form, value)
    return table
