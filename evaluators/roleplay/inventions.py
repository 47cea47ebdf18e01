"""Names and numbers in a reply for which the character has no source.

What the card and the visitor said is familiar; the vocabulary of every setting and split is known
as names. Words that only may be names, such as one that opens a sentence, are left undecided.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from hexathlon.evaluators.roleplay import cues
from hexathlon.evaluators.roleplay.spoken import SpokenAct
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.lexicon import SETTINGS, setting
from hexathlon.tasks.roleplay.numerals import numbers
from hexathlon.tasks.roleplay.text import fold
from hexathlon.tasks.task import SPLITS

__all__ = ["competing", "entities_of", "invented"]

_CAPITAL = re.compile(
    r"(?<=[a-z,'’)] )[A-Z][a-z'’]*[a-z](?:-[A-Z]?[a-z]+)?|[A-Z][a-z]+ [A-Z][a-z]+"
)
_TITLES = frozenset(
    "i god lord heaven heavens sir madam master mistress lady captain mother father aunt uncle "
    "good monday tuesday wednesday thursday friday saturday sunday english chinese french "
    "latin "
    "january february march april may june july august september october november december spring "
    "summer autumn winter fate fortune providence devil".split()
)
_WORDS = re.compile(r"[a-z][a-z'-]*[a-z]|[a-z]")
_SINICISED = re.compile(r"(?:名叫|名字叫|名字是|唤作|姓)([㐀-鿿]{2})|([㐀-鿿]+·[㐀-鿿]+)")
_COMMON = {0, 1, 2, 3, 12, 20, 100, 1000, 10000}
"""Numbers that occur in figures of speech."""

_COUNTED = re.compile(r"^ ?(?:年|岁|个|名|月|贯|元|枚|块|文|两银|马克|步|间|位|口)")
_LOOSE = re.compile(r"^[零一二三四五六七八九两十百千万]{1,2}$")


def invented(spoken: SpokenAct) -> Iterator[str]:
    """Yield names and numbers of the reply for which the character has no source."""
    own = [fold(value) for value in (*spoken.values, *spoken.claims)]
    if spoken.language == "en":
        familiar = frozenset().union(*map(_words_of, spoken.known))
        for match in _CAPITAL.finditer(spoken.reply):
            for word in _WORDS.findall(fold(match[0])):
                word = word.split("'")[0]
                strange = word not in familiar and word not in _TITLES
                if strange and word not in cues.COMMON_WORDS and not any(word in v for v in own):
                    if match[0].count(" ") and not _later_strange(match[0], familiar):
                        continue
                    yield word
    else:
        for match in _SINICISED.finditer(spoken.text):
            name = match[1] or match[2]
            middle = name.find("·")
            if middle > 0:  # the word before the name may match, too
                name = name[middle - 1 : middle + 2]
            if not any(name in text for text in (*spoken.known, *own)):
                if name[0] not in "什啥不我名谁甚何":
                    yield name
    for entity in entities_of(spoken.reply, spoken.language):
        if not any(entity in text for text in (*map(fold, spoken.known), *own)):
            yield entity
    yield from _invented_numbers(spoken)


def competing(spoken: SpokenAct) -> list[str]:
    """Return the names on the card, other than the value's, that stand beside it in a reply.

    The card asks for no other name beside the value. The character's own name, the visitor's words
    and the false claim are no rivals.
    """
    own, names = _names_on(spoken.known[0] if spoken.known else "", spoken.language)
    allowed = fold(" ".join((own, spoken.line, *spoken.values, *spoken.claims)))
    return [name for name in names if name not in allowed and _stands_in(name, spoken.text)]


def _stands_in(name: str, text: str) -> bool:
    if not name.isascii():
        return name in text
    return re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", text) is not None


@lru_cache(maxsize=256)
def _names_on(card: str, language: Language) -> tuple[str, tuple[str, ...]]:
    """Return the line of a card with the own name, and the names of its facts and years.

    Known names count, and capitalised or sinicised ones where a fact or a year names a person.
    """
    sections = [part.splitlines()[1:] for part in card.split("\n# ")]
    if len(sections) < 4:
        return "", ()
    (own, *facts), years = sections[1], sections[3]
    names = list(entities_of("\n".join((*facts, *years)), language))
    before = {"en": ("[a-z] ", ": "), "zh": ("[是叫在的跟]", "[：:]")}[language]
    for lines, mark in zip((facts, years), before, strict=True):
        person = re.compile(f"(?<={mark})(?:{_PERSONS[language]})")
        names += [fold(match[0]) for line in lines for match in person.finditer(line)]
    return own, tuple(dict.fromkeys(names))


_PERSONS: Mapping[Language, str] = {
    "en": r"[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+",
    "zh": r"[^\W是叫在的跟]{1,6}·[㐀-鿿]{1,4}?(?=[。，出教学])",
}
"""Names of persons in the lines of a card."""


def _later_strange(name: str, familiar: frozenset[str]) -> bool:
    """Return whether the second of two capitalised words is strange, too; the first may open."""
    second = fold(name.split()[1])
    return second not in familiar and second not in _TITLES and second not in cues.COMMON_WORDS


def _invented_numbers(spoken: SpokenAct) -> Iterator[str]:
    told = {number.value for number in numbers(spoken.reply)}
    if not told:
        return
    counts = any(value.isdecimal() for value in spoken.values)
    allowed = {int(v) for v in (*spoken.values, *spoken.claims) if v.isdecimal()}
    allowed = allowed.union(*map(_numbers_of, spoken.known))
    for number in numbers(spoken.reply):
        value = number.value
        if value in allowed or value < 2:
            continue
        written = spoken.reply[number.start : number.end]
        if spoken.language == "zh" and not written.isdigit():
            counted = _COUNTED.match(spoken.reply[number.end : number.end + 4])
            if _LOOSE.match(written) and not (counts and counted and len(written) <= 2):
                continue
        if value in _COMMON and not written.isdigit() and not (counts and value > 3):
            continue
        if written.endswith(("st", "nd", "rd", "th", "cond")) and value < 4:
            continue
        yield str(value)


@lru_cache(maxsize=4096)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(
        part for word in _WORDS.findall(fold(text)) for part in (word, *word.split("-"))
    )


@lru_cache(maxsize=4096)
def _numbers_of(text: str) -> frozenset[int]:
    return frozenset(number.value for number in numbers(text))


@lru_cache(maxsize=2)
def _lexicon(language: Language) -> tuple[frozenset[str], int]:
    """Return names of every setting and split, and the length of the longest."""
    cells: set[str] = set()
    for key in SETTINGS:
        own = setting(key)
        for split in SPLITS:
            for kind in ("places", "dishes", "heirlooms", "events", "given", "pet"):
                if kind == "given" and own.culture.get("order") == "family first":
                    continue
                cells |= {fold(cell[language]) for cell in own.words(kind, split)}
    if language == "en":
        cells = {cell for cell in cells if " " in cell or len(cell) > 5}
        return frozenset(cells), max(len(cell.split()) for cell in cells)
    cells = {cell for cell in cells if len(cell) > 2}
    return frozenset(cells), max(map(len, cells))


@lru_cache(maxsize=2048)
def entities_of(text: str, language: Language) -> tuple[str, ...]:
    """Return the known names in a text."""
    cells, longest = _lexicon(language)
    folded = fold(text)
    if language == "en":
        words = _WORDS.findall(folded)
        spans = (
            " ".join(words[i : i + n]) for i in range(len(words)) for n in range(1, longest + 1)
        )
        return tuple(dict.fromkeys(span for span in spans if span in cells))
    runs = re.findall(r"[㐀-鿿·]{3,}", folded)
    pieces = (
        run[i : i + n] for run in runs for i in range(len(run)) for n in range(3, longest + 1)
    )
    return tuple(dict.fromkeys(piece for piece in pieces if piece in cells))
