"""An executor of a small decision process whose outcomes can be enumerated.

An episode is `TURNS` choices between 0 and 1. The policy's choices come from a script, so that all
outcomes of a structure can be listed with their probabilities. It is not a real environment: tests
use it for expectations, and real ones for forks.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from hexathlon.baselines.pipeline.collect import Collected, Collector, GroupPlan
from hexathlon.baselines.rollout.executor import Outcome, Request
from hexathlon.baselines.rollout.limits import TrialLimits
from hexathlon.baselines.rollout.prefix import Prefix, ResourcesUsed
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.tokens.tree import Node, TokenTree
from hexathlon.evaluators.records import TrialRecord

TURNS = 3
Bits = tuple[int, ...]

HISTORIES = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]
ONE = dict(zip(HISTORIES, (0.3, 0.6, 0.5, 0.2, 0.7, 0.9, 0.4), strict=True))
"""Probability of choosing 1 after each history."""

PAID = {(0, 1, 1): 1.0, (1, 0, 0): 1.0, (1, 1, 1): 1.0, (0, 0, 1): 0.5}
"""Rewards of whole episodes; 0 for others."""


def probability(history: Bits, bit: int) -> float:
    return ONE[history] if bit else 1.0 - ONE[history]


def value(history: Bits) -> float:
    """The expected reward after a history."""
    if len(history) == TURNS:
        return PAID.get(history, 0.0)
    return sum(probability(history, bit) * value((*history, bit)) for bit in (0, 1))


def gradient(history: Bits) -> float:
    """The derivative of the expected reward by the logit of choosing 1 after a history."""
    reached = np.prod([probability(history[:n], bit) for n, bit in enumerate(history)])
    one = ONE[history]
    gain = value((*history, 1)) - value((*history, 0))
    return float(reached) * one * (1.0 - one) * gain


class Unscripted(Exception):
    """The script has no further choice."""


class EnumeratedExecutor:
    """Plays episodes whose choices follow a script; a failing trial has no score.

    It fails at the end of the episode, or with `at_once` before its first own choice.
    """

    def __init__(
        self,
        script: Sequence[int] | Callable[[Bits], int],
        failing: int = -1,
        at_once: bool = False,
    ) -> None:
        self._script: Iterator[int] | Callable[[Bits], int]
        self._script = script if callable(script) else iter(script)
        self._failing = failing
        self._at_once = at_once
        self.probability = 1.0
        self.drawn = 0

    def _choice(self, history: Bits) -> int:
        if callable(self._script):
            return self._script(history)
        bit = next(self._script, None)
        if bit is None:
            raise Unscripted
        return bit

    async def run(self, requests: Sequence[Request]) -> list[Outcome]:
        return [self._played(request) for request in requests]

    def _played(self, request: Request) -> Outcome:
        start = request.start
        history: Bits = start.memory if start is not None else ()
        tree = TokenTree([*start.media["tree"]]) if start is not None else TokenTree()  # type: ignore[misc]
        points = []
        if self._at_once and request.key[3] == self._failing:
            return Trajectory(self._record(request, history), tree)
        while len(history) < TURNS:
            if request.pause_after == len(history):
                return self._prefix(request, history, tree, points)
            if request.points and (start is None or len(history) > start.turns):
                points.append(self._prefix(request, history, tree, []))
            bit = self._choice(history)
            self.drawn += 1
            chance = probability(history, bit)
            self.probability *= chance
            if not tree.nodes:
                tree.add(Node((9,), "prompt"))
            tree.add(
                Node(
                    (bit,), "sampled", len(tree.nodes) - 1, len(history),
                    (float(np.log(chance)),), (0,), trial=request.key[3],
                )
            )  # fmt: skip
            history = (*history, bit)
        points = [*(start.points if start else ()), *points]
        record = self._record(request, history)
        return Trajectory(record, tree, points=tuple(points), errors=_errors(history))

    def _prefix(self, request: Request, history: Bits, tree: TokenTree, points: Any) -> Prefix:
        steps = tuple(self._steps(history))
        # Media carries the tokens, so that the memory stays a plain value.
        media = cast("Any", {"tree": tuple(tree.nodes)})
        before = request.start.points if request.start is not None else ()
        return Prefix(
            request.key, "", steps, memory=history, media=media, points=(*before, *points),
            spent=ResourcesUsed(errors=_errors(history)),
        )  # fmt: skip

    def _steps(self, history: Bits) -> list[dict[str, Any]]:
        last = len(history) - 1
        paid = PAID.get(history, 0.0)
        return [
            {"index": n, "action": str(bit), "observation": "", "reward": paid * (n == last)}
            for n, bit in enumerate(history)
        ]

    def _record(self, request: Request, history: Bits) -> TrialRecord:
        env, task, seed, trial = request.key
        failed = trial == self._failing
        record = {
            "key": {"env": env, "task": task, "seed": seed, "trial": trial},
            "status": "infra" if failed else "scored",
            "error": "lost" if failed else None,
            "reward": None if failed else PAID.get(history, 0.0),
            "stop": "completed",
            "terms": {},
            "tool_errors": sum(_errors(history)),
            "final_state_hash": str(history),
            "steps": self._steps(history),
        }
        return cast("TrialRecord", record)

    async def abort(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        pass


def _errors(history: Bits) -> tuple[int, ...]:
    """Choosing 0 counts as a failed call."""
    return tuple(int(bit == 0) for bit in history)


class Possible(NamedTuple):
    """One outcome of a structure."""

    probability: float
    collected: Collected


def plan(members: int) -> GroupPlan:
    return GroupPlan("toy/count/tiny/train/0", "enumerated", TrialLimits(), members, 3)


def collected(executor: EnumeratedExecutor, members: int, **structure: Any) -> Collected:
    """Play one group; `structure` has `splits` or `growth`."""
    return asyncio.run(Collector(executor, **structure).collect([plan(members)]))


def outcomes(members: int, **structure: Any) -> list[Possible]:
    """Return every outcome of a group with its probability."""
    done: list[Possible] = []
    scripts: list[Bits] = [()]
    while scripts:
        script = scripts.pop()
        executor = EnumeratedExecutor(script)
        try:
            played = collected(executor, members, **structure)
        except Unscripted:
            scripts += [(*script, 0), (*script, 1)]
            continue
        done.append(Possible(executor.probability, played))
    return done
