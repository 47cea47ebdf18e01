"""Whole episodes as completions for TRL's trainers: `rollout_func` of `GRPOTrainer`.

    trainer = GRPOTrainer(
        ...,
        train_dataset=Dataset.from_list(rollout_rows(listing, "train", 64)),
        rollout_func=rollout_function("SQL"),
        reward_funcs=episode_reward,
    )

Beside `environment_factory`, for models without a tool-calling template: tools are described in the
system prompt and calls are read from text. Tokens are kept as they were sampled; those of the
environment are masked. Episodes advance together, one batch of generations per turn. Text only.

Interface: `rollout_func` of `trl.GRPOTrainer`, TRL 1.16.
"""

from collections.abc import Callable, Sequence
from typing import Any

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.tokens.conversation import TokenConversation
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.requests import Span, TokenReply

__all__ = ["episode_reward", "rollout_function", "rollout_rows"]

TurnSampler = Callable[[Any, Sequence[list[int]]], tuple[Sequence[list[int]], Any]]
"""From the trainer and prompts to completions and, where known, their log-probabilities."""


def rollout_rows(listing: TaskListing, split: str, count: int) -> list[dict[str, Any]]:
    """Return rows of a training set whose prompts name their tasks; no model sees these names."""
    named = [row["task"] for row in listing.rows(split, 0, count)]
    return [{"prompt": [{"role": "user", "content": task}]} for task in named]


def rollout_function(
    event: str, *, seed: int = 0, sample: TurnSampler | None = None, **settings: Any
) -> Callable[[list[Any], Any], dict[str, Any]]:
    """Return a function that plays one episode per prompt.

    An episode whose completion reaches the trainer's `max_completion_length` ends without reward.

    Args:
        event: Id, or short name such as `SQL`.
        seed: Seed of every episode.
        sample: Generates completions; by default the trainer's own generation, vLLM included.
        **settings: Further keyword arguments of `BridgedEpisode`.
    """
    generate = sample or _trainers_own

    def play(prompts: list[Any], trainer: Any) -> dict[str, Any]:
        tokenizer = getattr(trainer.processing_class, "tokenizer", trainer.processing_class)
        renderer = ChatRenderer(tokenizer)
        limit = trainer.max_completion_length
        played = [_Played(event, renderer, settings) for _ in prompts]
        try:
            for each, prompt in zip(played, prompts, strict=True):
                each.open(prompt[-1]["content"], seed)
            while live := [each for each in played if not each.over(limit)]:
                ids, known = generate(trainer, [each.talk.ids for each in live])
                for at, each in enumerate(live):
                    each.take(list(ids[at]), None if known is None else list(known[at]))
        finally:
            for each in played:
                each.episode.close()
        return {
            "prompt_ids": [each.talk.ids[: each.prompt] for each in played],
            "completion_ids": [each.talk.ids[each.prompt :] for each in played],
            "logprobs": [each.known for each in played] if played[0].has_known else None,
            "env_mask": [each.mask for each in played],
            "episode_reward": [each.episode.reward for each in played],
        }

    return play


def episode_reward(*, episode_reward: Sequence[float], **_: Any) -> list[float]:
    """Return the verdicts of a batch: the reward function that goes with `rollout_function`."""
    return list(episode_reward)


class _Played:
    """An episode with the tokens of its conversation."""

    def __init__(self, event: str, renderer: ChatRenderer, settings: dict[str, Any]) -> None:
        self.episode = BridgedEpisode(event, **settings)
        self.talk = TokenConversation(renderer)
        self.prompt = 0
        self.mask: list[int] = []
        self.known: list[float] = []
        self.has_known = True

    def open(self, task: str, seed: int) -> None:
        opening = self.episode.open(task, seed)
        self.prompt = len(self.talk.open(self.episode.messages(opening)))

    def over(self, limit: int) -> bool:
        return self.episode.over or len(self.mask) >= limit

    def take(self, ids: list[int], known: list[float] | None) -> None:
        self.has_known = self.has_known and known is not None
        values = known or [0.0] * len(ids)
        text = self.talk.say(TokenReply(ids, values, "stop", [Span(0, len(ids), 0)]))
        reply = self.episode.say(text)
        self._grow(1, values)
        if not reply.done:
            self.talk.hear([{"role": "user", "content": reply.text}])
            self._grow(0, ())

    def _grow(self, mark: int, known: Sequence[float]) -> None:
        added = len(self.talk.ids) - self.prompt - len(self.mask)
        self.mask += [mark] * added
        self.known += [*known, *[0.0] * (added - len(known))]


def _trainers_own(trainer: Any, prompts: Sequence[list[int]]) -> tuple[Sequence[list[int]], Any]:
    ids, known = trainer._generate_single_turn(list(prompts), None, {}, 1)
    return ids, known
