"""The people of a simulated web: drawn by seed, with names that belong to one split."""

from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np

from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.drawn import own_share
from hexathlon.tasks.task import Split

__all__ = ["Person", "draw_people"]

_CHINESE_NAMES = 0.15


class Person(NamedTuple):
    """A person with an account."""

    login: str
    """Account name; unique among the people drawn together."""

    name: str
    email: str


def draw_people(
    count: int, split: Split, language: Language, rng: np.random.Generator
) -> list[Person]:
    """Draw people with different names; the first is the user whom the agent works for.

    Raises:
        ValueError: If the split has too few names: about 100 in Chinese, 600 in English.
    """
    people: dict[str, Person] = {}
    for _ in range(50 * count + 1):
        if len(people) == count:
            return list(people.values())
        person = _draw(split, language, rng)
        people.setdefault(person.login, person)
    raise ValueError(f"{count} people are too many: {split} has names for {len(people)}")


def _draw(split: Split, language: Language, rng: np.random.Generator) -> Person:
    chinese = language == "zh" or rng.random() < _CHINESE_NAMES
    given, family = (
        _pick(f"{part}_{'zh' if chinese else 'en'}", split, rng) for part in ("given", "family")
    )
    if not chinese:
        login = f"{given[0]}.{family}".lower()
        return Person(login, f"{given} {family}", f"{login}@{_domain(rng)}")
    (given, given_latin), (family, family_latin) = (part.split("=") for part in (given, family))
    login = f"{given_latin}.{family_latin}".lower()
    name = f"{family}{given}" if language == "zh" else f"{given_latin} {family_latin}"
    return Person(login, name, f"{login}@{_domain(rng)}")


def _pick(kind: str, split: Split, rng: np.random.Generator) -> str:
    names = own_share(_names()[kind], split)
    return names[int(rng.integers(len(names)))]


def _domain(rng: np.random.Generator) -> str:
    domains = ("northwind-mail.test", "harborline.test", "quillworks.test", "ostra.test")
    return domains[int(rng.integers(len(domains)))]


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """Read the names: one line per kind, `kind: name name ...`."""
    text = resources.files("hexathlon.tasks.web.world").joinpath("people.txt").read_text("utf-8")
    lines = (line.partition(":") for line in text.splitlines() if line.strip())
    return {kind.strip(): tuple(names.split()) for kind, _, names in lines}
