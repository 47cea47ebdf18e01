"""CharacterArena: agents play the same scenes and are rated by comparing their performances.

Scenes are played through the shared rollout code; ratings follow from pairwise comparisons. The
comparer (rules, rubrics or models) is an argument.
"""

from hexathlon.baselines.arena.arena import ArenaResult, Comparer, run_arena, run_arena_async
from hexathlon.baselines.arena.judged import ArenaJudge
from hexathlon.baselines.arena.judges import group_comparer, rubric_comparer, score_comparer
from hexathlon.baselines.arena.recorded import ArenaPlayer, performances_of
from hexathlon.baselines.arena.simulation import Performance, simulate

__all__ = [
    "ArenaJudge",
    "ArenaResult",
    "Comparer",
    "Performance",
    "ArenaPlayer",
    "group_comparer",
    "performances_of",
    "rubric_comparer",
    "run_arena",
    "run_arena_async",
    "score_comparer",
    "simulate",
]
