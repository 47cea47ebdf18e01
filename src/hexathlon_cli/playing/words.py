"""Verdicts in words: what was right, what was wrong, and why.

Verifiers report terms by short names, for tables. These names are never shown: a term has a
sentence, in the environment's hints or below, or it is omitted.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hexathlon.evaluators.verdict import Verdict

__all__ = ["explained"]

_FAULT = "fault_"
_REQUEST = "request "
_REPORTED = ("status", "data", "record")
_MOST_FAILED = 8
_WRONG_AT_0 = {
    "visible": "The result on the database that you saw is not the expected one.",
    "hidden": "On another database with the same tables, the query gives a wrong result: it relies "
    "on chance, or on values of the one that you saw.",
    "nothing_else": "Something else in the database was changed as well.",
    "reason": "The reason given why it cannot be done is wrong.",
    "evidence": "The evidence given for it is wrong.",
    "goal": "The goal of the scene was not reached.",
    "named": "Not every lie was named.",
    "steps_passed": "Not all tests of the final files passed.",
    "all_handed_in": "Not every ticket was handed in.",
}
"""Sentences for terms that are 1 on success."""

_RIGHT_AT_1 = {
    "visible": "The result on the database that you saw is right.",
    "hidden": "It is also right on other databases with the same tables.",
    "nothing_else": "Nothing else in the database was changed.",
    "reason": "The reason is right.",
    "evidence": "The evidence is right.",
    "goal": "The goal of the scene was reached.",
}
_WRONG_AT_1 = {
    "no_query": "No query was submitted.",
    "no_answer": "No answer was submitted.",
    "no_database": "The database was not submitted.",
    "no_script": "No script of changes was submitted.",
    "not_handed_in": "The database was not submitted.",
    "not_called_impossible": "The task cannot be done, which should have been reported.",
    "several_statements": "Only one statement can be submitted.",
    "not_a_query": "What was submitted is not a query.",
    "too_long": "What was submitted is too long.",
    "columns": "It does not have the expected number of columns.",
    "rows": "It does not have the expected number of rows.",
    "values": "It has the right number of rows, but different values.",
    "order": "The rows are right, but not in the requested order.",
    "fault_act": "A reply uses the wrong tool.",
    "fault_value": "A reply states something wrong.",
    "fault_prose": "The text of a reply contradicts its other arguments.",
    "fault_style": "A reply breaks a rule of the character's voice.",
    "fault_secret": "A secret was given away.",
    "fault_foresight": "The character knew of something that comes later.",
    "fault_missing": "Lines were left without a reply.",
    "wrong": "Something that is not a lie was called one.",
}
"""Sentences for terms that are 0 on success."""

_OF_A_LINE = {
    "act": "another tool was called for",
    "value": "it states something wrong",
    "prose": "its text contradicts its other arguments",
    "style": "it breaks a rule of the character's voice",
    "secret": "it gives a secret away",
    "foresight": "it knows of something that comes later",
    "missing": "it was left without a reply",
    "one_too_many": "it came after the end",
}
"""Explanations of faults in a dialogue's replies, by kind."""


def explained(verdict: Verdict, hints: Mapping[str, str]) -> Iterator[str]:
    """Yield a verdict as sentences: the outcome, then what was wrong and what was right.

    Args:
        verdict: The verdict.
        hints: The environment's own sentences by term; under `TERM=1`, that for a term that is met.
    """
    if verdict.status == "unscored":
        yield "No verdict: the result could not be graded."
        return
    if verdict.score == 1.0:
        yield "Right: everything that was asked for holds, and nothing else changed."
        return
    share = verdict.partial
    near = f" About {share:.0%} of what counts is right." if share and share < 1.0 else ""
    yield ("Not right." if verdict.score == 0.0 else "Partly right.") + near
    wrong = list(dict.fromkeys(_wrong(verdict, hints)))
    right = [_praise(name, hints) for name, value in verdict.terms.items() if value == 1.0]
    right = [line for line in right if line]
    yield from (f"- {line}" for line in [*wrong, *_details(verdict)])
    if right:
        yield " ".join(["What is right:", *right])


def _praise(name: str, hints: Mapping[str, str]) -> str:
    """Return the sentence for a term that is met; empty if it has none."""
    general = "" if name in hints else _RIGHT_AT_1.get(name, "")
    return hints.get(f"{name}=1", general)


def _wrong(verdict: Verdict, hints: Mapping[str, str]) -> Iterator[str]:
    terms = verdict.terms
    for name, value in terms.items():
        if name == "hidden" and terms.get("visible") == 0.0:
            continue  # follows from the visible database
        if name in _REPORTED and terms.get("ended") == 0.0:
            continue  # there is no report that could be right
        if name == "asked" and value == 0.0:
            yield (
                "What was asked for has not been done, or not all of it."
                if "nothing_else" in terms
                else "The task leaves something open that the agent should have asked about."
            )
        elif name.startswith("error_") and value:
            yield "The query fails when it is run."
        elif name.startswith(_FAULT) or name in _WRONG_AT_1:
            said = hints.get(name) or _WRONG_AT_1.get(name)
            if value and said:
                yield said
        elif value == 0.0:
            said = hints.get(name) or _WRONG_AT_0.get(name)
            if said:
                yield said


def _details(verdict: Verdict) -> Iterator[str]:
    """Yield single failures: requests of a shift, changed rows, tests, lines of a dialogue."""
    yield from _tickets(verdict.evidence)
    requests = {int(name.removeprefix(_REQUEST)): value for name, value in verdict.terms.items()
                if name.startswith(_REQUEST)}  # fmt: skip
    if 0.0 in requests.values():
        numbers = ", ".join(str(number) for number, value in requests.items() if value == 0.0)
        yield f"Of {len(requests)} requests, these are not right: {numbers}."
    faults = list(verdict.evidence.get("faults", ()))
    yield from (_row(fault) for fault in faults[:_MOST_FAILED])
    if len(faults) > _MOST_FAILED:
        yield f"and {len(faults) - _MOST_FAILED} more"
    failed = verdict.evidence.get("failed", ())
    for one in list(failed)[:_MOST_FAILED]:
        yield f"Test {one}." if isinstance(one, str) else _line(one)
    if len(failed) > _MOST_FAILED:
        yield f"and {len(failed) - _MOST_FAILED} more"


def _tickets(evidence: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was wrong in a day of tickets on one database."""
    answers = evidence.get("wrong_answers", ())
    if answers:
        numbers = ", ".join(map(str, answers))
        yield f"Answers and refusals that are not those expected: of tickets {numbers}."
    for number, tables in evidence.get("differing", {}).items():
        yield f"When ticket {number} was handed in, tables were not right: {', '.join(tables)}."


def _row(fault: str) -> str:
    """Return a line on a row, such as `mail, letters 7: …` for `mail.letters 7: …`."""
    place, _, said = fault.partition(": ")
    table, _, key = place.partition(" ")
    app, _, name = table.partition(".")
    return f"{app}, {name}{key and f' {key}'}: {said}.".replace("_", " ")


def _line(failure: Any) -> str:
    place, kind = failure
    name, _, rule = str(kind).partition(":")
    about = f" ({rule.replace('_', ' ')})" if rule and name == "style" else ""
    return f"Line {int(place) + 1}: {_OF_A_LINE.get(name, 'it is wrong')}{about}."
