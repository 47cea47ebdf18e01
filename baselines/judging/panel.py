"""A panel: several judges decide each criterion, and the majority counts."""

import asyncio
from collections.abc import Sequence

from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.labels import ABSTAIN, Decision, Why, majority
from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = ["PanelJudge"]

_FEWEST_FAMILIES = 3


class PanelJudge:
    """Decides by majority; members that cannot tell, or give no readable answer, abstain.

    Args:
        members: Pointwise judges.
    """

    def __init__(self, members: Sequence[PointwiseJudge]) -> None:
        if len(members) < 2:
            raise ValueError(f"a panel has at least two members, got {len(members)}")
        self.members = tuple(members)

    @property
    def families(self) -> tuple[str, ...]:
        """The model families of the members, sorted."""
        found = {name for one in self.members for name in one.client.identity.families}
        return tuple(sorted(found))

    @property
    def diverse(self) -> bool:
        """Whether three families or more are on the panel (rule J10)."""
        return len(self.families) >= _FEWEST_FAMILIES

    async def decide(
        self, criterion: Criterion, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> Decision:
        """Decide one criterion; the evidence is that of the first member of the majority."""
        votes = await asyncio.gather(
            *(one.decide(criterion, transcript, repeat=repeat) for one in self.members)
        )
        if votes[0].source == "code":
            return votes[0]
        labels = tuple(vote.label if vote.value is not None else None for vote in votes)
        label, dispersion = majority(labels)
        cast = sum(one is not None for one in labels)
        details = {"dispersion": dispersion, "cast": cast}
        faults = tuple(fault for vote in votes for fault in vote.faults)
        retries = sum(vote.retries for vote in votes)
        flags = tuple(sorted({flag for vote in votes for flag in vote.flags}))
        if label is None:
            why: Why = "tied" if cast else _common(votes)
            told = ABSTAIN if why == "abstained" else None
            return Decision(
                criterion.id, told, None, "", None, why, "panel", labels, retries, faults, flags,
                details,
            )  # fmt: skip
        chosen = next(vote for vote in votes if vote.label == label and vote.value is not None)
        return Decision(
            criterion.id, label, chosen.value, chosen.quote, chosen.turn, "", "panel", labels,
            retries, faults, flags, details,
        )  # fmt: skip

    async def decide_all(
        self, rubric: Rubric, transcript: JudgedTranscript, *, repeat: int = 0
    ) -> list[Decision]:
        """Decide every criterion of a rubric, in its order."""
        asked = (self.decide(one, transcript, repeat=repeat) for one in rubric.decided)
        return list(await asyncio.gather(*asked))


def _common(votes: Sequence[Decision]) -> Why:
    """Return why nobody voted: abstentions if all abstained, else the first other reason."""
    return next((vote.why for vote in votes if vote.why != "abstained"), "abstained")
