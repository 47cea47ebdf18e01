"""Demonstrations with made-up names, so that copying does not depend on the word.

A policy that has only copied the words of its training set fails on those of an unseen domain. So
in a share of the demonstrations, some or all of the rarer words that are copied from prompts and
observations into actions are consistently replaced by made-up ones.
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

_MOST = 4
"""Maximum number of words replaced in the first copy of a demonstration; further copies replace
all."""

_ALIKE = 0.5
"""Share of the names in a further copy that begin like an earlier one of it.

A policy that continues only from the last letters would confuse the two.
"""

_WORD = re.compile(r"[a-z]{3,}|[\u4e00-\u9fff]")
"""A word of letters, or a single Chinese character, since names share characters."""

_CHARACTERS = (0x4E00, 0x9FA6)
"""The range of Unicode's basic block of Chinese characters."""

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')

_NUMBER = re.compile(r"\[(\d{1,2})\]")
"""The number of an element of a page."""

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ONSETS = ("b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "st")
_RIMES = ("a", "e", "i", "o", "u", "an", "el", "er", "in", "ock", "ol", "um", "art", "ight", "ea")


def renamed(
    demonstrations: Sequence[Demonstration],
    share: float,
    seed: int,
    copies: int = 1,
    pieces: Sequence[str] = ascii_lowercase,
    ranks: Ranks = ALONE,
    quoted: float = 0.0,
    *,
    rare: float = 0.15,
    capitals: float = 0.0,
    labels: bool = False,
    renumber: bool = False,
) -> list[Demonstration]:
    """Return copies of demonstrations, about `share` of them with made-up names.

    Args:
        demonstrations: This rank's share of the demonstrations of one source. Words are counted
            over those of all ranks.
        share: Share of the copies, from 0 to 1.
        seed: Seed of the choice and of the names.
        copies: Number of copies of each, with different names.
        pieces: A tokenizer's parts of words, of which most names in further copies consist, so that
            each part is copied at some time.
        ranks: The ranks that share the demonstrations.
        quoted: Words that thoughts quote also count as names, unless they are in more than this
            share of the demonstrations; 0 takes names only from actions.
        rare: Words in more than this share of the demonstrations are common words, not names.
        capitals: Share of the made-up names in further copies that always begin with a capital.
        labels: Whether the words in quotes on screens also count as names, so that a policy finds
            elements by their place rather than by labels that it has seen.
        renumber: Whether copies with made-up names also have random element numbers.
    """
    if share <= 0:
        return list(demonstrations) * copies
    inputs = [_words(_input_text(played)) for played in demonstrations]
    counts = Counter(word for words in inputs for word in words)
    counts = sum(ranks.joined([counts]), Counter())
    total = sum(ranks.joined([len(demonstrations)]))
    common = {word for word, count in counts.items() if count > rare * total}
    very_common = {word for word, count in counts.items() if count > quoted * total}
    characters = sorted(word for word in counts if len(word) == 1)
    copied = [
        _stems(
            ((words & _action_words(played)) - common)
            | ((words & _quoted_words(played)) - very_common)
            | ((_label_words(played) - very_common) if labels else set())
        )
        for played, words in zip(demonstrations, inputs, strict=True)
    ]
    variants = []
    rows = list(zip(demonstrations, inputs, copied, strict=True))
    for copy, (played, words, names) in product(range(copies), rows):
        draw = generator_for("renamed demonstrations", seed, played.task, *([copy] if copy else []))
        if draw.random() < share and names:
            unused = [sign for sign in characters if sign not in words]
            played = _with_other_names(
                played, names, unused, draw, pieces if copy else (), capitals
            )
            played = _renumbered(played, draw) if renumber else played
        variants.append(played)
    return variants


def _stems(words: set[str]) -> list[str]:
    """Leave out words that begin with another, such as plurals: they change with it."""
    return sorted(w for w in words if not any(w != v and w.startswith(v) for v in words))


def _input_text(played: Demonstration) -> str:
    return " ".join([played.opening, *(observation for _, observation in played.turns)])


def _action_words(played: Demonstration) -> set[str]:
    return _words(" ".join(text for action, _ in played.turns for text in _texts(action)))


def _quoted_words(played: Demonstration) -> set[str]:
    return _words(" ".join(text for each in played.thoughts for text in _QUOTED.findall(each)))


def _label_words(played: Demonstration) -> set[str]:
    screens = [played.opening, *(observation for _, observation in played.turns)]
    return _words(" ".join(text for each in screens for text in _QUOTED.findall(each)))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_HUMP.sub(" ", text).lower()))


