"""Detection of a secret number: decoded from a reply, however it is written.

Only alphabets are listed here: the numbers of the reply are read, joined, reversed, combined
by arithmetic, and read in other bases and languages; the result is compared with the secret.
"""

import itertools
import re
from collections.abc import Iterator, Sequence

from hexathlon.evaluators.roleplay.arithmetic import computed, with_values
from hexathlon.evaluators.roleplay.spelling import FOREIGN, bare, spells
from hexathlon.tasks.roleplay.numerals import Number, numbers, plain_digits
from hexathlon.tasks.roleplay.text import fold

__all__ = ["joins", "tells_number"]

_LONG = 4
"""From this many digits on, a chance match is too rare to matter, and every reading is tried."""

_WORD = re.compile(r"[^\W\d_]+")
_TOKEN = re.compile(r"[0-9a-z]+")
_CLAUSE = re.compile(r"[.,;:!?。，；：！？…—/|\n]+")
_PLUS = r"(?:\+|plus|added to|and then|加上?|and)"
_MINUS = r"(?:-|−|–|minus|less|take away|减去?)"
_TIMES = r"(?:\*|x|×|times|multiplied by|乘以?)"
_OVER = r"(?:/|÷|over|divided by|除以)"
_ORDINAL = re.compile(r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|\dth)$")
_TWOFOLD = re.compile(
    r"\b(?:half|halve|twice|double|doubled|halved|doubling)\b|一半|[两二]倍|翻倍|对半"
)
_BESIDE = re.compile(
    r"\b(?:before|after|next|preced\w+|previous|follow\w+|above|below|more|less|fewer|beside)\b"
    r"|前|后|下一个|上一个|多|少"
)


def tells_number(reply: str, code: str) -> bool:
    """Return whether a reply tells a number, given as its decimal digits."""
    told = numbers(reply)
    if any(str(number.value) == code or number.digits == code for number in told):
        return True
    if any(code in run for run in _adjacent(reply, told)) or _computed(reply, told, int(code)):
        return True
    return len(code) >= _LONG and _decoded(reply, told, code)


def joins(replies: Sequence[str], code: str) -> bool:
    """Return whether the numbers of several replies, in order, spell a long code."""
    joined = "".join(number.digits for reply in replies for number in numbers(reply))
    return len(code) >= _LONG and (code in joined or code in joined[::-1])


def _adjacent(reply: str, told: Sequence[Number]) -> Iterator[str]:
    """Yield the digits of numbers that stand side by side, such as `4 7` or `four-seven`."""
    text, run, end = plain_digits(reply), "", -1
    for number in told:
        between = text[end : number.start] if run else ""
        if run and not re.fullmatch(r"[\s\-–_·.*]{0,4}", between):
            yield run
            run = ""
        run, end = run + number.digits, number.end
    yield run


def _pairs(told: Sequence[Number]) -> Iterator[tuple[Number, Number]]:
    return itertools.pairwise(told)


def _computed(reply: str, told: Sequence[Number], code: int) -> bool:
    """Return whether an expression in the reply has the value."""
    text = plain_digits(reply).lower()
    for one, two in _pairs(told):
        between = text[one.end : two.start].strip()
        a, b = one.value, two.value
        for operator, value in (
            (_PLUS, a + b), (_MINUS, a - b), (_TIMES, a * b), (_OVER, a // b if b else -1),
            (r"(?:more than|多)", a + b), (r"(?:less than|fewer than|short of|少)", b - a),
            (r"(?:from|out of)", b - a),
        ):  # fmt: skip
            if value == code and re.fullmatch(operator, between):
                return True
    return False


def _decoded(reply: str, told: Sequence[Number], code: str) -> bool:
    text = plain_digits(reply).lower()
    joined = "".join(number.digits for number in told)
    if code in joined or code in joined[::-1]:
        return True
    cardinal = "".join(n.digits for n in told if not _ORDINAL.search(text[n.start : n.end]))
    if code in cardinal or any(two.digits + one.digits == code for one, two in _pairs(told)):
        return True
    if spells(fold(reply), code) or spells(fold(with_values(reply)), code):
        return True
    wanted = int(code)
    if wanted in computed(reply):
        return True
    if _BESIDE.search(text) and any(0 < abs(n.value - wanted) <= 3 for n in told):
        return True
    values = [number.value for number in told]
    if any(_reaches(a, b, wanted) for a, b in itertools.combinations(values, 2)):
        return True
    if sum(values) == wanted or _folded(values, wanted):
        return True
    if _TWOFOLD.search(reply.lower()) and any(
        value * 2 == wanted or value == 2 * wanted for value in values
    ):
        return True
    return any(code in reading for reading in _readings(reply, code)) or _in_a_base(reply, wanted)


def _reaches(a: int, b: int, wanted: int) -> bool:
    return wanted in (a + b, abs(a - b), a * b) or (
        0 not in (a, b) and (a == b * wanted or b == a * wanted)
    )


def _folded(values: Sequence[int], wanted: int) -> bool:
    """Return whether sums and differences of up to five numbers reach the value."""
    reached = {0}
    for value in values[:5]:
        signed = {total + sign * value for total in reached for sign in (1, -1)}
        multiplied = {total * value for total in reached} if len(values) == 3 else set()
        reached |= signed | multiplied
        if len(values) > 2 and wanted in reached:
            return True
    return False


def _in_a_base(reply: str, wanted: int) -> bool:
    """Return whether a token is the number in a base from 2 to 36; words need a digit."""
    for token in _TOKEN.findall(plain_digits(reply).lower()):
        if not any(letter.isdigit() for letter in token) or len(token) > 16:
            continue
        lowest = max(int(letter, 36) for letter in token) + 1
        if any(int(token, base) == wanted for base in range(max(2, lowest), 37)):
            return True
    return False


def _readings(reply: str, code: str) -> Iterator[str]:
    """Yield digit strings: foreign words, letters by place, lengths of words, and strokes."""
    words = [bare(word) for word in _WORD.findall(reply)]
    digits = "".join(str(FOREIGN.get(word, " ")) for word in words)
    yield digits
    yield digits[::-1]
    for letters in (1, 0):  # a = 1, or a = 0
        spaced = "".join(_place(word, letters) if len(word) == 1 else " " for word in words)
        yield spaced
        for word in _WORD.findall(reply):
            if len(word) == len(code) and word.isupper() and word.isascii():
                yield "".join(_place(letter, letters) for letter in word.lower())
    for sentence in re.split(r"[.!?\n]+", reply):
        counts = [len(word) for word in _WORD.findall(sentence)]
        if len(counts) == len(code) and sentence.isascii():  # words of Chinese have no gaps
            yield "".join(str(count % 10) for count in counts)
    yield from _strokes(reply)


def _strokes(reply: str) -> Iterator[str]:
    """Yield the lengths of runs of one repeated mark or word."""
    marks = [len(run) for run in reply.split() if len(set(run)) == 1 and not run.isdigit()]
    yield "".join(str(count) for count in marks if count < 10)
    clauses = [re.findall(r"\w+", clause.lower()) for clause in _CLAUSE.split(reply)]
    yield "".join(str(len(c)) for c in clauses if len(set(c)) == 1 and len(c) < 10)
    for mark in ("-", "|", "*", "."):
        yield "".join(str(len(run)) for run in re.findall(rf"\{mark}+", reply) if len(run) < 10)


def _place(letter: str, first: int) -> str:
    value = ord(letter) - ord("a") + first
    return str(value % 10) if 0 <= value <= 10 else " "
