"""Demonstrations with made-up names: what is copied must not depend on which word it is.

A policy that has only ever copied the words of its training set copies those; before the words of
a trade it never saw it is lost. So in a share of the demonstrations some of the rarer words that
go from what was read into what is written, or all of them, are replaced, everywhere alike, by words
that nobody uses.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from string import ascii_lowercase
from typing import Any

import numpy as np

from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.warmstart.demonstrations import Demonstration
from hexathlon.tasks.seeding import generator_for

__all__ = ["renamed"]

_RARE = 0.15
"""Words in more than this share of the demonstrations are the language, not names."""

_MOST = 4
"""Words replaced where a demonstration is told first; in further copies all are."""

_ALIKE = 0.5
"""Share of the names in a further copy, after its first, that begin as one before.

Such two are told apart only by what each is; a policy that goes on from the last letters mixes
them.
"""

_WORD = re.compile(r"[a-z]{3,}|[\u4e00-\u9fff]")
"""A word of letters, or one Chinese character: names of such are made of few, each used in many."""

_CHARACTERS = (0x4E00, 0x9FA6)
"""The Chinese characters of Unicode's first block."""

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ONSETS = ("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "st")
_RIMES = ("a", "e", "i", "o", "u", "an", "el", "er", "in", "ock", "ol", "um", "art", "ight", "ea")


def renamed(
    shown: Sequence[Demonstration],
    share: float,
    seed: int,
    copies: int = 1,
    pieces: Sequence[str] = ascii_lowercase,
    ranks: Ranks = ALONE,
) -> list[Demonstration]:
    """Return demonstrations, about `share` of them with made-up names.

    Args:
        shown: Demonstrations of one source; of several ranks, this one's. Which words are rare is
            counted over those of all.
        share: From 0 to 1.
        seed: Of the choice and of the names.
        copies: How often each is told; names are made up anew each time.
        pieces: What most names in further copies are made of: a tokenizer's pieces of words, so
            that each of them is copied some time.
        ranks: The processes that share the demonstrations.
    """
    if share <= 0:
        return list(shown) * copies
    known = [_words(_read(one)) for one in shown]
    counts = Counter(word for words in known for word in words)
    counts = sum(ranks.joined([counts]), Counter())
    most = _RARE * sum(ranks.joined([len(shown)]))
    common = {word for word, count in counts.items() if count > most}
    characters = sorted(word for word in counts if len(word) == 1)
    named = [
        _stems((words & _written(one)) - common) for one, words in zip(shown, known, strict=True)
    ]
    found = []
    for copy, (one, words, names) in product(range(copies), zip(shown, known, named, strict=True)):
        draw = generator_for("renamed demonstrations", seed, one.task, *([copy] if copy else []))
        if draw.random() < share and names:
            unused = [sign for sign in characters if sign not in words]
            found.append(_with_other_names(one, names, unused, draw, pieces if copy else ()))
        else:
            found.append(one)
    return found


def _stems(words: set[str]) -> list[str]:
    """Leave out what begins with another of the words, as a plural does: it changes with it."""
    return sorted(w for w in words if not any(w != v and w.startswith(v) for v in words))


def _read(one: Demonstration) -> str:
    return " ".join([one.opening, *(observation for _, observation in one.turns)])


def _written(one: Demonstration) -> set[str]:
    return _words(" ".join(text for action, _ in one.turns for text in _texts(action)))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_HUMP.sub(" ", text).lower()))


def _texts(action: str) -> list[str]:
    """The strings among the arguments of an action's calls."""
    calls = json.loads(action)
    calls = calls if isinstance(calls, list) else [calls]
    return [v for call in calls for v in call["arguments"].values() if isinstance(v, str)]


def _with_other_names(
    one: Demonstration,
    names: Sequence[str],
    unused: Sequence[str],
    draw: np.random.Generator,
    pieces: Sequence[str],
) -> Demonstration:
    size = len(names) if pieces else min(len(names), int(draw.integers(1, _MOST + 1)))
    chosen = [names[int(place)] for place in draw.permutation(len(names))[:size]]
    table: dict[str, str] = {}
    made: list[str] = []
    for old in chosen:
        if len(old) == 1:
            new = _character(unused, draw)
        elif pieces:
            new = _any_name(pieces, made, draw)
            made.append(new)
        else:
            new = _made_up(draw)
        table |= {old: new, old.capitalize(): new.capitalize(), old.upper(): new.upper()}
    wanted = re.compile("|".join(sorted(map(re.escape, table), key=len, reverse=True)))

    def told(text: str) -> str:
        return wanted.sub(lambda found: table[found[0]], text)

    def done(action: str) -> str:
        calls = json.loads(action)
        for call in calls if isinstance(calls, list) else [calls]:
            call["arguments"] = {key: _in(value, told) for key, value in call["arguments"].items()}
        return json.dumps(calls, ensure_ascii=False)

    turns = tuple((done(action), told(observation)) for action, observation in one.turns)
    thoughts = tuple(told(thought) for thought in one.thoughts)
    return replace(one, opening=told(one.opening), turns=turns, thoughts=thoughts)


def _in(value: Any, told: Any) -> Any:
    return told(value) if isinstance(value, str) else value


def _made_up(draw: np.random.Generator) -> str:
    count = int(draw.integers(2, 4))
    return "".join(
        _ONSETS[int(draw.integers(len(_ONSETS)))] + _RIMES[int(draw.integers(len(_RIMES)))]
        for _ in range(count)
    )


def _any_name(pieces: Sequence[str], made: Sequence[str], draw: np.random.Generator) -> str:
    """Return a name of any pieces, or one that can be said; maybe one that begins as another."""
    if draw.random() < 0.25:
        name = _made_up(draw)
    else:
        count = int(draw.integers(2, 5))
        name = "".join(pieces[int(draw.integers(len(pieces)))] for _ in range(count))
    if made and draw.random() < _ALIKE:
        other = made[int(draw.integers(len(made)))]
        name = other[: int(draw.integers(1, 5))] + name
    return name


def _character(unused: Sequence[str], draw: np.random.Generator) -> str:
    """Return a Chinese character: as often one that no demonstration holds as one of `unused`."""
    if unused and draw.random() < 0.5:
        return unused[int(draw.integers(len(unused)))]
    return chr(int(draw.integers(*_CHARACTERS)))
