"""A checkpoint as the model behind a program: each trial has conversations and seeds of its own."""

from dataclasses import replace

from hexathlon.baselines.agents.base import Episode
from hexathlon.baselines.agents.checkpoint import OpenedPolicy
from hexathlon.baselines.gateway.policy import PolicyAnswers
from hexathlon.baselines.gateway.recording import TurnLog
from hexathlon.baselines.programs.command import OpenAnswers
from hexathlon.baselines.tokens.requests import TokenSampling
from hexathlon.tasks.seeding import derive_seed

__all__ = ["policy_answers"]


def policy_answers(policy: OpenedPolicy, name: str, sampling: TokenSampling) -> OpenAnswers:
    """Return what opens a checkpoint's answers for a trial.

    Args:
        policy: The checkpoint.
        name: The model's name.
        sampling: Defaults of the program's requests; the seed is the base of all seeds.
    """

    def open_answers(episode: Episode, turns: TurnLog) -> PolicyAnswers:
        key = (episode.env, episode.task.id, episode.seed, episode.trial)
        seeded = replace(sampling, seed=derive_seed(sampling.seed, *key))
        return PolicyAnswers(
            policy.engine, policy.renderer, policy.codec, name, seeded, recorder=turns
        )

    return open_answers
