"""An agent between floor and ceiling: the oracle, making errors on a chosen share of the trials.

It needs no model and its expected score is known, so leaderboards, comparisons and intervals can be
tried with agents of different strength.
"""

from collections.abc import Sequence

from hexathlon.baselines.agents.base import Episode
from hexathlon.baselines.agents.scripted import ScriptPlayer
from hexathlon.baselines.agents.trivial import NoopAgent
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script
from hexathlon.tasks.stored.scripts import oracle_script

__all__ = ["NoisyAgent"]


class NoisyAgent:
    """Plays the oracle, except on a share of the trials, where it plays a near-miss mutant.

    Task, seed and trial determine which trials these are and which mutant is played. Agents of
    different shares use the same draws: an agent errs wherever one with a smaller share errs. If a
    task has no mutants, one of its trivial policies is played instead.

    Args:
        share: Probability of an error, from 0 to 1.
    """

    version = "1"
    asynchronous = False

    def __init__(self, share: float) -> None:
        if not 0.0 <= share <= 1.0:
            raise ValueError(f"expected a share of errors from 0 to 1, got {share}")
        self.share = share
        self.name = f"noisy:{share:g}"

    def begin(self, episode: Episode) -> ScriptPlayer | NoopAgent:
        """Return a player of the oracle's script or of a near miss."""
        rng = generator_for("noisy", episode.task.id, episode.seed, episode.trial)
        if rng.random() >= self.share:
            return ScriptPlayer(oracle_script(episode.source, episode.task))
        errors = _errors(episode)
        return ScriptPlayer(errors[int(rng.integers(len(errors)))]) if errors else NoopAgent()


def _errors(episode: Episode) -> Sequence[Script]:
    """Return the mutants sorted by name, or the trivial policies if there are none."""
    source, task = episode.source, episode.task
    scripts = source.mutants(task) or source.policies(task)
    return [scripts[name] for name in sorted(scripts)]
