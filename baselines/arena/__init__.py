"""CharacterArena: agents play the same scenes; whole trajectories are compared and rated."""

from hexathlon.baselines.arena.arena import ArenaResult, Comparer, run_arena, run_arena_async
from hexathlon.baselines.arena.judges import group_comparer, rubric_comparer, score_comparer
from hexathlon.baselines.arena.simulation import Trajectory, simulate

__all__ = [
    "ArenaResult",
    "Comparer",
    "Trajectory",
    "group_comparer",
    "rubric_comparer",
    "run_arena",
    "run_arena_async",
    "score_comparer",
    "simulate",
]
