"""Shapings that reward how a rollout got to its result: steps, reuse, likeness to solutions.

Where a paper leaves a formula open, the docstring says what was chosen.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hexathlon.baselines.algorithms.samples import Array, Group, Sample, turns_of
from hexathlon.baselines.pipeline.shaping import SHAPINGS, added
from hexathlon.evaluators.subsequence import common_length

__all__ = ["likeness", "process", "references", "skill_reuse", "staged"]


def _by_turn(sample: Sample, extra: Sequence[float] | Array) -> Sample:
    """Add a reward to each turn."""
    pairs = zip(sample.rewards, extra, strict=True)
    return replace(sample, rewards=tuple(float(reward + more) for reward, more in pairs))


@SHAPINGS.register("process")
def process(
    groups: Sequence[Group],
    *,
    factor: float = 0.2,
    only_correct: bool = True,
    tools: bool = False,
) -> list[Group]:
    """Add `factor` times the mean of the steps' scores to the reward (RM-NLHF).

    R = R_outcome + factor * mean of the steps' `feedback`: each of T turns gets factor / T times
    its own score, so that long rollouts do not earn more. The feedback may be the likeness of a
    critique to a human's (RM-NLHF), a step's verification (GroundedPRM) or the result of executing
    a line (PRLCoder); set it with `with_feedback`, since training scores no steps. With `tools`,
    the turns of a rollout without feedback score 1 if none of their calls failed, else 0. Chosen
    here: only successes earn it by default, so that a convincing process never replaces a correct
    outcome.

    Raises:
        ValueError: If a sample has feedback, but not one for each turn.
    """

    def shaped(sample: Sample) -> Sample:
        feedback = sample.feedback
        if tools and not feedback:
            feedback = tuple(float(count == 0) for count in sample.errors)
        if not feedback or (only_correct and sample.reward <= 0):
            return sample
        if len(feedback) != len(sample.rewards):
            raise ValueError(
                f"process needs feedback on each turn; sample {sample.key} has "
                f"{len(feedback)} for {len(sample.rewards)} turns"
            )
        return _by_turn(sample, factor * np.array(feedback) / len(sample.rewards))

    return [replace(group, samples=tuple(map(shaped, group.samples))) for group in groups]


def _actions(sample: Sample) -> list[bytes]:
    return [sample.ids[positions].tobytes() for positions in turns_of(sample) if len(positions)]


def likeness(one: Sequence[bytes], other: Sequence[bytes]) -> float:
    """Return 2 L / (m + n), L the length of the longest common subsequence of two sequences."""
    common = common_length(one, other)
    return 2.0 * common / (len(one) + len(other)) if common else 0.0


@SHAPINGS.register("references")
def references(
    groups: Sequence[Group], *, factor: float = 0.2, threshold: float = 1.0
) -> list[Group]:
    """Reward failures by their likeness to the closest of several solutions (KAT-Coder).

    A failure gets `factor` times the largest likeness of its actions to those of the group's
    successes; a task may have several, and each way of solving it counts. Chosen here: the gold
    trajectories are the group's own successes, compared by the longest common subsequence of whole
    turns (KAT-Coder names no formula).
    """
    shaped = []
    for group in groups:
        gold = [_actions(s) for s in group.samples if s.reward >= threshold]
        samples = [
            s
            if s.reward >= threshold or not gold
            else added(s, factor * max(likeness(_actions(s), each) for each in gold))
            for s in group.samples
        ]
        shaped.append(replace(group, samples=tuple(samples)))
    return shaped


@SHAPINGS.register("staged")
def staged(
    groups: Sequence[Group],
    *,
    stages: Sequence[int] = (20,),
    weights: Sequence[float] = (1.0, 0.0),
) -> list[Group]:
    """Mix the mean of the reward's terms into the reward, less in later stages (TableGPT-R1).

    R becomes (1 - w) R + w * mean of the verifier's terms, w the weight of the stage; a new stage
    begins after each number of updates in `stages`. Early stages reward partial results, the last
    one only the outcome. Chosen here: the step is the version of the policy that sampled the
    rollout; rollouts without terms or versions keep their reward.

    Raises:
        ValueError: If there is not one weight more than `stages`, or one is outside [0, 1].
    """
    if len(weights) != len(stages) + 1 or not all(0 <= weight <= 1 for weight in weights):
        raise ValueError(
            f"expected {len(stages) + 1} weights from 0 to 1 for stages={list(stages)}, got "
            f"{list(weights)}"
        )

    def shaped(sample: Sample) -> Sample:
        if not sample.objectives or sample.version is None:
            return sample
        stage = int(np.searchsorted(sorted(stages), sample.version.max(), side="right"))
        return added(sample, weights[stage] * (float(np.mean(sample.objectives)) - sample.reward))

    return [replace(group, samples=tuple(map(shaped, group.samples))) for group in groups]


@SHAPINGS.register("skill_reuse")
def skill_reuse(
    groups: Sequence[Group], *, bonus: float = 0.1, length: int = 8, threshold: float = 1.0
) -> list[Group]:
    """Add a bonus to successes that reuse what a success of an earlier task did (SAGE).

    Groups of a batch with the same source and template form a chain of similar tasks, in order. A
    skill is an action of at least `length` tokens in a success of one of them; a success of a later
    task with the same action gets the bonus once. Chosen here: skills are actions instead of named
    functions of a library, and only the later success gets the bonus.
    """
    made: dict[str, set[bytes]] = {}
    shaped = []
    for group in groups:
        known = made.setdefault("/".join(group.task.split("/")[:2]), set())
        samples, new = [], set[bytes]()
        for sample in group.samples:
            if sample.reward >= threshold:
                size = sample.ids.itemsize * length
                skills = {action for action in _actions(sample) if len(action) >= size}
                new |= skills
                sample = added(sample, bonus) if skills & known else sample
            samples.append(sample)
        known |= new
        shaped.append(replace(group, samples=tuple(samples)))
    return shaped
