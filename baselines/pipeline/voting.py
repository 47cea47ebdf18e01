"""Votes among the rollouts of a task: majority labels, agreement, and the elected answer.

They need no verifier, so they serve training at test time and tree decoding.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from hexathlon.baselines.tokens.trajectory import Trajectory

__all__ = ["BallotKind", "answer_of", "check_answer", "confidence", "elected", "majority"]

BallotKind = Literal["action", "state"]
"""What counts as a rollout's answer: its last action, or the final state of its environment."""


def check_answer(by: str) -> None:
    """Raise ValueError unless a recipe names a kind of answer."""
    if by not in ("action", "state"):
        raise ValueError(f'by must be "action" or "state", got {by!r}')


def answer_of(trajectory: Trajectory, by: BallotKind = "action") -> str | None:
    """Return the answer of a rollout; None if it has no score or a budget cut it off."""
    record = trajectory.record
    if not trajectory.scored or record["stop"] != "completed" or not record["steps"]:
        return None
    return record["final_state_hash"] if by == "state" else record["steps"][-1]["action"]


def _votes(played: Sequence[Trajectory], by: BallotKind) -> Counter[str]:
    answers = (answer_of(trajectory, by) for trajectory in played)
    return Counter(answer for answer in answers if answer is not None)


def majority(played: Sequence[Trajectory], by: BallotKind = "action") -> list[float]:
    """Return 1 for rollouts with the most frequent answer, 0 for others.

    Among equally frequent answers, the one that occurs first wins. Rollouts without an answer get 0
    and no vote.
    """
    votes = _votes(played, by)
    winner = votes.most_common(1)[0][0] if votes else None
    return [
        float(winner is not None and answer_of(trajectory, by) == winner) for trajectory in played
    ]


def confidence(played: Sequence[Trajectory], by: BallotKind = "action") -> float:
    """Return the share of the most frequent answer among those with an answer; 0 without any."""
    votes = _votes(played, by)
    return votes.most_common(1)[0][1] / votes.total() if votes else 0.0


def elected(played: Sequence[Trajectory], by: BallotKind = "action") -> Trajectory | None:
    """Return the first rollout with the most frequent answer: a tree's own answer (ReEx-SQL).

    None if no rollout has an answer. A function for analyses; training does not report it.
    """
    labels = majority(played, by)
    return played[labels.index(1.0)] if 1.0 in labels else None
