"""Parts of a published check: decided by code, or pending until a judge or a person decides.

A product with a factor of 0 is 0, so a pending part leaves an episode unscored only if all decided
parts hold.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from hexathlon.evaluators.verdict import Verdict

__all__ = ["CheckPart", "Pending", "verdict_of"]

Pending = Literal["judge", "image", "site"]
"""Decider of a pending part: a judge of texts, a judge of images, or the site's own interface."""


class CheckPart(NamedTuple):
    """One condition."""

    name: str
    """Kind of the check and its position, such as `fuzzy_match 0`."""

    met: bool
    pending: Pending | None = None
    """Set if code cannot decide; `met` is then ignored."""


def verdict_of(parts: Sequence[CheckPart], final_state: Mapping[str, Any]) -> Verdict:
    """Combine parts by product.

    Args:
        parts: The conditions.
        final_state: May have `judgements`, true or false by name of a pending part.
    """
    judged = final_state.get("judgements", {})
    settled = [
        CheckPart(part.name, judged[part.name] is True)
        if part.pending and part.name in judged
        else part
        for part in parts
    ]
    waiting = [part for part in settled if part.pending]
    decided = [part for part in settled if not part.pending]
    met = all(part.met for part in decided)
    terms = {part.name: float(part.met) for part in decided}
    terms |= {f"needs_{part.pending}": 1.0 for part in waiting}
    names = [f"{part.name}: {part.pending}" for part in waiting]
    share = sum(part.met for part in decided) / len(settled) if settled else 0.0
    if waiting and met:
        return Verdict(score=0.0, status="unscored", terms=terms, evidence={"pending": names})
    return Verdict(
        score=float(met and bool(settled)), partial=share, terms=terms, evidence={"pending": names}
    )
