"""Basic English grammar for the texts of tasks."""

import re

__all__ = ["be", "indefinite", "with_article"]

_SPOKEN_AS_CONSONANT = re.compile(r"(?:eu|ewe|one\b|once|uni(?!m|n)|us[aeiu]|ut[ie]|ub|u\b)", re.I)
_PLURAL = re.compile(
    r"(?:credits|days|fees|goods|hours|households|miles|minutes|months|points|units|votes)"
    r"(?: (?:affected|reserved|waited))?$"
)
_SPOKEN_AS_VOWEL = re.compile(r"(?:[aeiou]|hour|honou?r|honest|heir)", re.I)


def with_article(noun: str, *, capital: bool = False) -> str:
    """Prefix a noun with `a` or `an`, according to its pronunciation.

    >>> with_article("overdraft limit"), with_article("unit price", capital=True)
    ('an overdraft limit', 'A unit price')
    """
    vowel = _SPOKEN_AS_VOWEL.match(noun) and not _SPOKEN_AS_CONSONANT.match(noun)
    article = "an" if vowel else "a"
    return f"{article.capitalize() if capital else article} {noun}"


def be(noun: str) -> str:
    """Return `is` or `are`, to agree with the name of a column.

    >>> be("birth date"), be("client's withdrawal days")
    ('is', 'are')
    """
    return "are" if _PLURAL.search(noun) else "is"


def indefinite(noun: str) -> str:
    """Return a noun with its indefinite article, or without one if it is a plural.

    >>> indefinite("fare"), indefinite("final points")
    ('a fare', 'final points')
    """
    return noun if be(noun) == "are" else with_article(noun)