def _texts(action: str) -> list[str]:
    """The strings among the arguments of an action's calls."""
    calls = json.loads(action)
    calls = calls if isinstance(calls, list) else [calls]
    return [v for call in calls for v in call["arguments"].values() if isinstance(v, str)]


def _with_other_names(
    played: Demonstration,
    names: Sequence[str],
    unused: Sequence[str],
    draw: np.random.Generator,
    pieces: Sequence[str],
    capitals: float,
) -> Demonstration:
    size = len(names) if pieces else min(len(names), int(draw.integers(1, _MOST + 1)))
    chosen = [names[int(place)] for place in draw.permutation(len(names))[:size]]
    table: dict[str, str] = {}
    earlier: list[str] = []
    for old in chosen:
        if len(old) == 1:
            new = _character(unused, draw)
        elif pieces:
            new = _name_of_pieces(pieces, earlier, draw)
            earlier.append(new)
            if capitals and draw.random() < capitals:
                new = new.capitalize()
        else:
            new = _pronounceable(draw)
        table |= {old: new, old.capitalize(): new.capitalize(), old.upper(): new.upper()}
    pattern = re.compile("|".join(sorted(map(re.escape, table), key=len, reverse=True)))

    def in_text(text: str) -> str:
        return pattern.sub(lambda match: table[match[0]], text)

    def in_value(value: Any) -> Any:
        return in_text(value) if isinstance(value, str) else value

    def in_action(action: str) -> str:
        calls = json.loads(action)
        for call in calls if isinstance(calls, list) else [calls]:
            call["arguments"] = {key: in_value(value) for key, value in call["arguments"].items()}
        return json.dumps(calls, ensure_ascii=False)

    turns = tuple((in_action(action), in_text(seen)) for action, seen in played.turns)
    thoughts = tuple(map(in_text, played.thoughts))
    return replace(played, opening=in_text(played.opening), turns=turns, thoughts=thoughts)


def _renumbered(played: Demonstration, draw: np.random.Generator) -> Demonstration:
    """Return a demonstration with random numbers of elements, in pages, thoughts and actions."""
    others = [str(number) for number in 1 + draw.permutation(99)]

    def other(number: str) -> str:
        return others[int(number) - 1] if number.isdigit() and 0 < int(number) < 100 else number

    def in_text(text: str) -> str:
        return _NUMBER.sub(lambda match: f"[{other(match[1])}]", text)

    def in_action(action: str) -> str:
        calls = json.loads(action)
        for call in calls if isinstance(calls, list) else [calls]:
            for key, value in call["arguments"].items():
                if key.endswith("bid"):
                    call["arguments"][key] = other(value)
                elif key == "index":
                    call["arguments"][key] = int(other(str(value)))
        return json.dumps(calls, ensure_ascii=False)

    return replace(
        played,
        opening=in_text(played.opening),
        turns=tuple((in_action(action), in_text(seen)) for action, seen in played.turns),
        thoughts=tuple(map(in_text, played.thoughts)),
    )


def _pronounceable(draw: np.random.Generator) -> str:
    count = int(draw.integers(2, 4))
    return "".join(
        _ONSETS[int(draw.integers(len(_ONSETS)))] + _RIMES[int(draw.integers(len(_RIMES)))]
        for _ in range(count)
    )


def _name_of_pieces(
    pieces: Sequence[str], earlier: Sequence[str], draw: np.random.Generator
) -> str:
    """Return a name of random pieces, or a pronounceable one; it may begin like an earlier one."""
    if draw.random() < 0.25:
        name = _pronounceable(draw)
    else:
        count = int(draw.integers(2, 5))
        name = "".join(pieces[int(draw.integers(len(pieces)))] for _ in range(count))
    if earlier and draw.random() < _ALIKE:
        other = earlier[int(draw.integers(len(earlier)))]
        name = other[: int(draw.integers(1, 5))] + name
    return name


def _character(unused: Sequence[str], draw: np.random.Generator) -> str:
    """Return a Chinese character: with equal probability, one of `unused` or any."""
    if unused and draw.random() < 0.5:
        return unused[int(draw.integers(len(unused)))]
    return chr(int(draw.integers(*_CHARACTERS)))
