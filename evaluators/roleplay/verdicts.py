"""The verifier of verdicts: a judge's reply is read as a judge's, and its label compared.

`likeness_of_critiques` compares a judge's grounds with the reference's, as the process reward of
RM-NLHF does: F1 over their core arguments, here the lines.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from hexathlon.evaluators.judges.labels import ABSTAIN
from hexathlon.evaluators.judges.parsing import ReplyFault, read_point
from hexathlon.evaluators.judges.rubric import Criterion
from hexathlon.evaluators.judges.transcript import JudgedTranscript, squeezed
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.task import Task

__all__ = ["criterion_of", "likeness_of_critiques", "roleplay_verdict", "transcript_of"]

_WHY = "Whether the reply does so is a matter of what its sentences mean."


def criterion_of(params: Mapping[str, Any]) -> Criterion:
    """Return the statement of a task as a criterion."""
    return Criterion(id="statement", text=params["statement"], why=_WHY)


def transcript_of(params: Mapping[str, Any]) -> JudgedTranscript:
    """Return question and reply of a task as a judge sees them."""
    return JudgedTranscript.of_reply(params["question"], params["reply"])


def likeness_of_critiques(critique: str, reference: str) -> float:
    r"""Return the F1 of two critiques' lines, compared without case; 0 if either is empty.

    >>> likeness_of_critiques("a\\nb", "b\\nc")
    0.5
    """
    mine, theirs = (Counter(filter(None, squeezed(text).split(" | "))) for text in (
        critique.replace("\n", " | "), reference.replace("\n", " | ")))  # fmt: skip
    common = (mine & theirs).total()
    return 2.0 * common / (mine.total() + theirs.total()) if common else 0.0


def roleplay_verdict(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: object
) -> Verdict:
    """Score 1 for the right label with evidence from the reply, in a judge's form.

    The terms say whether the reply could be read, whether it abstained, and whether its evidence
    is or contains the deciding sentence.
    """
    criterion, shown = criterion_of(task.params), transcript_of(task.params)
    try:
        label, quote, _ = read_point(str(final_state["reply"]), criterion, shown)
    except ReplyFault as fault:
        terms = {"read": 0.0, "abstained": 0.0, "evidence": 0.0}
        return Verdict(score=0.0, partial=0.0, terms=terms, evidence={"fault": fault.why})
    right = label == params["label"]
    decisive = squeezed(params["evidence"]) in squeezed(quote)
    terms = {"read": 1.0, "abstained": float(label == ABSTAIN), "evidence": float(decisive)}
    partial = 0.5 * right + 0.5 * (right and decisive)
    return Verdict(score=float(right), partial=partial, terms=terms, evidence={"label": label})
