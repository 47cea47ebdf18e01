"""Words of questions: names of properties and columns, relative clauses, flags."""

from hexathlon.tasks.sql.english import be

__all__ = ["clause", "flag_words", "listed", "owned", "plain"]


def owned(owner: str, noun: str) -> str:
    """Name a property of something; `owner` is a noun, a path such as "section's course", or "".

    >>> owned("account", "currency"), owned("meter", "meter kind"), owned("", "status")
    ("account's currency", 'meter kind', 'status')
    >>> owned("counterparty account", "account number"), owned("section's course", "level")
    ('counterparty account number', "level of the section's course")
    """
    if not owner:
        return noun
    first, _, rest = noun.partition(" ")
    if rest and first == owner.split()[-1] and "'s " not in owner:
        return f"{owner} {rest}"
    if noun.startswith(f"{owner} "):
        return noun
    return f"{noun} of the {owner}" if "'s " in owner else f"{owner}'s {noun}"


def plain(words: str) -> str:
    """Return words as a column name.

    >>> plain("home branch's name")
    'home_branch_s_name'
    """
    return "".join(letter if letter.isalnum() else "_" for letter in words.lower())


def clause(owner: str, noun: str, predicate: str) -> str:
    """Return a relative clause about a property; the predicate lacks its verb.

    >>> clause("", "status", "'paid'"), clause("account", "credits", "at most 4")
    ("whose status is 'paid'", "whose account's credits are at most 4")
    >>> clause("section's course", "level", "'master'")
    "for which the level of the section's course is 'master'"
    """
    name = owned(owner, noun)
    start = "for which the" if name.startswith(f"{noun} of the ") else "whose"
    return f"{start} {name} {be(noun)} {predicate}"


def listed(clauses: list[str]) -> str:
    """Join clauses with commas and `and`.

    >>> listed(["whose a is 1", "whose b is 2", "that are new"])
    'whose a is 1, whose b is 2 and that are new'
    """
    return " and ".join([", ".join(clauses[:-1]), clauses[-1]] if len(clauses) > 1 else clauses)


_HAVE = {
    "balcony": "a balcony", "has lift": "a lift", "has pets": "pets",
    "night curfew": "a night curfew", "solar panels": "solar panels",
}  # fmt: skip
_VERBS = {
    "direct billing": ("offer", "direct billing"), "multiplayer": ("support", "multiplayer"),
    "newsletter": ("receive", "the newsletter"), "online banking": ("use", "online banking"),
    "smoker": ("smoke", ""),
}  # fmt: skip
_PREDICATES = {
    "administrator": ("an administrator", "administrators"), "overtime": ("overtime",) * 2,
    "part time": ("part-time",) * 2, "passed": ("a pass", "passes"),
    "pedestrian": ("for pedestrians only",) * 2, "prescription only": ("prescription-only",) * 2,
    "three d": ("in 3D",) * 2,
}  # fmt: skip
"""What follows "is" and "are" for flags whose noun does not fit there."""


def flag_words(noun: str, value: bool, plural: bool) -> str:
    """Return the predicate of rows by the value of a flag.

    >>> flag_words("tenured", True, True), flag_words("balcony", False, False)
    ('are tenured', 'has no balcony')
    >>> flag_words("smoker", True, False), flag_words("newsletter", False, True)
    ('smokes', 'do not receive the newsletter')
    """
    if noun in _HAVE:
        thing = _HAVE[noun] if value else "no " + _HAVE[noun].removeprefix("a ")
        return f"{'have' if plural else 'has'} {thing}"
    if noun in _VERBS:
        verb, thing = _VERBS[noun]
        if not value:
            verb = f"{'do' if plural else 'does'} not {verb}"
        elif not plural:
            verb += "s"
        return f"{verb} {thing}".strip()
    words = _PREDICATES.get(noun, (noun, noun))[plural]
    return f"{'are' if plural else 'is'} {'' if value else 'not '}{words}"
