"""Character cards: drawn from a setting's grammar, told in one language.

A card is plain JSON. `draw_card` decides what is true of a character; `telling` writes what the
agent reads. Nothing else about a character exists: what the text does not say is not known.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from hexathlon.tasks.roleplay.lexicon import Setting, person_name, setting
from hexathlon.tasks.roleplay.text import Language, Pair
from hexathlon.tasks.task import Split

__all__ = [
    "ATTRIBUTES",
    "NothingLeft",
    "Pools",
    "articled",
    "draw_card",
    "fill",
    "happenings",
    "split_pair",
    "table",
]

FUTURE_YEARS = 30
_VOWEL = re.compile(r"\b([Aa]) (?=[aeioAEIO]|[uU](?:nd|mb))")


def split_pair(text: str) -> Pair:
    """Read `English|Chinese`."""
    english, _, chinese = text.partition("|")
    return Pair(english, chinese)


@lru_cache(maxsize=8)
def table(name: str) -> Mapping[str, Any]:
    """Read one of the grammar's tables."""
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text("utf-8"))


ATTRIBUTES: tuple[str, ...] = tuple(table("attributes"))


def happenings(name: str) -> tuple[str, ...]:
    """Return a list of `happenings.toml`."""
    return tuple(table("happenings")[name])


def fill(template: str, language: Language, values: Mapping[str, Any]) -> str:
    """Take one language of a pair and put the values in; a sentence starts with a capital."""
    text = split_pair(template).of(language)
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    if language == "zh":
        return text
    text = articled(text)
    return text[:1].upper() + text[1:]


def articled(text: str) -> str:
    """Write "an" where English wants it."""
    return _VOWEL.sub(r"\1n ", text)


class NothingLeft(Exception):
    """There is nothing unused left to choose from; the draw is to be tried otherwise."""


class Pools:
    """Hands out words of a split that have not been used yet in this task.

    Args:
        own: The setting.
        split: Whose words.
        rng: Draws them.
    """

    def __init__(self, own: Setting, split: Split, rng: np.random.Generator) -> None:
        self.setting, self.split, self.rng = own, split, rng
        self.short: dict[str, str] = {}
        """Full names, in either language, to the given names that stand for them."""
        self._left: dict[str, list[Pair]] = {}
        self._numbers: set[int] = set()

    def take(self, kind: str) -> Pair:
        """Return the next unused word; people are whole names."""
        if kind == "person":
            return self.person(self.take("family"))
        if kind not in self._left:
            words = self.setting.words(kind, self.split)
            self._left[kind] = [words[int(i)] for i in self.rng.permutation(len(words))]
        if not self._left[kind]:
            raise NothingLeft(f"all {kind} of {self.setting.key} in {self.split} are used up")
        return self._left[kind].pop()

    def person(self, family: Pair) -> Pair:
        """Return a new person of a family."""
        given = self.take("given")
        name = person_name(self.setting, given, family)
        self.short |= {name.en: given.en, name.zh: given.zh}
        return name

    def number(self, low: int, high: int) -> int:
        """Return a number in low…high that has not been handed out, where there is one."""
        free = [n for n in range(low, high + 1) if n not in self._numbers]
        number = int(self.rng.choice(free or range(low, high + 1)))
        self._numbers.add(number)
        return number


class Span(NamedTuple):
    """The years of a life."""

    birth: int
    now: int
    trade: int
    """Years in the trade."""


