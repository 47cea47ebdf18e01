"""Structures that correct rollouts: a wrong turn is replaced, and the environment plays the rest.

Stored tokens are never edited: a correction is a branch before the wrong turn whose first turns are
given, so observations, rewards and records are real.
"""

import json
from difflib import SequenceMatcher

import numpy as np

from hexathlon.baselines.agents.policy import Told
from hexathlon.baselines.pipeline.growth import (
    Branch,
    RolloutTree,
    TreeGrowth,
    chain_count,
    reply_of,
)
from hexathlon.baselines.pipeline.structures import STRUCTURES

__all__ = ["cleaner", "departure", "intervention", "scope"]


def _tool(action: str) -> str | None:
    """Return the name of the tool that an action calls; None unless it is a single call."""
    try:
        call = json.loads(action)
    except ValueError:
        return None
    return str(call["name"]) if isinstance(call, dict) and "name" in call else None


def _correction(tree: RolloutTree, leaf: int, similar: float) -> Branch | None:
    """Return the branch that skips a rollout's first failed call which it later corrects."""
    found = tree.leaves[leaf]
    steps, turns = found.trajectory.record["steps"], found.turns
    for failed in tree.own_turns(leaf):
        if not tree.failed(leaf, failed):
            continue
        before = steps[failed]["action"]
        for fix in range(failed + 1, len(steps)):
            action = steps[fix]["action"]
            if tree.failed(leaf, fix) or _tool(action) != _tool(before) or _tool(before) is None:
                continue
            if SequenceMatcher(None, before, action, autojunk=False).ratio() >= similar:
                rest = [turns[turn] for turn in range(fix, len(steps)) if turn in turns]
                if all(node.kind == "sampled" for node in rest):
                    forced = tuple(reply_of(node) for node in rest)
                    return Branch(leaf, failed, forced=forced, replaces=leaf)
    return None


@STRUCTURES.register("cleaner")
def cleaner(*, similar: float = 0.5) -> TreeGrowth:
    """Replace a failed call by its later correction (CLEANER's SAAR).

    Where a call fails and a later call of the same tool with a similarity of at least `similar`
    succeeds, the rollout is played again without the turns from the failure to the correction, with
    its own tokens. The corrected rollout takes the place of the original if it scores as much.
    Chosen here: whole turns are swapped, never the call alone; log-probabilities are those of the
    original context, which the learner recomputes unless the recipe corrects for the engine.
    """
    if not 0 <= similar <= 1:
        raise ValueError(f"similar must be between 0 and 1, got {similar}")

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        corrections = []
        for leaf in tree.kept:
            if (leaf, 0) not in tree.considered:
                tree.considered.add((leaf, 0))
                corrections.append(_correction(tree, leaf, similar))
        return [branch for branch in corrections if branch is not None]

    return TreeGrowth(lambda members: members, choose)


def departure(tree: RolloutTree, leaf: int) -> int | None:
    """Return the first turn in which a failed rollout departs from the reference solution.

    None if it succeeded, there is no reference, its actions equal the reference's as far as both
    go, or equal actions had different observations.
    """
    found, reference = tree.leaves[leaf], tree.reference
    if reference is None or found.reward >= 1.0:
        return None
    own, right = found.trajectory.record["steps"], reference.record["steps"]
    for turn, (step, wanted) in enumerate(zip(own, right, strict=False)):
        if step["action"] != wanted["action"]:
            return turn if turn >= tree.own_turns(leaf).start else None
        if step["observation"] != wanted["observation"]:
            return None
    return None


def _corrected(tree: RolloutTree, late: float, *, trained: bool) -> list[Branch]:
    """Return branches that take the reference's turn where failed rollouts leave it."""
    branches = []
    for leaf in tree.kept:
        turn = departure(tree, leaf)
        if turn is None or tree.reference is None or (leaf, turn) in tree.considered:
            continue
        tree.considered.add((leaf, turn))
        steps = tree.reference.record["steps"]
        if turn >= late * len(steps):
            told = Told(steps[turn]["action"], trained)
            branches.append(Branch(leaf, turn, forced=(told,)))
    return branches[: tree.room]


@STRUCTURES.register("scope")
def scope(*, chains: float = 0.5, late: float = 0.3) -> TreeGrowth:
    """Salvage nearly right rollouts: keep the prefix, correct the first wrong step, go on (SCOPE).

    Salvaged rollouts join the group. Chosen here: the first wrong step is the first in which a
    failed rollout leaves the oracle's solution, if that is after `late` of the solution, instead of
    a process reward model's; the corrected turn is the oracle's and has no gradient.
    """
    if not 0 <= late <= 1:
        raise ValueError(f"late must be between 0 and 1, got {late}")

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        return _corrected(tree, late, trained=False)

    return TreeGrowth(chain_count(chains), choose, reference=True)


@STRUCTURES.register("intervention")
def intervention(*, chains: float = 0.5) -> TreeGrowth:
    """Imitate the correction of the first wrong step, on the policy's own prefix (InT).

    Corrected rollouts are trained on their corrected turn only. With the surrogate `sft` and the
    filter `successes` this is the supervised stage before reinforcement learning. Chosen here: the
    error is where a failed rollout leaves the oracle's solution, instead of the model's own
    comparison with it.
    """

    def choose(tree: RolloutTree, draw: np.random.Generator) -> list[Branch]:
        return _corrected(tree, 0.0, trained=True)

    return TreeGrowth(chain_count(chains), choose, reference=True)
