"""Contexts: texts that rollouts of a group read after the opening of their task.

Records, evaluations and environments do not see them. The filter `hint_free` cuts them out before
the update, so that the policy learns to act without them.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hexathlon.baselines.algorithms.budgets import BUDGET, BUDGETS, check_budgets
from hexathlon.baselines.algorithms.registry import Registry

__all__ = [
    "CONTEXTS",
    "Context",
    "ContextRule",
    "budgets",
    "efforts",
    "examples",
    "guide",
    "modes",
    "none",
    "strategies",
    "written",
]

EFFORT = "Effort: "
"""Beginning of the contexts that ask for an effort; a share follows."""


class Context(NamedTuple):
    """The context of one rollout; empty for none."""

    text: str = ""
    share: float = 0.0
    """Share of the oracle's actions, from 0 to less than 1, that are written below the text."""

    example: bool = False
    """Whether the oracle's whole solution of another task is written below the text instead."""


ContextRule = Callable[..., list[Context]]
"""Maps expected success, a number of rollouts and a random generator to a context for each."""


CONTEXTS: Registry[ContextRule] = Registry("context")


def written(context: Context, actions: Sequence[str], example: str = "") -> str:
    """Return the text of a context; the last of the task's own actions is never given."""
    if context.example:
        return f"{context.text}\n{example}" if example else ""
    count = min(int(context.share * len(actions)), len(actions) - 1)
    if context.share and count < 1:
        return ""
    return "\n".join([*filter(None, [context.text]), *actions[: max(count, 0)]])


@CONTEXTS.register("none")
def none(success: float, rollouts: int, draw: np.random.Generator) -> list[Context]:
    """No contexts."""
    return [Context()] * rollouts


def _for_failing(
    context: Context, success: float, rollouts: int, below: float, plain: float
) -> list[Context]:
    """Return a context for all but the share `plain` if `success` is at most `below`, else none."""
    count = rollouts - math.floor(plain * rollouts) if success <= below else 0
    return [Context()] * (rollouts - count) + [context] * count


@CONTEXTS.register("guide")
def guide(
    success: float,
    rollouts: int,
    draw: np.random.Generator,
    *,
    text: str = "A solution begins with:",
    share: float = 0.5,
    below: float = 0.2,
    plain: float = 0.5,
) -> list[Context]:
    """A hint in words for tasks that rarely succeed, for all but a share of the rollouts (Guide).

    With the filter `hint_free` and `learn.objective.proximal = "behaviour"`, the ratio is Guide's:
    the hint-free policy now over the policy that sampled with the hint. Baselines are over
    hinted and plain rollouts. Chosen here: the words are the first actions of the oracle, and
    tasks are known to be hard from earlier steps instead of being sampled again.

    Raises:
        ValueError: If a share is out of range.
    """
    if not (0 <= share < 1 and 0 <= below <= 1 and 0 <= plain <= 1):
        raise ValueError(
            f"expected shares from 0 to 1, share less than 1, got share={share}, below={below} and "
            f"plain={plain}"
        )
    return _for_failing(Context(text, share), success, rollouts, below, plain)


@CONTEXTS.register("strategies")
def strategies(
    success: float,
    rollouts: int,
    draw: np.random.Generator,
    *,
    texts: Sequence[str] = (
        "First look at everything that may matter, then act.",
        "Take the shortest way.",
        "Check the result before you finish.",
    ),
    dropout: float = 0.5,
) -> list[Context]:
    """One of several strategies for each rollout, or none (NudgeRL).

    The share `dropout` of the rollouts has no context; the others take the strategies in turn, in a
    random order. Use with the estimator `nudge` and the filter `with_plain_copies`.

    Raises:
        ValueError: If there are no texts, or `dropout` is not in [0, 1].
    """
    if not texts or not 0 <= dropout <= 1:
        raise ValueError(f"expected texts and a dropout from 0 to 1, got {len(texts)}, {dropout}")
    bare = round(dropout * rollouts)
    order = [int(place) for place in draw.permutation(len(texts))]
    chosen = [texts[order[n % len(texts)]] for n in range(rollouts - bare)]
    return [Context()] * bare + [Context(text) for text in chosen]


@CONTEXTS.register("modes")
def modes(
    success: float,
    rollouts: int,
    draw: np.random.Generator,
    *,
    texts: Sequence[str] = ("Answer at once.", "Think first.", "Use the tools."),
    each: int = 1,
) -> list[Context]:
    """`each` rollouts forced into every mode, the others free to choose (A2FM's adaptive sampling).

    The shaping `mode_cost` makes the cheapest mode that suffices worth most, and the filter
    `hint_free` teaches the policy to choose it unasked. If the modes do not fit into the group,
    the first ones are played.

    Raises:
        ValueError: If there are no texts, or `each` is below 1.
    """
    if not texts or each < 1:
        raise ValueError(f"expected texts and at least 1 of each, got {len(texts)}, each={each}")
    forced = [Context(text) for text in texts for _ in range(each)][:rollouts]
    return forced + [Context()] * (rollouts - len(forced))


@CONTEXTS.register("examples")
def examples(
    success: float,
    rollouts: int,
    draw: np.random.Generator,
    *,
    text: str = "An example of a similar task and its solution:",
    below: float = 0.2,
    plain: float = 0.5,
) -> list[Context]:
    """A solved example for tasks that rarely succeed, for all but a share of the rollouts (XRPO).

    The example is another train task of the same table with the oracle's actions. Chosen here:
    examples are the oracle's, since own successes are rare exactly where they are needed.

    Raises:
        ValueError: If a share is not in [0, 1].
    """
    if not (0 <= below <= 1 and 0 <= plain <= 1):
        raise ValueError(f"expected shares from 0 to 1, got below={below} and plain={plain}")
    return _for_failing(Context(text, example=True), success, rollouts, below, plain)


@CONTEXTS.register("efforts")
def efforts(
    success: float,
    rollouts: int,
    draw: np.random.Generator,
    *,
    levels: Sequence[float] = (0.5, 0.75, 1.0),
) -> list[Context]:
    """An effort for each rollout, in turn: the share of the task's usual length (e1).

    The shaping `effort` reads it. The policy learns to follow the number, which remains a knob
    after training.

    Raises:
        ValueError: If there are no levels, or one is not positive.
    """
    if not levels or min(levels) <= 0:
        raise ValueError(f"expected positive efforts, got {list(levels)}")
    return [Context(f"{EFFORT}{levels[n % len(levels)]:g}") for n in range(rollouts)]


@CONTEXTS.register("budgets")
def budgets(
    success: float,
    rollouts: int,
    draw: np.random.Generator,
    *,
    budgets: Sequence[int] = BUDGETS,
) -> list[Context]:
    """A token budget for each rollout, in turn, which the estimator `hbpo` reads (HBPO).

    Raises:
        ValueError: If there are no budgets, or one is below 1.
    """
    check_budgets(budgets)
    return [Context(f"{BUDGET}{budgets[n % len(budgets)]} tokens") for n in range(rollouts)]
