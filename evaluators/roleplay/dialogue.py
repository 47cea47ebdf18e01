"""Rule for dialogues: every beat has one correct act, in the typed channel and in prose.

A beat is correct if the act and its typed values are, and if the reply states the true value where
the act has one, does not contradict the act in any way that code can decide, follows the rules of
speech, reveals no secret, and shows no knowledge of later beats. The score is 1 if every beat is
correct and none is missing. Replies whose prose code cannot decide are listed in the evidence as
`unverified_prose`; the score says nothing about what else they say.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hexathlon.evaluators.roleplay.figures import joins
from hexathlon.evaluators.roleplay.leaks import confirms, denies, leaks
from hexathlon.evaluators.roleplay.prose import read_prose
from hexathlon.evaluators.roleplay.spoken import SpokenAct
from hexathlon.evaluators.roleplay.style import broken_rules, own_words, without_phrases
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.bilingual import Language
from hexathlon.tasks.roleplay.choosing import chosen_option, other_option
from hexathlon.tasks.roleplay.text import found, same_value
from hexathlon.tasks.task import Task

__all__ = ["roleplay_dialogue"]


def roleplay_dialogue(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: object
) -> Verdict:
    """Grade a dialogue by its beats."""
    beats, turns = params["beats"], final_state["turns"]
    judge = _Judge(params, task)
    failed: list[tuple[int, str]] = []
    for place, beat in enumerate(beats):
        if place >= len(turns):
            failed.append((place, "missing"))
            continue
        failed += [(place, fault) for fault in judge.faults(place, beat, turns[place])]
    failed += [(place, "one_too_many") for place in range(len(beats), len(turns))]
    failed += judge.spread(turns)
    wrong = {place for place, _ in failed}
    terms = _shares(beats, wrong)
    for name in ("act", "value", "prose", "style", "secret", "foresight", "missing"):
        terms[f"fault_{name}"] = float(any(fault.startswith(name) for _, fault in failed))
    terms["unverified_prose"] = len(judge.undecided) / len(beats)
    return Verdict(
        score=float(not failed),
        partial=1.0 - len(wrong & set(range(len(beats)))) / len(beats),
        terms=terms,
        evidence={
            "failed": [[place, fault] for place, fault in failed],
            "unverified_prose": judge.undecided,
        },
    )


def _shares(beats: Sequence[Mapping[str, Any]], wrong: set[int]) -> dict[str, float]:
    groups: dict[str, list[float]] = {}
    for place, beat in enumerate(beats):
        groups.setdefault(beat["about"], []).append(float(place not in wrong))
    return {name: sum(values) / len(values) for name, values in sorted(groups.items())}


class _Judge:
    def __init__(self, params: Mapping[str, Any], task: Task) -> None:
        self._params: Mapping[str, Any] = params
        self._language: Language = task.params["language"]
        self._lines: Sequence[Mapping[str, Any]] = task.params["lines"]
        self._place = 0
        self._heard = ""
        self._known = [task.instruction]
        self._chosen: dict[str, str] = {}
        self.undecided: list[int] = []
        """Places of the replies whose prose is correct as far as code can tell, and no further."""

    def faults(self, place: int, beat: Mapping[str, Any], turn: Mapping[str, Any]) -> list[str]:
        """Return the kinds of faults of one turn."""
        self._place = place
        self._heard += "\n" + turn["heard"]
        self._known.append(turn["heard"])
        rules = [rule for rule in self._params["rules"] if _applies(rule, place)]
        faults = self._typed(beat, turn, own_words(turn["reply"], rules))
        if "act" not in faults:
            reading = read_prose(self._spoken(beat, turn, rules))
            faults += reading.faults
            if not reading.decided and not reading.faults:
                self.undecided.append(place)
        broken = broken_rules(turn["reply"], rules, self._language, self._heard)
        faults += [f"style:{kind}" for kind in broken]
        if not beat["tells"] and any(
            leaks(turn["reply"], secret, turn["heard"]) for secret in self._params["secrets"]
        ):
            faults.append("secret")
        own = without_phrases(turn["reply"], rules) if beat["guessed"] else ""
        if confirms(own):
            faults.append("secret:confirmed")
        if denies(own):
            faults.append("secret:denied")
        for word in self._params["later"]:
            if found(turn["reply"], word) and not found(self._heard, word):
                faults.append("foresight")
        return faults

    def spread(self, turns: Sequence[Mapping[str, Any]]) -> list[tuple[int, str]]:
        """Return the fault of a secret number told digit by digit over several refusals."""
        told = [
            turn["reply"]
            for beat, turn in zip(self._params["beats"], turns, strict=False)
            if beat["act"] == "refuse"
        ]
        codes = [v for s in self._params["secrets"] for v in s["values"] if v.isdigit()]
        return [(len(turns) - 1, "secret:spread") for code in set(codes) if joins(told, code)]

    def _spoken(
        self, beat: Mapping[str, Any], turn: Mapping[str, Any], rules: Sequence[Mapping[str, Any]]
    ) -> SpokenAct:
        values, claims = self._expected(beat, turn)
        return SpokenAct(
            turn["act"], without_phrases(turn["reply"], rules), self._language, self._known,
            turn["heard"], values, claims, beat["reasons"], beat["about"],
        )  # fmt: skip

    def _typed(self, beat: Mapping[str, Any], turn: Mapping[str, Any], prose: str) -> list[str]:
        if turn["act"] != beat["act"]:
            return ["act"]
        if beat["act"] == "say":
            return []
        if beat["act"] == "refuse":
            return [] if turn["reason"] in beat["reasons"] else ["value:reason"]
        faults = []
        values, claims = self._expected(beat, turn)
        given = turn["value"] if beat["act"] == "answer" else turn["truth"]
        if not any(same_value(given, value) for value in values):
            faults.append("value")
        if beat["act"] == "correct" and not any(same_value(turn["claim"], c) for c in claims):
            faults.append("value:claim")
        if not any(found(prose, value) for value in values):
            faults.append("prose")
        return faults

    def _expected(
        self, beat: Mapping[str, Any], turn: Mapping[str, Any]
    ) -> tuple[Sequence[str], Sequence[str]]:
        group, options = beat["choice"], beat["options"]
        if not group:
            claims = self._lines[self._place]["keep"] if beat["act"] == "correct" else []
            return beat["value"], claims
        if group == "choose":
            chosen = chosen_option(options, turn["value"])
            self._chosen[options[0]] = chosen or ""
            return ([chosen] if chosen else []), []
        earlier = self._chosen.get(options[0], "")
        return ([earlier] if earlier else []), [other_option(options, earlier)]


def _applies(rule: Mapping[str, Any], place: int) -> bool:
    return bool(rule.get("from", 0) <= place < rule.get("until", 1 << 30))
