"""Statistics of evaluation: intervals, comparisons, repeats, missing evidence, ranking.

Pure functions of numbers, with exactly rounded sums, so that a score is the same to the last digit
wherever it is computed; only `units`, which compares many rows at once, uses numpy. The unit is the
*task*: trials of one task are averaged first, because treating trials as independent makes
intervals far too narrow.
"""

from hexathlon.evaluators.statistics.comparison import (
    PairedComparison,
    exact_mcnemar,
    holm,
    minimum_detectable_difference,
    paired_comparison,
    tasks_needed,
)
from hexathlon.evaluators.statistics.evidence import Denominators, denominators, normalised_score
from hexathlon.evaluators.statistics.intervals import (
    ScoreInterval,
    clustered_standard_error,
    score_interval,
    wilson,
)
from hexathlon.evaluators.statistics.noise import repeat_deviation
from hexathlon.evaluators.statistics.ranking import RankRange, pareto_front, rank_ranges
from hexathlon.evaluators.statistics.repeats import outcome_consistency, pass_at_k, pass_hat_k
from hexathlon.evaluators.statistics.units import (
    PairTests,
    UnitSums,
    pair_tests,
    unit_rank_ranges,
)

__all__ = [
    "Denominators",
    "PairTests",
    "PairedComparison",
    "RankRange",
    "ScoreInterval",
    "UnitSums",
    "clustered_standard_error",
    "denominators",
    "exact_mcnemar",
    "holm",
    "minimum_detectable_difference",
    "normalised_score",
    "outcome_consistency",
    "pair_tests",
    "paired_comparison",
    "pareto_front",
    "pass_at_k",
    "pass_hat_k",
    "rank_ranges",
    "repeat_deviation",
    "score_interval",
    "tasks_needed",
    "unit_rank_ranges",
    "wilson",
]
