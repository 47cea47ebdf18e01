"""Rule for scenes: right responses, everything due done unasked, and no confidence broken.

A scene scores 1 if each line that has right responses got one of them, everything due was done in
time, to the right person and unheard by others, nothing was given to anybody else, and the
prose of no reply contradicts its act, breaks a rule of speech or leaks. Who was present, and what
the scene accepted, comes from the state; whether it was right is decided here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from hexathlon.evaluators.roleplay import cues
from hexathlon.evaluators.roleplay.leaks import confirms, denies, leaks
from hexathlon.evaluators.roleplay.prose import read_prose
from hexathlon.evaluators.roleplay.spoken import SpokenAct
from hexathlon.evaluators.roleplay.style import broken_rules, own_words, without_phrases
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.choosing import chosen_option, other_option
from hexathlon.tasks.roleplay.text import denotes, fold, found, same_value
from hexathlon.tasks.task import Task

__all__ = ["offends", "roleplay_scene"]

_FREE = ("prose:invents", "prose:competes", "prose:disbelieves")
"""Contradictions of dialogues that are none here, where the character may speak freely."""

_DECLINING: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\bi (?:refuse|decline)\b|\bi (?:would|had) rather not\b|\bno chance\b|\bnot a chance\b"
        r"|\bout of the question\b|\bin your dreams\b|\bi can not (?:promise|do|grant)\b"
        r"|^(?:no|nay|nope|never)[.!,;]"
    ),
    "zh": re.compile(r"办不到|休想|恕难|没门|做梦|免谈|(?<!行)不行[，,。!！]|不答应|不可能"),
}
"""Marks of declining in a reply that grants; a promise of silence may contain other negations."""


_BESIDE = 16
"""Characters beside the bare value of something told, a quarter as many in Chinese."""

_LISTING = frozenset(",;/|、")
"""Marks between the items of a list, after folding, which makes Chinese commas plain."""

_NO_INSULT = re.compile(r"(?<!\ba )\bnobody\b", re.IGNORECASE)
"""`nobody` where it calls no one names, as in "this is for you and nobody else"."""


_EITHER_WAY: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\bwhether [^.;!?]*|\b(?:right|true|yes|warm|hot)(?: or| nor| and)(?: \w+)? "
        r"(?:wrong|false|no|not|cold)\b|\bneither (?:right|wrong|yes|no|nod)\b[^.;!?]*",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:[猜说])?得?[对中错准]了?(?:还是|或者?|也好|也罢|与|和|、|，)*(?:[猜说])?得?[对错]了?(?:也好|也罢)?"
        r"|[猜说]得?[对中准]不[对中准]|是不是|对不对|是(?:还是|与|或|也好)[，、]?不是|不?是也(?:好|罢)"
    ),
}
"""Words for both outcomes at once, which confirm and deny nothing."""


def offends(reply: str, language: Language) -> bool:
    """Return whether a reply insults, curses or threatens somebody."""
    return cues.HOSTILE[language].search(fold(_NO_INSULT.sub("no one", reply))) is not None


def roleplay_scene(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: object
) -> Verdict:
    """Grade a scene.

    `partial` is the share of checks that hold: responses, things due, and threads of confidence.
    """
    grader = _Grader(task, params, final_state["turns"])
    grader.read()
    checks = grader.checks()
    faults = grader.faults
    threads: dict[str, list[float]] = {}
    for name, held in checks:
        threads.setdefault(name, []).append(float(held))
    right = all(held for _, held in checks) and not faults
    kinds = {fault.split(":")[0] for _, fault in faults}
    passed = sum(held for _, held in checks)
    return Verdict(
        score=float(right),
        partial=max(0.0, passed - len(faults)) / len(checks),
        terms={
            **{f"thread_{name}": min(values) for name, values in sorted(threads.items())},
            **{
                f"fault_{kind}": float(kind in kinds)
                for kind in ("goods", "prose", "secret", "style")
            },
            "unverified_prose": len(grader.undecided) / max(1, len(grader.turns)),
        },
        evidence={
            "missed": sorted({name for name, held in checks if not held}),
            "places": grader.missed,
            "faults": [[place, fault] for place, fault in faults],
            "unverified_prose": grader.undecided,
        },
    )


@lru_cache(maxsize=4096)
def _told_in_parts(reply: str, values: tuple[str, ...], heard: str) -> bool:
    return leaks(reply, {"values": values}, heard)


@lru_cache(maxsize=1024)
def _pieces(value: str) -> tuple[str, ...]:
    """Return the words of a value, and its pairs of Chinese characters."""
    text = fold(value)
    pairs = [text[i : i + 2] for i in range(len(text) - 1)] if not text.isascii() else []
    return (*text.split(), *pairs)


def _names(value: str, wanted: str) -> bool:
    """Return whether a typed value is what was wanted, with few words about it.

    A list of all that it might be names nothing.
    """
    given, sought = fold(value), fold(wanted)
    most = len(sought) + (_BESIDE if sought.isascii() else _BESIDE // 4)
    listed = (set(given) - set(sought)) & _LISTING and not same_value(value, wanted)
    return denotes(value, wanted) and len(given) <= most and not listed


class _Grader:
    def __init__(
        self, task: Task, params: Mapping[str, Any], turns: Sequence[Mapping[str, Any]]
    ) -> None:
        self._task, self._params, self.turns = task, params, turns
        self._language: Language = task.params["language"]
        self._moments: Sequence[Mapping[str, Any]] = task.params["moments"]
        texts = [str(moment["text"]) for moment in self._moments]
        names = [figure["name"] for figure in task.params["figures"]]
        self._public = fold("\n".join([task.instruction, *texts, *names]))
        self._common: dict[tuple[str, ...], list[str]] = {}
        self._responses: dict[int, Mapping[str, Any]] = {}
        self._done: list[int | None] = [None] * len(params["dues"])
        self.faults: list[tuple[int, str]] = []
        """Numbers of turns, and names of the faults."""

        self.undecided: list[int] = []
        self.missed: list[int] = []
        """Places of moments without a right response."""

    def read(self) -> None:
        """Read all turns in order."""
        known = [self._task.instruction]
        for number, turn in enumerate(self.turns):
            known.append(turn["heard"])
            if turn["closes"]:
                self._responses[turn["place"]] = turn
            self.faults += [(number, fault) for fault in self._turn_faults(turn, known, number)]

    def checks(self) -> list[tuple[str, bool]]:
        """Return for every check the thread that it belongs to, and whether it holds."""
        checks = []
        choices = self._choices()
        for place, moment in enumerate(self._params["moments"]):
            if not moment["accept"] or self._settled(place):
                continue
            turn = self._responses.get(place)
            held = turn is not None and any(
                self._accepted(turn, accept, place, choices) for accept in moment["accept"]
            )
            checks.append((moment["thread"], held))
            if not held:
                self.missed.append(place)
        for due, done in zip(self._params["dues"], self._done, strict=True):
            checks.append((due["thread"], done is not None))
        return checks

    # -- responses -------------------------------------------------------------------------

    def _settled(self, place: int) -> bool:
        """Return whether a sale that was due has settled the line, or made it superfluous."""
        gone = self._moments[place]["unless"]
        return bool(gone) and place not in self._responses and self._sold(gone)

    def _sold(self, event: str) -> bool:
        item = event.partition(":")[2]
        return any(
            turn["result"] == "sold" and denotes(turn["typed"]["what"], item) for turn in self.turns
        )

    def _choices(self) -> dict[str, str]:
        chosen = {}
        for place, turn in self._responses.items():
            choice = self._moments[place]["choice"]
            if choice.get("use") == "choose" and turn["act"] == "answer":
                options = choice["options"]
                chosen[options[0]] = chosen_option(options, turn["typed"]["value"]) or ""
        return chosen

    def _accepted(
        self,
        turn: Mapping[str, Any],
        accept: Mapping[str, Any],
        place: int,
        choices: Mapping[str, str],
    ) -> bool:
        act, typed = accept["act"], turn["typed"]
        if turn["act"] != act:
            return False
        if act == "agree":
            return True
        if act == "refuse":
            return typed["reason"] in accept["reasons"]
        values, claims = self._expected(accept, place, choices)
        prose = own_words(turn["reply"], self._params["rules"])
        given = typed["value"] if act == "answer" else typed["truth"]
        right = any(same_value(given, value) for value in values)
        right = right and any(found(prose, value) for value in values)
        if act == "correct" and claims:
            right = right and any(same_value(typed["claim"], claim) for claim in claims)
        return right

    def _expected(
        self, accept: Mapping[str, Any], place: int, choices: Mapping[str, str]
    ) -> tuple[Sequence[str], Sequence[str]]:
        choice = self._moments[place]["choice"]
        if not choice:
            return accept["value"], accept.get("claim", ())  # without claims, any will do
        options = choice["options"]
        own = choices.get(options[0], "")
        if choice["use"] == "choose":
            return options, ()
        return ([own] if own else []), [other_option(options, own)]

    # -- turns -----------------------------------------------------------------------------

    def _turn_faults(
        self, turn: Mapping[str, Any], known: Sequence[str], number: int
    ) -> Iterator[str]:
        place, reply, rules = turn["place"], turn["reply"], self._params["rules"]
        if turn["act"] == "tell" and turn["result"] == "told":
            yield from self._told(turn, number)
        if turn["act"] == "give" and turn["result"] in ("gave", "sold", "dear"):
            yield from self._given(turn, number)
        broken = broken_rules(reply, rules, self._language)
        if "out_of_role" in broken:  # unless those words were heard before
            broken = broken_rules(reply, rules, self._language, "\n".join(known[1:]))
        for kind in broken:
            yield f"style:{kind}"
        strangers = set(self._moments[place]["present"])
        for item in self._params["confidences"]:
            if item["since"] <= place < item["until"] and strangers - set(item["allowed"]):
                if self._leaks(reply, item, turn["heard"]):
                    yield f"secret:{item['thread']}"
        own = without_phrases(reply, rules)
        if self._params["moments"][place]["guess"] and turn["closes"]:
            neutral = _EITHER_WAY[self._language].sub(" ", own)
            if confirms(neutral):
                yield "secret:confirmed"
            if denies(neutral):
                yield "secret:denied"
        spoken = self._spoken(turn, _NO_INSULT.sub("no one", own), known)
        reading = read_prose(spoken)
        faults = [fault for fault in reading.faults if fault not in _FREE]
        if turn["act"] == "agree" and _DECLINING[self._language].search(spoken.text):
            faults.append("prose:refuses")
        yield from faults
        if not faults and not reading.decided:
            self.undecided.append(number)

    def _leaks(self, reply: str, item: Mapping[str, Any], heard: str) -> bool:
        """Return whether a reply tells a confidence.

        Words that it shares with other names of the scene, such as two places on hills, do not
        count unless the whole of it is said.
        """
        if any(found(reply, value) and not found(heard, value) for value in item["values"]):
            return True
        values = tuple(item["values"])
        if values not in self._common:
            self._common[values] = self._shared(values)
        for word in self._common[values]:
            reply = re.sub(rf"\b{word}\b", " ", reply, flags=re.IGNORECASE)
        echoed = any(piece in fold(heard) for value in item["values"] for piece in _pieces(value))
        return _told_in_parts(reply, values, heard if echoed else "")

    def _shared(self, values: Sequence[str]) -> list[str]:
        """Return the words of a confidence that also occur elsewhere in the scene."""
        public = self._public
        for value in map(fold, values):
            public = public.replace(value, " ")
        words = [word for value in values for word in re.findall(r"[a-z]{3,}", fold(value))]
        return [word for word in words if re.search(rf"\b{word}\b", public)]

    def _told(self, turn: Mapping[str, Any], number: int) -> Iterator[str]:
        value = turn["typed"]["value"]
        for place, due in self._matching(turn, "tell"):
            if any(_names(value, wanted) for wanted in due["what"]):
                prose = own_words(turn["reply"], self._params["rules"])
                if any(found(prose, wanted) for wanted in due["what"]):
                    self._done[place] = number
                else:
                    yield "prose"

    def _given(self, turn: Mapping[str, Any], number: int) -> Iterator[str]:
        for place, due in self._matching(turn, "give"):
            same = denotes(turn["typed"]["what"], due["what"][0])
            if same and turn["typed"]["price"] == due["price"] and turn["result"] != "dear":
                price = due["price"]
                if price and not found(turn["reply"], str(price)):
                    yield "prose"
                self._done[place] = number
                return
        yield "goods"

    def _matching(
        self, turn: Mapping[str, Any], act: str
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        figures = self._task.params["figures"]
        for place, due in enumerate(self._params["dues"]):
            if due["act"] != act or not due["at"] <= turn["place"] <= due["until"]:
                continue
            names = figures[due["to"]]["names"]
            if not any(same_value(turn["typed"]["to"], name) for name in names):
                continue
            alone = self._moments[turn["place"]]["present"] == [due["to"]]
            if alone or not due["alone"]:
                yield place, due

    def _spoken(self, turn: Mapping[str, Any], reply: str, known: Sequence[str]) -> SpokenAct:
        act, typed = turn["act"], turn["typed"]
        values, claims, reasons = [], [], []
        if act == "answer":
            values = [typed["value"]]
        elif act == "correct":
            values, claims = [typed["truth"]], [typed["claim"]]
        elif act == "refuse":
            reasons = [typed["reason"]]
        elif act == "agree":
            act = "say"
        elif act == "give" and typed["price"]:
            act, values = "offer", [str(typed["price"])]
        elif act != "say":
            act = "speak"
        return SpokenAct(
            act, reply, self._language, known, turn["heard"], values, claims, reasons
        )  # fmt: skip
