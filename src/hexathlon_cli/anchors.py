"""Reference runs beside a run: the trivial agents and the oracle on the same trials."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hexathlon.baselines.harness.config import EvalConfig, ExecutionConfig
    from hexathlon.baselines.harness.player import OpenPlayers

__all__ = ["play_anchors"]


def play_anchors(
    run: Path,
    config: "EvalConfig",
    execution: "ExecutionConfig",
    open_players: "OpenPlayers | None",
    *,
    force_new: bool = False,
) -> None:
    """Play the trials of a run with every trivial agent and the oracle, or resume those runs.

    Budgets of the run do not apply to them.

    Args:
        run: The run directory; each agent's run is `anchors/NAME` in it.
        config: The run's configuration.
        execution: Settings of the execution.
        open_players: Opens other processes that play the trials; by default, this process does.
        force_new: Move directories with a different plan aside instead of raising.
    """
    from hexathlon.baselines.harness.anchors import anchor_agents
    from hexathlon.baselines.harness.report import ANCHOR_FOLDER, read_run
    from hexathlon.baselines.harness.run import evaluate
    from hexathlon_cli.output import note

    unlimited = {"max_cost": 0.0, "max_tokens": 0, "max_hours": 0.0}
    plain = execution.model_copy(update={"keep_tokens": False, **unlimited})
    for name in anchor_agents(read_run(run).plan):
        note(f"anchor: {name}")
        anchor = config.model_copy(update={"model": f"agent:{name}", "dialect": "auto"})
        folder = run / ANCHOR_FOLDER / name
        evaluate(anchor, plain, folder, force_new=force_new, open_players=open_players)
