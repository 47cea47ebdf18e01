"""Small rules of English that many texts of tasks need."""

import re

__all__ = ["with_article"]

_SPOKEN_AS_CONSONANT = re.compile(r"(?:eu|ewe|one\b|once|uni(?!m|n)|us[aeiu]|ut[ie]|ub|u\b)", re.I)
_SPOKEN_AS_VOWEL = re.compile(r"(?:[aeiou]|hour|honou?r|honest|heir)", re.I)


def with_article(noun: str, *, capital: bool = False) -> str:
    """A noun with `a` or `an` before it, whichever is spoken.

    >>> with_article("overdraft limit"), with_article("unit price", capital=True)
    ('an overdraft limit', 'A unit price')
    """
    vowel = _SPOKEN_AS_VOWEL.match(noun) and not _SPOKEN_AS_CONSONANT.match(noun)
    article = "an" if vowel else "a"
    return f"{article.capitalize() if capital else article} {noun}"
