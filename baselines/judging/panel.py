"""A panel of judges that decides each criterion by majority."""

import asyncio
from collections.abc import Sequence

from hexathlon.baselines.judging.pointwise import PointwiseJudge
from hexathlon.evaluators.judges.labels import ABSTAIN, Decision, Why, majority
from hexathlon.evaluators.judges.rubric import Criterion, Rubric
from hexathlon.evaluators.judges.transcript import JudgedTranscript

__all__ = ["PanelJudge"]


class PanelJudge:
    """Decides by majority; members that cannot tell, or give no valid answer, abstain.

    Args:
        members: Pointwise judges.
    """

    def __init__(self, members: Sequence[PointwiseJudge]) -> None:
        if len(members) < 2:
            raise ValueError(f"expected at least two members of a panel, got {len(members)}")
        self.members = tuple(members)

    @property
    def families(self) -> tuple[str, ...]:
        """The model families of the members, sorted."""
        names = {name for member in self.members for name in member.client.identity.families}
        return tuple(sorted(names))

    async def decide(
        self,
        criterion: Criterion,
        transcript: JudgedTranscript,
        *,
        repeat: int = 0,
        topics: Sequence[Criterion] = (),
    ) -> Decision:
        """Decide one criterion; the evidence is that of the majority's first member."""
        votes = await asyncio.gather(
            *(
                member.decide(criterion, transcript, repeat=repeat, topics=topics)
                for member in self.members
            )
        )
        if votes[0].source == "code":
            return votes[0]
        labels = tuple(vote.label if vote.value is not None else None for vote in votes)
        label, dispersion = majority(labels)
        cast = sum(vote is not None for vote in labels)
        details = {"dispersion": dispersion, "cast": cast}
        faults = tuple(fault for vote in votes for fault in vote.faults)
        retries = sum(vote.retries for vote in votes)
        flags = tuple(sorted({flag for vote in votes for flag in vote.flags}))
        if label is None:
            why: Why = "tied" if cast else _common(votes)
            shared = ABSTAIN if why == "abstained" else None
            return Decision(
                criterion.id, shared, None, "", None, why, "panel", labels, retries, faults, flags,
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
        """Decide all criteria of a rubric, in order."""
        decisions = (
            self.decide(item, transcript, repeat=repeat, topics=rubric.judged)
            for item in rubric.decided
        )
        return list(await asyncio.gather(*decisions))


def _common(votes: Sequence[Decision]) -> Why:
    """Return why there are no votes: abstention if all abstained, else the first other reason."""
    return next((vote.why for vote in votes if vote.why != "abstained"), "abstained")
