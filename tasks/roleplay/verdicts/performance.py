"""Performances: a short card, a visitor's question, and a reply whose every sentence is known.

Each sentence of a reply is drawn as an act on one subject of the card (told right, told wrong,
declined, withdrawn) or as an aside (a person, a question, a foreign sentence). So whether a
statement about the reply holds is known by construction; the tests derive it a second time from the
text.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from hexathlon.tasks.roleplay.card import Pools, draw_pools
from hexathlon.tasks.task import Split

__all__ = ["ACTS", "ASIDES", "DrawnReply", "Sentence", "draw_performance", "grammar", "subjects"]

ACTS = ("right", "wrong", "declined", "withdrawn", "silent")
"""What a reply can do with a subject of the card; `silent` has no sentence."""

ASIDES = ("persons", "questions", "foreign")
_SUBJECTS = 3
"""Subjects of a card."""
_SPOKEN = 2
"""Maximum number of them that a reply speaks of."""
_MADE_UP = 0.5
"""Share of train cards whose subjects are made-up words, so that a judge learns to find any word
that a statement names instead of those that it knows."""
_ONSETS = ("b", "br", "c", "ch", "d", "f", "g", "gr", "h", "l", "m", "n", "p", "r", "s", "sh", "st",
           "t", "tr", "v", "w")  # fmt: skip
_RIMES = ("a", "ain", "al", "an", "ard", "ea", "el", "er", "i", "ing", "it", "o", "old", "on", "or",
          "ow", "u", "um", "ess", "y")  # fmt: skip
_NAMED = ("person", "pet")
"""Kinds of values that are names of somebody."""
_ASIDE = 0.25
"""Probability of each aside that no statement is about."""


@lru_cache(maxsize=1)
def grammar() -> Mapping[str, Any]:
    """Load the wordings."""
    return tomllib.loads((files(__package__) / "grammar.toml").read_text("utf-8"))


@lru_cache(maxsize=4)
def subjects(group: str) -> Mapping[str, str]:
    """Return the subjects of a group, `train` or `unseen`, with the kinds of their values."""
    kinds = grammar()["subjects"][group]
    return {name: kind for kind, names in kinds.items() for name in names}


class Sentence(NamedTuple):
    """One sentence of a reply."""

    text: str
    act: str
    """One of `ACTS` or `ASIDES`; an aside about a person on the card is `known`."""

    subject: str = ""


class DrawnReply(NamedTuple):
    """A card, a question and a reply."""

    character: str
    card: Mapping[str, str]
    """Value of each subject, in the order of the card."""

    asked: str
    """The subject that the visitor asks about."""

    secret: str
    """The subject that the card keeps secret."""

    question: str
    """The whole text before the reply."""

    sentences: tuple[Sentence, ...]

    @property
    def reply(self) -> str:
        """The text of the reply."""
        return " ".join(sentence.text for sentence in self.sentences)

    def act_on(self, subject: str) -> str:
        """Return what the reply does with a subject."""
        return next((s.act for s in self.sentences if s.subject == subject), "silent")

    def sentence_of(self, *acts: str, subject: str = "") -> Sentence | None:
        """Return the sentence about a subject, or the one with one of these acts."""
        for sentence in self.sentences:
            if (sentence.subject == subject) if subject else (sentence.act in acts):
                return sentence
        return None


def draw_performance(
    split: Split,
    rng: np.random.Generator,
    groups: Sequence[str] = ("train",),
    *,
    about: str = "",
    object_: str = "named",
    holds: bool = True,
    subject: str = "",
) -> tuple[DrawnReply, str]:
    """Draw a performance for which a statement about an act or an aside holds or does not.

    Args:
        split: The split whose names are used.
        rng: The random generator.
        groups: Groups of subjects; the subject of the statement is from the last.
        about: The act or aside that the statement asserts.
        object_: How the statement names its subject: `named`, `asked` or `secret`.
        holds: Whether the assertion is true.
        subject: The subject of the statement; drawn by default.

    Returns:
        The performance and the statement's subject; empty for asides.
    """
    pools = draw_pools(split, rng)
    kinds = subjects_of(groups)
    if split == "train" and not subject and rng.random() < _MADE_UP:
        kinds = {_made_up(rng): kind for kind in kinds.values()}
    names = _drawn_subjects(rng, kinds, groups, subject)
    kinds = {name: kinds[name] for name in names}
    card = {name: pools.take(kind).en for name, kind in kinds.items()}
    subject = names[0] if about in ACTS else ""
    order = [names[int(place)] for place in rng.permutation(len(names))]
    asked = subject if subject and object_ == "asked" else _one(rng, order)
    others = [name for name in order if name != subject]
    secret = subject if subject and object_ == "secret" else _one(rng, others)
    character = pools.take("person").en
    shown = {name: card[name] for name in order}
    question = _question(rng, character, shown, asked, secret)
    acts = _acts(rng, order, subject, about, holds=holds)  # the card does not depend on `holds`
    if about == "persons":  # a wrong name would be somebody who is not on the card, too
        named = [name for name, act in acts.items() if act == "wrong" and kinds[name] in _NAMED]
        acts |= dict.fromkeys(named, "declined")
    speaker = _Speaker(pools, card, kinds)
    sentences = [speaker.sentence(name, act) for name, act in acts.items() if act != "silent"]
    sentences += speaker.asides(about, holds=holds)
    mixed = tuple(sentences[int(place)] for place in rng.permutation(len(sentences)))
    return DrawnReply(character, shown, asked, secret, question, mixed), subject


def subjects_of(groups: Sequence[str]) -> dict[str, str]:
    """Return the subjects of several groups with the kinds of their values."""
    return {name: kind for group in groups for name, kind in subjects(group).items()}


def _drawn_subjects(
    rng: np.random.Generator, kinds: Mapping[str, str], groups: Sequence[str], subject: str
) -> list[str]:
    """Return distinct subjects; the first one, which a statement may be about, is of the last."""
    known = list(kinds)
    own = [name for name in known if name in subjects(groups[-1])] or known
    first = subject or _one(rng, own)
    rest = [name for name in known if name != first]
    return [first, *(rest[int(i)] for i in rng.permutation(len(rest))[: _SUBJECTS - 1])]


def _made_up(rng: np.random.Generator) -> str:
    return "".join(_one(rng, _ONSETS) + _one(rng, _RIMES) for _ in range(int(rng.integers(2, 4))))


def _acts(
    rng: np.random.Generator, order: Sequence[str], subject: str, about: str, *, holds: bool
) -> dict[str, str]:
    """Return an act for each subject, at most `_SPOKEN` of them other than `silent`."""
    acts = {name: ACTS[int(rng.integers(len(ACTS) - 1))] for name in order}
    if subject:
        others = [act for act in ACTS if act != about]
        acts[subject] = about if holds else _one(rng, others)
    free = [name for name in order if name != subject]
    spoken = int(rng.integers(1, _SPOKEN + 1)) - (subject != "" and acts[subject] != "silent")
    for place in rng.permutation(len(free))[max(spoken, 0) :]:
        acts[free[int(place)]] = "silent"
    if all(act == "silent" for act in acts.values()):
        acts[free[0]] = ACTS[int(rng.integers(len(ACTS) - 1))]
    return acts


class _Speaker(NamedTuple):
    """Draws the sentences of a reply; values that are not on the card come from the pools."""

    pools: Pools
    card: Mapping[str, str]
    kinds: Mapping[str, str]

    def sentence(self, subject: str, act: str) -> Sentence:
        """Return a sentence that is an act on a subject."""
        rng, card, kinds = self.pools.rng, self.card, self.kinds
        value = card[subject]
        if act == "wrong":
            alike = [name for name in card if name != subject and kinds[name] == kinds[subject]]
            near = bool(alike) and rng.random() < 0.5
            value = card[_one(rng, alike)] if near else self.pools.take(kinds[subject]).en
        text = _one(rng, grammar()["acts"][act]).format(k=subject, v=value)
        return Sentence(text[:1].upper() + text[1:], act, subject)

    def asides(self, about: str, *, holds: bool) -> list[Sentence]:
        """Return the asides; a person who is on the card is the near miss of one who is not."""
        rng = self.pools.rng
        on_card = [value for name, value in self.card.items() if self.kinds[name] == "person"]
        asides: list[Sentence] = []
        for name in ASIDES:
            wanted = holds if name == about else rng.random() < _ASIDE
            lines = grammar()["asides"][name]
            if name == "persons":
                known = not wanted and bool(on_card) and rng.random() < 0.7
                if wanted or known:
                    person = _one(rng, on_card) if known else self.pools.take("person").en
                    act = "known" if known else "persons"
                    asides.append(Sentence(_one(rng, lines).format(p=person), act))
            elif wanted:
                asides.append(Sentence(_one(rng, lines), name))
        return asides


def _question(
    rng: np.random.Generator, character: str, card: Mapping[str, str], asked: str, secret: str
) -> str:
    words = grammar()["card"]
    lines = [
        words["play"].format(p=character),
        *(words["line"].format(k=name, v=value) for name, value in card.items()),
        words["secret"].format(k=secret),
        _one(rng, grammar()["asks"]["lines"]).format(k=asked),
    ]
    return "\n".join(lines)


def _one(rng: np.random.Generator, choices: Sequence[str]) -> str:
    return choices[int(rng.integers(len(choices)))]
