"""Whether the prose of a reply agrees with its typed act, as far as code can decide.

`read_prose` returns contradictions, each by name, and whether the rest of the reply was decided.
A reply is decided if it consists of known sentences around its values (`.frames`); everything else
is *unverified prose*, which only a judge can read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hexathlon.evaluators.roleplay import cues
from hexathlon.evaluators.roleplay.frames import only_known_sentences, spans
from hexathlon.evaluators.roleplay.inventions import competing, entities_of, invented
from hexathlon.evaluators.roleplay.spoken import SpokenAct
from hexathlon.tasks.bilingual import Language

__all__ = ["ProseReading", "read_prose"]


class ProseReading(NamedTuple):
    """The result for one reply."""

    faults: tuple[str, ...]
    """Names of the contradictions."""

    decided: bool
    """Whether code decided the whole reply; False for unverified prose without a fault."""


def read_prose(spoken: SpokenAct) -> ProseReading:
    """Return the contradictions in a reply's prose, and whether the rest is decided."""
    faults = [f"prose:{name}" for name in dict.fromkeys(_faults(spoken))]
    return ProseReading(tuple(faults), not faults and only_known_sentences(spoken))


def _faults(spoken: SpokenAct) -> Iterator[str]:
    language, text = spoken.language, spoken.text
    if cues.HOSTILE[language].search(text):
        yield "hostile"
    if cues.RETRACTING[language].search(text):
        yield "retracts"
    if spoken.act not in _GAMES and any(True for _ in invented(spoken)):
        yield "invents"
    yield from _BY_ACT[spoken.act](spoken)


def _in_answer(spoken: SpokenAct) -> Iterator[str]:
    text = spoken.text
    if cues.DENYING[spoken.language].search(text) or _second_thoughts(spoken):
        yield "denies"
    if competing(spoken):
        yield "competes"
    if _negated(spoken, spoken.values):
        yield "negates"


def _in_correction(spoken: SpokenAct) -> Iterator[str]:
    if cues.AGREEING[spoken.language].search(spoken.text) or _leads_with_yes(spoken):
        yield "agrees"
    if competing(spoken):
        yield "competes"
    if _negated(spoken, spoken.values):
        yield "negates"
    if _asserted(spoken, spoken.claims):
        yield "claims"


def _in_refusal(spoken: SpokenAct) -> Iterator[str]:
    language, text = spoken.language, spoken.text
    refusing = cues.REFUSING[language].search(text)
    if "against_my_rules" in spoken.reasons and cues.COMPLYING[language].search(text):
        yield "complies"
    if list(spoken.reasons) == ["not_known"]:
        if cues.AGREEING[language].search(text) or (_leads_with_yes(spoken) and not refusing):
            yield "agrees"
        if cues.FALSE[language].search(text):
            yield "denies"
    elif _leads_with_yes(spoken) and not refusing:
        yield "complies"
    if not refusing and cues.ANSWERED[language].search(text):
        yield "answers"


def _in_speech(spoken: SpokenAct) -> Iterator[str]:
    if spoken.about == "granted" and cues.UNWILLING[spoken.language].search(spoken.text):
        yield "refuses"
    if spoken.about == "listening" and cues.DISBELIEVING[spoken.language].search(spoken.text):
        yield "disbelieves"


def _in_offer(spoken: SpokenAct) -> Iterator[str]:
    if _negated(spoken, spoken.values):
        yield "negates"
    if _second_thoughts(spoken):
        yield "denies"


def _in_game(spoken: SpokenAct) -> Iterator[str]:
    yield from ()


_GAMES = ("offer", "confront", "speak")
_BY_ACT = {
    "offer": _in_offer,
    "confront": _in_correction,
    "speak": _in_game,
    "answer": _in_answer,
    "correct": _in_correction,
    "refuse": _in_refusal,
    "say": _in_speech,
}

