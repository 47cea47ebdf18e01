"""The command `judge shift`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.judge.options import Seed

__all__ = ["shift"]


def shift(
    run: Annotated[Path, typer.Argument(help="Run on the task set roleplay-shift.")],
    scorer: Annotated[
        Path, typer.Option(help="Checkpoint directory that scores replies in their contexts.")
    ],
    negatives: Annotated[int, typer.Option(min=2, help="Mismatched pairs per estimate.")] = 1000,
    seed: Seed = 0,
) -> int:
    """Measure what a role-player loses under shift (R-EMID).

    R-EMID is the effective mutual information of context and reply in the distribution, minus that
    under the shift of one factor; above 0 is a loss. The unit is nats per token.
    """
    from hexathlon.baselines.harness.errors import EnvironmentUnavailable
    from hexathlon.baselines.harness.progress import Waiting
    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon.baselines.roleplay.log_probabilities import CheckpointScorer, ScorerUnavailable
    from hexathlon.baselines.roleplay.shift import shifts_of_run
    from hexathlon_cli.output import print_table

    try:
        model = CheckpointScorer(scorer)
    except ScorerUnavailable as error:
        raise EnvironmentUnavailable(str(error)) from None
    with Waiting("scoring replies"):
        found = shifts_of_run(run, model, length=model.length, negatives=negatives, seed=seed)
    rows = tuple(
        (
            one.factor,
            f"{one.inside:,} and {one.outside:,}",
            f"{one.result.in_distribution.value:.3f}",
            f"{one.result.shifted.value:.3f}",
            f"{one.result.value:.3f}",
            "{:.3f} to {:.3f}".format(*one.result.interval),
        )
        for one in found
    )
    headings = ("shift", "replies", "EMI inside", "EMI shifted", "R-EMID", "95% interval")
    print_table(ReportTable("Effective mutual information, nats per token", headings, rows))
    return 0
