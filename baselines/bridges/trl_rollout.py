"""Whole episodes as completions for TRL's trainers: `rollout_func` of `GRPOTrainer`, TRL 1.16.

For models without a tool-calling template: tools are described in the system prompt, calls are read
from text. Episodes advance together, one batch of generations per turn. Text only.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.token_episodes import play_together, token_episodes
from hexathlon.baselines.tokens.render import ChatRenderer

__all__ = ["episode_reward", "rollout_function", "rollout_rows"]


def rollout_rows(listing: TaskListing, split: str, count: int) -> list[dict[str, Any]]:
    """Return rows of a training set whose prompts name their tasks; no model sees these names."""
    named = [row["task"] for row in listing.rows(split, 0, count)]
    return [{"prompt": [{"role": "user", "content": task}]} for task in named]


def episode_reward(*, episode_reward: Sequence[float], **_: Any) -> list[float]:
    """Return the verdicts of a batch: the reward function that goes with `rollout_function`."""
    return list(episode_reward)


def rollout_function(
    event: str, *, seed: int = 0, sample: Any = None, **settings: Any
) -> Callable[[list[Any], Any], dict[str, Any]]:
    """Return a function that plays one episode per prompt, each with `seed`.

    An episode whose completion reaches the trainer's `max_completion_length` ends without reward.
    `sample` generates completions for the trainer and prompts; by default, the trainer's own
    generation does, vLLM included. `settings` are arguments of `BridgedEpisode`.
    """

    def play(prompts: list[Any], trainer: Any) -> dict[str, Any]:
        tokenizer = getattr(trainer.processing_class, "tokenizer", trainer.processing_class)
        with token_episodes(event, len(prompts), ChatRenderer(tokenizer), **settings) as played:
            for each, prompt in zip(played, prompts, strict=True):
                each.open(prompt[-1]["content"], seed)
            generate = partial(sample or _trainers_own, trainer)
            play_together(played, generate, trainer.max_completion_length)
            columns = {name: [getattr(each, name) for each in played]
                       for name in ("prompt_ids", "completion_ids")}  # fmt: skip
            known = all(each.has_known for each in played)
            return columns | {
                "logprobs": [each.known for each in played] if known else None,
                "env_mask": [each.mask for each in played],
                "episode_reward": [each.episode.reward for each in played],
            }

    return play


def _trainers_own(trainer: Any, prompts: Sequence[list[int]]) -> tuple[Sequence[list[int]], Any]:
    ids, known = trainer._generate_single_turn(list(prompts), None, {}, 1)
    return ids, known