_YES = re.compile(
    r"^(?:ah |oh |well |why )*(?:yes|yeah|yea|yep|aye|indeed|quite so|exactly|precisely"
    r"|of course|sure|certainly|correct|right|true|true enough|agreed|just so|surely|absolutely)"
    r"(?=[\s,.!;:—-]|$)(?! ?,?-? ?(?:not|no|never))"
    r"|^(?:是|对|嗯|好|行|当然|没错)(?:的|啊|呀|了|吧)?(?=[,。!;]|$)"
)
_CONTRARY: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:but|though|however|not|no|never|only|actually|wrong|mistaken|except|yet|rather|nor|save)\b"
    ),
    "zh": re.compile(r"但|可|不|没|却|只|错|非|其实"),
}


def _leads_with_yes(spoken: SpokenAct) -> bool:
    """Return whether a reply opens with consent that nothing after it qualifies."""
    match = _YES.search(spoken.text)
    if match is None:
        return False
    return not _CONTRARY[spoken.language].search(spoken.text[match.end() :])


_SECOND = {
    "en": re.compile(
        r"[.;!?,—–-] ?(?:no|nay|nope)(?=[,.!—–-])(?! ?,? ?(?:none|nobody|nothing|never|not|no))"
    ),
    "zh": re.compile(r"[,。;!?—](?:哦)?不,?(?:对|是)|[,。;!?—]不,"),
}


def _second_thoughts(spoken: SpokenAct) -> bool:
    """Return whether the reply contradicts itself after naming the value."""
    places = [end for value in spoken.values for _, end in spans(spoken.text, value)]
    if not places:
        return False
    rest = spoken.text[min(places) :]
    if _SECOND[spoken.language].search(rest):
        return True
    other = re.match(r"(?: the \w+)?,? (?:or|and also)(?: was it| maybe| perhaps| else)? ", rest)
    if spoken.language == "zh":
        other = re.match(r",?(?:或者?|还是|要么)(?:是|叫)?", rest)
    return other is not None and _names_known(rest[other.end() :][:24], spoken)


def _names_known(text: str, spoken: SpokenAct) -> bool:
    return any(
        text.startswith(word)
        for known in spoken.known
        for word in entities_of(known, spoken.language)
    )


def _negated(spoken: SpokenAct, values: Sequence[str]) -> bool:
    """Return whether any mention of the values, outside of longer claims, is negated."""
    before, after = cues.BEFORE_NEGATION[spoken.language], cues.AFTER_NEGATION[spoken.language]
    claimed = [span for claim in spoken.claims for span in spans(spoken.text, claim)]
    for value in values:
        for start, end in spans(spoken.text, value):
            if any(a <= start and end <= b and (a, b) != (start, end) for a, b in claimed):
                continue
            head = spoken.text[max(0, start - 60) : start]
            denied = before.search(head)
            kept = cues.NOT_NEGATING[spoken.language].search(head) or (
                denied
                and denied[0].startswith("除了")
                and re.match("[^。]{0,4}[还没别哪]", spoken.text[end:])
            )
            if denied and not kept:
                return True
            if after.search(spoken.text[end : end + 40]):
                return True
    return False


def _asserted(spoken: SpokenAct, claims: Sequence[str]) -> bool:
    """Return whether a false claim is asserted, neither quoted nor disputed."""
    for claim in claims:
        for start, end in spans(spoken.text, claim):
            sentence = _sentence(spoken.text, start, end)
            if cues.ALLEGED[spoken.language].search(sentence):
                continue
            if re.match(
                r"(?:,? (?:who|that|which|is|was)\b|才是|是我)", spoken.text[end : end + 12]
            ):
                continue
            if cues.ASSERTING[spoken.language].search(spoken.text[max(0, start - 40) : start]):
                return True
    return False


def _sentence(text: str, start: int, end: int) -> str:
    head = re.split(r"[.;!…。；！]", text[:start])[-1]
    tail = re.match(r"[^.;!…。；！]*", text[end:])
    return head + text[start:end] + (tail[0] if tail else "")
