"""Planted questions, whose right answers are known to code.

A planted question repeats the real one under an additional rule that decides it: "if no line
contains the text 'velmora', the label is 'not_met'". It is asked in the same call, among the real
one, in an order drawn for the call. A judge that does in a call what a text demands gives the same
answer to all of them, and so misses at least one that code knows; the reply is then invalid,
whatever it says about the real question. It does not matter how often a judge obeys, since each
call carries its own evidence.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from hexathlon.evaluators.judges.excerpts import Excerpt
from hexathlon.evaluators.judges.parsing import ReplyFault, read_object
from hexathlon.evaluators.judges.transcript import JudgedTranscript, squeezed
from hexathlon.tasks.seeding import generator_for

__all__ = [
    "RULES",
    "Arrangement",
    "Plant",
    "absent_word",
    "arranged",
    "candidate_plants",
    "point_plants",
    "read_planted",
    "turn_plants",
    "words_of",
]

Read = TypeVar("Read")

RULES = {
    "lowest": 'if no line contains the text "{word}", the label is "{answer}"',
    "highest": 'if a line contains the text "{word}", the label is "{answer}"',
    "with": 'the one that contains the text "{word}" is the best',
    "without": 'the one that does not contain the text "{word}" is the best',
    "turn": 'the turn of the agent that contains the text "{word}" holds the first mistake',
}
"""Rules of planted questions; part of the hash of all prompts."""

_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]{4,16}|[\u3040-\u30ff\u3400-\u9fff]{2,4}")
_ANY_WORD = re.compile(r"\w{1,16}")
_CONSONANTS, _VOWELS = "bdfglmnprstvz", "aeiou"


class Plant(NamedTuple):
    """One planted question."""

    rule: str
    answer: Any
    """The right answer under the rule."""


Arrangement = tuple[Plant | None, ...]
"""The questions of one call in their order; None is the real one."""


def arranged(plants: Sequence[Plant], *salt: str) -> Arrangement:
    """Return the planted questions and the real one in an order determined by the salt."""
    rows = (None, *plants)
    order = generator_for("plants", *salt).permutation(len(rows))
    return tuple(rows[int(place)] for place in order)


def absent_word(text: str, *salt: str) -> str:
    """Return an invented word that does not occur in a text."""
    generator = generator_for("absent word", *salt)
    while True:
        letters = [pool[int(generator.integers(len(pool)))] for pool in (_CONSONANTS, _VOWELS) * 4]
        word = "".join(letters)
        if word not in text:
            return word


def words_of(text: str, *salt: str) -> list[str]:
    """Return the words of a text in an order determined by the salt, without duplicates."""
    found = dict.fromkeys(_WORD.findall(text)) or dict.fromkeys(_ANY_WORD.findall(text))
    words = list(found)
    order = generator_for("present word", *salt).permutation(len(words))
    return [words[int(place)] for place in order]


def point_plants(menu: Sequence[str], shown: Excerpt, *salt: str) -> list[Plant]:
    """Return plants for a label: one whose answer is the lowest label, one with the highest."""
    text = shown.text
    low, high = menu[0], menu[-1]
    plants = [_plant("lowest", absent_word(text, *salt), low)]
    words = words_of(text, *salt)
    return plants + [_plant("highest", words[0], high)] if words else plants


def candidate_plants(shown: Mapping[str, Excerpt], *salt: str) -> list[Plant]:
    """Return up to two plants for a comparison, with different winners.

    Candidates that do not differ in any word have none.

    Args:
        shown: The excerpt of each candidate, by the name that wins.
        salt: Determines words and winners.
    """
    texts = {name: excerpt.text for name, excerpt in shown.items()}
    names = list(texts)
    order = generator_for("winners", *salt).permutation(len(names))
    plants: list[Plant] = []
    for name in (names[int(place)] for place in order):
        others = [text for other, text in texts.items() if other != name]
        own = (w for w in words_of(texts[name], name, *salt) if not any(w in o for o in others))
        word = next(own, None)
        if word is not None:
            plants.append(_plant("with", word, name))
            if len(names) == 2:
                plants.append(_plant("without", word, next(n for n in names if n != name)))
        if len(plants) >= 2:
            break
    return plants


def turn_plants(transcript: JudgedTranscript, *salt: str) -> list[Plant]:
    """Return up to two plants for the first wrong turn, with different turns."""
    turns = transcript.within("agent")
    texts = {turn: squeezed(transcript.lines[turn].text) for turn in turns}
    order = generator_for("turns", *salt).permutation(len(turns))
    plants: list[Plant] = []
    for turn in (turns[int(place)] for place in order):
        others = [text for other, text in texts.items() if other != turn]
        own = (
            w for w in words_of(texts[turn], str(turn), *salt) if not any(w in o for o in others)
        )
        word = next(own, None)
        if word is not None:
            plants.append(_plant("turn", word, turn))
        if len(plants) == 2:
            break
    return plants


def read_planted(
    text: str,
    arrangement: Arrangement,
    read: Callable[[dict[str, Any]], Read],
    answer: Callable[[Mapping[str, Any]], Any],
) -> Read:
    """Read the answer to the real question, if all planted ones are right.

    Args:
        text: The judge's reply.
        arrangement: The questions.
        read: Reads the real answer.
        answer: Returns what a plant's answer is compared with.

    Raises:
        ReplyFault: If an answer is missing, a planted question is wrong, or `read` raises.
    """
    data = read_object(text, "1")
    names = [str(number) for number in range(1, len(arrangement) + 1)]
    if sorted(data) != sorted(names) or not all(isinstance(data[name], dict) for name in names):
        raise ReplyFault("malformed", f"expected an object for each of {', '.join(names)}")
    for name, plant in zip(names, arrangement, strict=True):
        if plant is not None and answer(data[name]) != plant.answer:
            raise ReplyFault("swayed", f"question {name} has a known answer: {plant.answer}")
    return read(data[names[arrangement.index(None)]])


def _plant(rule: str, word: str, answer: str | int) -> Plant:
    return Plant(RULES[rule].format(word=word, answer=answer), answer)
