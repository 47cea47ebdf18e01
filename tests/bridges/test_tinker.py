import asyncio
import pickle

import pytest

pytest.importorskip("tinker_cookbook", reason="scripts/bridges tinker")

from bridges.contract import native
from bridges.tokenizers import tiny_tokenizer
from tinker_cookbook.completers import TokensWithLogprobs
from tinker_cookbook.rl.data_processing import assemble_training_data, compute_advantages
from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_cookbook.tokenizer_utils import register_tokenizer

from hexathlon.baselines.bridges.tinker_data import EventDatasetBuilder

register_tokenizer("tiny", tiny_tokenizer)


class Scripted:
    """Completes the episode that asks first with the oracle's actions, the other idly."""

    def __init__(self, actions: tuple[str, ...]) -> None:
        self.actions = actions
        self.turns: dict[int, int] = {}

    async def __call__(self, model_input, stop, **_) -> TokensWithLogprobs:
        own = asyncio.current_task()
        number = self.turns.setdefault(id(own), 0)
        self.turns[id(own)] += 1
        first = id(own) == next(iter(self.turns))
        action = self.actions[number] if first else "I do not know."
        tokens = tiny_tokenizer().encode(f" {action}\n\nUser:", add_special_tokens=False)
        return TokensWithLogprobs(tokens, [-1.0] * len(tokens))


def test_the_cookbooks_rollouts_become_training_data() -> None:
    config = EventDatasetBuilder(
        event="SQL", model_name="tiny", renderer_name="role_colon", split="test", level="tiny",
        batch_size=1, group_size=2,
    )  # fmt: skip
    builder = asyncio.run(config())[0].get_batch(0)[0]
    assert pickle.loads(pickle.dumps(builder)) == builder
    played = native(builder.task, 0)
    group = asyncio.run(do_group_rollout(builder, Scripted(played.actions)))
    rewards = group.get_total_rewards()  # either may ask first, and so play the oracle's actions
    assert sorted(rewards) == [0.0, 1.0] and not group.rollout_errors
    advantages = compute_advantages([group])
    assert advantages[0].tolist() == [reward - 0.5 for reward in rewards]
    data, _ = assemble_training_data([group], advantages)
    assert data and all("advantages" in datum.loss_fn_inputs for datum in data)


def test_batches_are_the_tasks_of_a_split() -> None:
    builder = EventDatasetBuilder(event="SQL", model_name="tiny", renderer_name="role_colon",
                                  batch_size=2, group_size=3, batches=2, level="tiny")  # fmt: skip
    dataset, no_test = asyncio.run(builder())
    assert len(dataset) == 2 and no_test is None
    envs = asyncio.run(dataset.get_batch(1)[1].make_envs())
    assert len(envs) == 3
    assert len({each.task for at in range(2) for each in dataset.get_batch(at)}) == 4
