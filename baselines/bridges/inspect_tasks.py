"""An event as a task of inspect_ai 0.3: its samples are our tasks, its scores our verdicts.

The event's tools are offered to the model, and images are sent as content. An infrastructure
failure is a sample error, which inspect does not score.
"""

from collections.abc import Sequence
from typing import Any

from hexathlon.baselines.bridges.asynchronous import episode_of
from hexathlon.baselines.bridges.listing import TaskListing

__all__ = ["event_task"]


def event_task(
    event: str, *, split: str = "test", level: Any = None, taskset: str | None = None,
    count: int = 100, seed: int = 0, tasks: Sequence[str] = (), **settings: Any,
) -> Any:  # fmt: skip
    """Return an `inspect_ai.Task` with the first `count` tasks of a split, or with `tasks`.

    `seed` is that of every episode; `settings` are arguments of `BridgedEpisode`.
    """
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import Score, mean, scorer, stderr
    from inspect_ai.solver import solver

    from hexathlon.baselines.bridges.inspect_chat import converse

    rows = [{"task": task} for task in tasks]
    rows = rows or TaskListing(event, taskset, level).rows(split, 0, count)
    samples = [
        Sample(input="(the event's)", id=row["task"], metadata={**row, "seed": seed})
        for row in rows
    ]

    @solver  # type: ignore[untyped-decorator]
    def episode() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            async with episode_of(event, **settings) as played:
                await converse(played, state, seed)
                state.store.set("reward", played.reward)
            return state

        return solve

    @scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator]
    def verdict() -> Any:
        async def score(state: Any, target: Any) -> Any:
            terms = state.store.get("terms", {})
            return Score(value=state.store.get("reward", 0.0), metadata=terms)

        return score

    return Task(MemoryDataset(samples, name=event), solver=episode(), scorer=verdict(), name=event)
