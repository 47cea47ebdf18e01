"""A tiny policy that has learned one task by half: it submits the right answer or a wrong one.

`python -m bridges.learned PATH` writes such a checkpoint, for tests in environments without torch.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from bridges.contract import EVENT, native

from hexathlon.baselines.agents.checkpoint import SETTINGS
from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.tokens.conversation import TokenConversation
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.warmstart.initial import (
    ModelShape,
    make_model,
    make_tokenizer,
    save_policy,
)

STEPS = 60
_WRONG = json.dumps({"name": "submit", "arguments": {"sql": "SELECT 1"}})


class HalfLearned:
    """One task, its first messages, and two answers of one turn each.

    Args:
        task: A task whose oracle submits its answer in the last turn.
        seed: Seed of the episode.

    Attributes:
        messages: The first messages of the conversation.
        answers: A right and a wrong answer.
        tokenizer: Trained on these texts.
    """

    def __init__(self, task: str, seed: int = 0) -> None:
        self.task = task
        right = native(task, seed).actions[-1]
        self.answers = (right, _WRONG)
        assert [native(task, seed, (each,)).reward for each in self.answers] == [1.0, 0.0]
        with BridgedEpisode(EVENT) as episode:
            self.messages = episode.messages(episode.open(task, seed))
        texts = [message["content"] for message in self.messages]
        self.tokenizer = make_tokenizer([*texts, *self.answers] * 20, 1000)

    def model(self, prompt: list[int], answers: Sequence[list[int]]) -> Any:
        """Return a model that continues the prompt with either answer, each about half the time.

        Args:
            prompt: Tokens of the messages.
            answers: Tokens of the two answers, each with the token that ends the turn.
        """
        shape = ModelShape(width=32, layers=1, heads=2, kv_heads=1, feed_forward=64, context=4096)
        model = make_model(shape, len(self.tokenizer), 0)
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
        rows = [torch.tensor([[*prompt, *answer]]) for answer in answers]
        for _ in range(STEPS):
            optimiser.zero_grad()
            for row in rows:
                logits = model(input_ids=row).logits[0, len(prompt) - 1 : -1]
                torch.nn.functional.cross_entropy(logits, row[0, len(prompt) :]).backward()
            optimiser.step()
        return model

    def chances(self, model: Any, prompt: list[int], answers: Sequence[list[int]]) -> list[float]:
        """Return the probability of each answer."""
        chances = []
        for answer in answers:
            row = torch.tensor([[*prompt, *answer]])
            with torch.no_grad():
                logits = model(input_ids=row).logits[0, len(prompt) - 1 : -1].log_softmax(-1)
            values = logits.gather(-1, torch.tensor(answer)[:, None])
            chances.append(float(values.sum().exp()))
        return chances


def main(path: Path) -> None:
    """Write a checkpoint that has learned the first train task by half, and print the task."""
    known = HalfLearned(TaskListing(EVENT, level="tiny").row("train", 0)["task"])
    renderer = ChatRenderer(known.tokenizer)
    prompt = TokenConversation(renderer).open(known.messages)
    answers = [[*renderer.encode(text), renderer.end_of_turn] for text in known.answers]
    save_policy(path, known.model(prompt, answers), known.tokenizer)
    (path / SETTINGS).write_text(json.dumps({"dialect": "json"}))
    print(known.task)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
