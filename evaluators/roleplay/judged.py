"""Verifiers of public role-play sets that need no model: unscored, and Rouge-L."""

import re
from collections.abc import Mapping
from typing import Any

from hexathlon.evaluators.subsequence import common_length
from hexathlon.evaluators.verdict import Verdict
from hexathlon.tasks.roleplay.text import fold
from hexathlon.tasks.task import Task

__all__ = ["roleplay_judged", "rouge_l", "rouge_l_of", "tokens_of"]

_TOKEN = re.compile(r"[㐀-鿿]|[^\W_]+")


def roleplay_judged(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: object
) -> Verdict:
    """Leave the episode unscored, since only a judge can grade it."""
    replies = [turn for turn in final_state["turns"] if turn["reply"].strip()]
    share = len(replies) / len(task.params["lines"])
    return Verdict(score=0.0, status="unscored", terms={"answered": min(share, 1.0)})


def rouge_l(
    task: Task, params: Mapping[str, Any], final_state: Mapping[str, Any], transcript: object
) -> Verdict:
    """Score Rouge-L of the last reply: the F-measure against the closest reference.

    Words are folded and not stemmed; Chinese is split into characters.
    """
    turns = final_state["turns"]
    complete = len(turns) >= len(task.params["lines"])
    reply = turns[-1]["reply"] if complete and turns else ""
    references = params["references"]
    score = max((rouge_l_of(reply, reference) for reference in references), default=0.0)
    return Verdict(score=score, terms={"references": float(len(params["references"]))})


def rouge_l_of(reply: str, reference: str) -> float:
    """Return the F-measure of the longest common subsequence of words."""
    a, b = tokens_of(reply), tokens_of(reference)
    common = common_length(a, b)
    return 2.0 * common / (len(a) + len(b)) if common else 0.0


def tokens_of(text: str) -> list[str]:
    """Return the folded words of a text; every Chinese character is one."""
    return _TOKEN.findall(fold(text))
