"""An agent between floor and ceiling: the oracle, erring on a chosen share of the tasks.

It needs no model and its score is known beforehand, so it shows what boards, comparisons and
intervals make of agents of different strength.
"""

from collections.abc import Sequence

from hexathlon.baselines.agents.base import Episode
from hexathlon.baselines.agents.scripted import ScriptPlayer
from hexathlon.baselines.agents.trivial import NoopAgent
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.source import Script

__all__ = ["NoisyAgent"]


class NoisyAgent:
    """Plays the oracle, but on a share of the trials one of the source's near misses.

    Which trials these are, and which near miss, is fixed by task, seed and trial. Agents of
    different shares draw alike: where one errs, one with a greater share errs too. A source
    without near misses for a task lends one of its trivial policies instead.

    Args:
        share: Probability of erring, from 0 to 1.
    """

    version = "1"
    asynchronous = False

    def __init__(self, share: float) -> None:
        if not 0.0 <= share <= 1.0:
            raise ValueError(f"the share of errors lies between 0 and 1, got {share}")
        self.share = share
        self.name = f"noisy:{share:g}"

    def begin(self, episode: Episode) -> ScriptPlayer | NoopAgent:
        """Return a player of the oracle's script or of an error."""
        rng = generator_for("noisy", episode.task.id, episode.seed, episode.trial)
        if rng.random() >= self.share:
            return ScriptPlayer(episode.source.oracle(episode.task))
        errors = _errors(episode)
        return ScriptPlayer(errors[int(rng.integers(len(errors)))]) if errors else NoopAgent()


def _errors(episode: Episode) -> Sequence[Script]:
    """Return the near misses in the order of their names, or else the trivial policies."""
    source, task = episode.source, episode.task
    scripts = source.mutants(task) or source.policies(task)
    return [scripts[name] for name in sorted(scripts)]
