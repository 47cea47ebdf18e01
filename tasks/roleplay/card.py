"""Character cards: drawn from a setting's grammar and rendered in one language.

A card is plain JSON. `draw_card` decides the facts about a character; `telling` renders the text
that the agent reads. Nothing else about a character exists: facts absent from the text are unknown.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from hexathlon.tasks.bilingual import BilingualText, Language
from hexathlon.tasks.roleplay.lexicon import SETTINGS, Setting, person_name, setting, unseen
from hexathlon.tasks.task import Split

__all__ = [
    "ATTRIBUTES",
    "NothingLeft",
    "Pools",
    "articled",
    "draw_card",
    "draw_pools",
    "fill",
    "happenings",
    "table",
    "valued",
]

FUTURE_YEARS = 30
_VOWEL = re.compile(r"\b([Aa]) (?=[aeioAEIO]|[uU](?:nd|mb))")


@lru_cache(maxsize=32)
def table(name: str) -> Mapping[str, Any]:
    """Load one of the grammar's tables."""
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text("utf-8"))


ATTRIBUTES: tuple[str, ...] = tuple(table("attributes"))


def happenings(name: str) -> tuple[str, ...]:
    """Return a list from `happenings.toml`."""
    return tuple(table("happenings")[name])


def fill(template: str, language: Language, values: Mapping[str, Any]) -> str:
    """Fill one language of a template pair; a sentence starts with a capital."""
    text = BilingualText.parse(template)[language]
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    if language == "zh":
        return text
    text = articled(text)
    return text[:1].upper() + text[1:]


def articled(text: str) -> str:
    """Use "an" where English requires it."""
    return _VOWEL.sub(r"\1n ", text)


def valued(template: str, value: str) -> str:
    """Return an English template with the article that a later value of `{value}` needs."""
    start = articled(f"a {value}").split(" ", 1)[0]
    return template.replace(" a {value}", f" {start} {{value}}")


class NothingLeft(Exception):
    """No unused choice is left; the caller should redraw."""


class Pools:
    """Dispenses words of a split that this task has not used yet.

    Args:
        own: The setting.
        split: The split whose words are used.
        rng: The random generator.
    """

    def __init__(self, own: Setting, split: Split, rng: np.random.Generator) -> None:
        self.setting, self.split, self.rng = own, split, rng
        self.short: dict[str, str] = {}
        """Full names, in either language, mapped to their given names."""
        self._left: dict[str, list[BilingualText]] = {}
        self._numbers: set[int] = set()

    def take(self, kind: str) -> BilingualText:
        """Return the next unused word; for people, a full name."""
        if kind == "person":
            return self.person(self.take("family"))
        if kind not in self._left:
            words = self.setting.words(kind, self.split)
            self._left[kind] = [words[int(i)] for i in self.rng.permutation(len(words))]
        if not self._left[kind]:
            raise NothingLeft(f"all {kind} of {self.setting.key} in {self.split} are used up")
        return self._left[kind].pop()

    def person(self, family: BilingualText) -> BilingualText:
        """Return a new person with this family name."""
        given = self.take("given")
        name = person_name(self.setting, given, family)
        self.short |= {name.en: given.en, name.zh: given.zh}
        return name

    def number(self, low: int, high: int) -> int:
        """Return a number in low…high, unused if possible."""
        free = [n for n in range(low, high + 1) if n not in self._numbers]
        number = int(self.rng.choice(free or range(low, high + 1)))
        self._numbers.add(number)
        return number


def draw_pools(split: Split, rng: np.random.Generator) -> Pools:
    """Return the pools of a random setting."""
    return Pools(setting(SETTINGS[int(rng.integers(len(SETTINGS)))]), split, rng)


class Lifespan(NamedTuple):
    """The timeline of a life."""

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
        split: The split whose names and places are used.
        language: The language of the card.
        rng: The task's random generator.
        attributes: Number of attributes that the card states.
        must: Attributes that must be among them.

    Returns:
        The card and the pools of remaining words.
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
    span = Lifespan(now - age, now, years)
    order = sorted(rng.permutation(len(ATTRIBUTES)), key=lambda i: ATTRIBUTES[i] not in must)
    told = [ATTRIBUTES[int(i)] for i in order[:attributes]]
    card: dict[str, Any] = {
        "setting": key,
        "unseen": unseen(split),
        "language": language,
        "name": name[language],
        "words": _words(own, language, trade, animal),
        "now": now,
        "attributes": {
            a: (pools.person(family) if a == "cousin" else _value(a, span, pools))[language]
            for a in ATTRIBUTES
            if a in told
        },
    }
    _draw_times(card, span, pools)
    return card, pools


def _words(
    own: Setting, language: Language, trade: BilingualText, animal: BilingualText
) -> dict[str, str]:
    return {
        "trade": trade[language],
        "n": animal[language],
        **{name: own.pair(name)[language] for name in ("currency", "ruler", "guild", "shop")},
    }


def _value(attribute: str, span: Lifespan, pools: Pools) -> BilingualText:
    spec = table("attributes")[attribute]
    if spec["kind"] not in ("year", "count"):
        return pools.take(spec["kind"])
    known = {"birth_year": span.birth, "years_in_trade": span.trade}
    low, high = spec.get("range", (0, 0))
    if attribute == "apprentices":
        high = min(high, max(low, span.trade - 1))
    number = str(known[attribute] if attribute in known else pools.number(low, high))
    return BilingualText(number, number)


def _draw_times(card: dict[str, Any], span: Lifespan, pools: Pools) -> None:
    """Draw life, world and future events in distinct years, and the sequence of rulers."""
    language, rng, words = card["language"], pools.rng, card["words"]
    years = iter(_years(rng, span))
    life = [happenings("life")[int(i)] for i in rng.permutation(len(happenings("life")))[:4]]
    card["life"] = []
    # What happened in the trade comes first, while years since its beginning are free.
    for item in sorted(life, key=lambda item: not _in_trade(item)):
        past, base, chinese = (fill(f"{part}|{part}", "zh", words) for part in item.split("|"))
        said = {"past": past, "base": base} if language == "en" else {"past": chinese}
        low = span.now - span.trade if _in_trade(item) else span.birth + 15
        card["life"].append({**said, "year": _free(rng, card, max(low, span.birth + 15), span.now)})
    card["world"] = [
        {"name": pools.take("events")[language], "year": next(years)} for _ in range(4)
    ]
    card["later"] = [
        {"name": pools.take("events")[language], "year": year} for year in _after(rng, span.now, 2)
    ]
    starts = sorted([span.birth - int(rng.integers(3, 15)), *_after(rng, span.birth + 3, 2, 14)])
    card["rulers"] = [{"name": pools.take("person")[language], "year": year} for year in starts]
    next_ruler = pools.take("person")[language]
    card["next_ruler"] = {"name": next_ruler, "year": span.now + int(rng.integers(2, 9))}
    card["world"].sort(key=lambda event: event["year"])
    card["life"].sort(key=lambda event: event["year"])


def _in_trade(item: str) -> bool:
    """Return whether a life event presupposes the trade."""
    return any(word in item for word in ("{shop}", "{guild}", "prize", "partner"))


def _years(rng: np.random.Generator, span: Lifespan) -> list[int]:
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
