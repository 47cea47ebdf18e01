"""Digits spelled one after the other: which digit each word may stand for, and runs of them.

A word may be a digit's name in one of several languages, nearly one (`sevn`), one with letters
blotted out (`se7en`), or one read backwards. A single word proves nothing; a run that spells a
whole code does.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

__all__ = ["FOREIGN", "bare", "spells"]

FOREIGN: Mapping[str, int] = {
    word: digit
    for words in (
        "ling yi er san si wu liu qi ba jiu", "dong yao er san si wu liu guai ba gou",
        "zero un deux trois quatre cinq six sept huit neuf",
        "null eins zwei drei vier funf sechs sieben acht neun",
        "cero uno dos tres cuatro cinco seis siete ocho nueve",
        "zero uno due tre quattro cinque sei sette otto nove",
        "nihil unus duo tres quattuor quinque sex septem octo novem",
        "rei ichi ni san yon go roku nana hachi kyu",
        "zero ichi ni san shi go roku shichi hachi ku",
        "nol odin dva tri chetyre pyat shest sem vosem devyat",
        "ноль один два три четыре пять шесть семь восемь девять",
        "zero um dois tres quatro cinco seis sete oito nove",
        "nul een twee drie vier vijf zes zeven acht negen",
        "oh won too tree fower fife sax seffen ate niner",
        "owe wun to threw fore fiver sicks seben ait nein",
    )
    for digit, word in enumerate(words.split())
}  # fmt: skip
_ENGLISH = "zero one two three four five six seven eight nine".split()
_NOTHING = frozenset("o oh ought aught nought naught nil love none zilch cipher zip".split())
_CHINESE: Mapping[str, int] = {
    letter: value
    for letters in ("零一二三四五六七八九", "〇幺两叁肆伍陆拐捌勾", "洞壹贰参亖伍陸柒捌玖")
    for value, letter in enumerate(letters)
}
_TOKEN = re.compile(r"[㐀-鿿]|\d|[^\W\d_][^\W_]*|[^\W_]+")
_DOUBLED = re.compile(r"\b(double|twin|triple|treble) ([a-z]+|\d)\b")
_SEVERAL = re.compile(
    r"\b(two|three|four|2|3|4) (zero|o|nought|naught|one|two|three|four|five|sixe?|seven|eight"
    r"|nine|[0-9])'?(?:e?s)\b|([两二三四])个([零一二三四五六七八九〇])"
)
_COUNTS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "2": 2,
    "3": 3,
    "4": 4,
    "两": 2,
    "二": 2,
    "三": 3,
    "四": 4,
}
_HALF_DOZEN = re.compile(r"\bhalf[ -]a?[ -]?dozen\b|半打")


def spells(text: str, code: str) -> bool:
    """Return whether neighbouring words, digits or characters spell a code, forwards or backwards.

    Args:
        text: The folded text.
        code: Digits, at least four of them; shorter ones occur by chance.
    """
    text = _HALF_DOZEN.sub("6", _SEVERAL.sub(_several, _DOUBLED.sub(_doubled, text)))
    tokens = [digits_of(token) for token in _TOKEN.findall(text) if token not in ("and", "then")]
    wanted = [int(digit) for digit in code]
    for order in (wanted, wanted[::-1]):
        for start in range(len(tokens) - len(order) + 1):
            run = tokens[start : start + len(order)]
            if all(digit in options for digit, options in zip(order, run, strict=True)):
                return True
    return any(_joined(code).search(letters) for letters in _compacted(text))


@lru_cache(maxsize=16384)
def digits_of(token: str) -> frozenset[int]:
    """Return the digits that a folded word may stand for."""
    if token.isdecimal():  # `isdigit` is also true for `²`, which `int` rejects
        return frozenset({int(token)}) if len(token) == 1 else frozenset()
    if token in _CHINESE:
        return frozenset({_CHINESE[token]})
    if token in _NOTHING:
        return frozenset({0})
    word = bare(token)
    exact = [FOREIGN[form] for form in (word, token) if form in FOREIGN]
    near = [
        value
        for value, name in enumerate(_ENGLISH)
        for form in (word, word[::-1])
        if form == name or len(form) > 2 and _near(form, name) or _blotted(form, name)
    ]
    return frozenset((*exact, *near))


@lru_cache(maxsize=8192)
def bare(word: str) -> str:
    """Return a word in lower case without accents."""
    decomposed = unicodedata.normalize("NFD", word.lower())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _near(form: str, name: str) -> bool:
    """Return whether one letter is missing, doubled, swapped or wrong."""
    if abs(len(form) - len(name)) > 1 or form[0] != name[0]:
        return False
    if len(form) == len(name):
        places = [i for i, (a, b) in enumerate(zip(form, name, strict=True)) if a != b]
        swapped = len(places) == 2 and places[1] == places[0] + 1
        return len(places) <= 1 or swapped and sorted(form) == sorted(name)
    longer, shorter = (form, name) if len(form) > len(name) else (name, form)
    return any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))


def _blotted(form: str, name: str) -> bool:
    """Return whether a digit or a mark stands in place of a letter, such as `se7en`."""
    if len(form) != len(name) or form.isalpha():
        return False
    pairs = list(zip(form, name, strict=True))
    return all(a == b or not a.isalpha() for a, b in pairs) and sum(a == b for a, b in pairs) > 1


def _doubled(match: re.Match[str]) -> str:
    times = 2 if match[1] in ("double", "twin") else 3
    return " ".join([match[2]] * times)


def _several(match: re.Match[str]) -> str:
    count, digit = match[1] or match[3], match[2] or match[4]
    return " ".join(["six" if digit == "sixe" else digit] * _COUNTS[count])


def _compacted(text: str) -> Iterator[str]:
    """Yield the letters and digits of a text without what stands between them."""
    letters = "".join(letter for letter in bare(text) if letter.isalnum())
    yield letters
    yield letters[::-1]


@lru_cache(maxsize=256)
def _joined(code: str) -> re.Pattern[str]:
    """Return the pattern of a code in English names or digits without gaps."""
    names: Sequence[str] = [
        f"(?:{_ENGLISH[int(digit)]}|{'[0o]' if digit == '0' else digit})" for digit in code
    ]
    return re.compile("".join(names))
