"""The verifier of verdicts: a judge's reply is read as a judge's, and its label compared.

`likeness_of_critiques` compares a judge's grounds with the reference's, as the process reward of
RM-NLHF does: F1 over their core arguments, here the words of the quoted evidence.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from hexathlon.evaluators.judges.labels import ABSTAIN
from hexathlon.evaluators.judges.parsing import ReplyFault, read_first_error, read_point
from hexathlon.evaluators.judges.rubric import Criterion
from hexathlon.evaluators.judges.transcript import JudgedTranscript, squeezed
from hexathlon.evaluators.roleplay.judged import tokens_of
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.task import Task

__all__ = [
    "WHY",
    "criterion_of",
    "first_error",
    "likeness_of_critiques",
    "roleplay_verdict",
    "steps_of",
    "transcript_of",
]

WHY = "Whether the reply does so is a matter of what its sentences mean."
"""Why code cannot decide the statements of these tasks."""


def criterion_of(params: Mapping[str, Any]) -> Criterion:
    """Return the statement of a task as a criterion."""
    return Criterion(id="statement", text=params["statement"], why=WHY)


def transcript_of(params: Mapping[str, Any]) -> JudgedTranscript:
    """Return question and reply of a task as a judge sees them."""
    return JudgedTranscript.of_reply(params["question"], params["reply"])


def steps_of(params: Mapping[str, Any]) -> JudgedTranscript:
    """Return question and steps of a task as a judge sees them, each step as a turn."""
    turns = [{"role": "assistant", "content": step} for step in params["steps"]]
    return JudgedTranscript.of_messages([{"role": "user", "content": params["question"]}, *turns])


def likeness_of_critiques(critique: str, reference: str) -> float:
    """Return the F1 of the words (in Chinese, characters) of two critiques, compared without case.

    >>> likeness_of_critiques("My teacher is Osric.", "Osric is my uncle.")
    0.75
    """
    mine, theirs = (Counter(tokens_of(text)) for text in (critique, reference))
    common = (mine & theirs).total()
    return 2.0 * common / (mine.total() + theirs.total()) if common else 0.0


def roleplay_verdict(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: object
) -> Verdict:
    """Score 1 for the right label with evidence from the reply, in a judge's form.

    The terms say whether the reply could be read, whether it abstained, whether its evidence is or
    contains the deciding sentence (`evidence`), and how alike the two are (`critique`).
    """
    criterion, shown = criterion_of(task.params), transcript_of(task.params)
    try:
        label, quote, _ = read_point(str(final_state["reply"]), criterion, shown)
    except ReplyFault as fault:
        terms = dict.fromkeys(("read", "abstained", "evidence", "critique"), 0.0)
        return Verdict(score=0.0, partial=0.0, terms=terms, evidence={"fault": fault.why})
    right = label == params["label"]
    decisive = squeezed(params["evidence"]) in squeezed(quote)
    terms = {
        "read": 1.0,
        "abstained": float(label == ABSTAIN),
        "evidence": float(decisive),
        "critique": likeness_of_critiques(quote, params["evidence"]),
    }
    partial = 0.5 * right + 0.5 * (right and decisive)
    return Verdict(score=float(right), partial=partial, terms=terms, evidence={"label": label})


def first_error(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: object
) -> Verdict:
    """Score 1 if a verdict names the first wrong step, or says that there is none, and is right.

    Partial credit is for telling flawed from sound paths.
    """
    try:
        found = read_first_error(str(final_state["reply"]), steps_of(task.params))
    except ReplyFault as fault:
        terms = dict.fromkeys(("read", "abstained", "noticed"), 0.0)
        return Verdict(score=0.0, terms=terms, evidence={"fault": fault.why})
    expected = "no_error" if params["turn"] is None else "error"
    noticed = found.label == expected
    right = noticed and found.turn == params["turn"]
    terms = {"read": 1.0, "abstained": float(found.label == ABSTAIN), "noticed": float(noticed)}
    return Verdict(
        score=float(right), partial=0.5 * noticed + 0.5 * right, terms=terms,
        evidence={"label": found.label, "turn": found.turn},
    )  # fmt: skip