def draw_card(
    key: str,
    split: Split,
    language: Language,
    rng: np.random.Generator,
    attributes: int,
    must: Sequence[str] = (),
) -> tuple[dict[str, Any], Pools]:
    """Draw a character of a setting.

    Args:
        key: The setting.
        split: Whose names and places.
        language: In which the card is told.
        rng: The task's own.
        attributes: How many of the attributes the card tells.
        must: Attributes that are among them.

    Returns:
        The card, and what is left of the words.
    """
    own = setting(key)
    pools = Pools(own, split, rng)
    family = pools.take("family")
    name = pools.person(family)
    trade = own.pairs("trades")[int(rng.integers(len(own.pairs("trades"))))]
    animal = own.pairs("pets")[int(rng.integers(len(own.pairs("pets"))))]
    first, last = own.years
    now, years = int(rng.integers(first, last + 1)), int(rng.integers(4, 20))
    age = years + int(rng.integers(17, 36))
    span = Span(now - age, now, years)
    order = sorted(rng.permutation(len(ATTRIBUTES)), key=lambda i: ATTRIBUTES[i] not in must)
    told = [ATTRIBUTES[int(i)] for i in order[:attributes]]
    card: dict[str, Any] = {
        "setting": key,
        "language": language,
        "name": name.of(language),
        "words": _words(own, language, trade, animal),
        "now": now,
        "attributes": {
            a: (pools.person(family) if a == "cousin" else _value(a, span, pools)).of(language)
            for a in ATTRIBUTES
            if a in told
        },
    }
    _draw_times(card, span, pools)
    return card, pools


def _words(own: Setting, language: Language, trade: Pair, animal: Pair) -> dict[str, str]:
    return {
        "trade": trade.of(language),
        "n": animal.of(language),
        **{name: own.pair(name).of(language) for name in ("currency", "ruler", "guild", "shop")},
    }


def _value(attribute: str, span: Span, pools: Pools) -> Pair:
    spec = table("attributes")[attribute]
    if spec["kind"] not in ("year", "count"):
        return pools.take(spec["kind"])
    known = {"birth_year": span.birth, "years_in_trade": span.trade}
    number = str(known[attribute] if attribute in known else pools.number(*spec["range"]))
    return Pair(number, number)


def _draw_times(card: dict[str, Any], span: Span, pools: Pools) -> None:
    """Draw life, world and later events, all in different years, and who ruled when."""
    language, rng, words = card["language"], pools.rng, card["words"]
    years = iter(_years(rng, span))
    life = [happenings("life")[int(i)] for i in rng.permutation(len(happenings("life")))[:4]]
    card["life"] = []
    for item in life:
        past, base, chinese = (fill(f"{part}|{part}", "zh", words) for part in item.split("|"))
        said = {"past": past, "base": base} if language == "en" else {"past": chinese}
        low = span.now - span.trade if "{shop}" in item else span.birth + 15
        card["life"].append({**said, "year": _free(rng, card, max(low, span.birth + 15), span.now)})
    card["world"] = [
        {"name": pools.take("events").of(language), "year": next(years)} for _ in range(4)
    ]
    card["later"] = [
        {"name": pools.take("events").of(language), "year": year}
        for year in _after(rng, span.now, 2)
    ]
    starts = sorted([span.birth - int(rng.integers(3, 15)), *_after(rng, span.birth + 3, 2, 14)])
    card["rulers"] = [{"name": pools.take("person").of(language), "year": year} for year in starts]
    next_ruler = pools.take("person").of(language)
    card["next_ruler"] = {"name": next_ruler, "year": span.now + int(rng.integers(2, 9))}
    card["world"].sort(key=lambda event: event["year"])
    card["life"].sort(key=lambda event: event["year"])


def _years(rng: np.random.Generator, span: Span) -> list[int]:
    options = np.arange(span.birth - 2, span.now - 1)
    return [int(year) for year in rng.permutation(options)[:8]]


def _free(rng: np.random.Generator, card: Mapping[str, Any], low: int, high: int) -> int:
    taken = {event["year"] for event in card["life"]}
    free = [year for year in range(low, high) if year not in taken]
    return int(rng.choice(free))


def _after(
    rng: np.random.Generator, start: int, count: int, within: int = FUTURE_YEARS
) -> list[int]:
    return sorted(int(y) for y in start + 1 + rng.permutation(within)[:count])
