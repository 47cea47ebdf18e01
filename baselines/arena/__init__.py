"""CharacterArena: agents play the same scenes; whole performances are compared and rated.

It plays scenes by the one rollout path and rates agents from pairwise comparisons. Who compares
(rules, rubrics, models) is passed in.
"""

from hexathlon.baselines.arena.arena import ArenaResult, Comparer, run_arena, run_arena_async
from hexathlon.baselines.arena.judges import group_comparer, rubric_comparer, score_comparer
from hexathlon.baselines.arena.simulation import Performance, simulate

__all__ = [
    "ArenaResult",
    "Comparer",
    "Performance",
    "group_comparer",
    "rubric_comparer",
    "run_arena",
    "run_arena_async",
    "score_comparer",
    "simulate",
]
