"""Training of a reward model on preferences of known truth, from a run's initial policy.

The model starts as the policy's trunk with an output of 0, which prefers nothing. Accuracy is the
share of unseen pairs whose better reply gets the higher score, ties counted as one half.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hexathlon.baselines.algorithms.samples import Array
from hexathlon.baselines.learner.preference import PreferenceModel, TokenPair
from hexathlon.baselines.pipeline.tasks_table import TasksTable
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.training.metrics import MetricsLog, ProgressCallback
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.evaluators.statistics import ScoreInterval, score_interval
from hexathlon.tasks.registry import get_source
from hexathlon.tasks.seeding import generator_for
from hexathlon.tasks.task import Split

__all__ = ["NoPreferences", "train_preference"]

WEIGHTS = "reward.pt"
"""File in the run's folder with the weights of the reward model and its confidences by act."""


class NoPreferences(Exception):
    """The source of a recipe has no pairs of replies."""


def train_preference(
    recipe: Recipe, out: Path, model: Any, tokenizer: Any, report: ProgressCallback
) -> dict[str, ScoreInterval]:
    """Train a reward model; return its accuracy on unseen pairs, overall and by act.

    Args:
        recipe: The recipe, with a table `preference`.
        out: The run's folder; receives `reward.pt` and `metrics.jsonl`.
        model: The initial policy, which is not changed.
        tokenizer: Its tokenizer.
        report: Called with every step.

    Raises:
        NoPreferences: If the source gives no pairs.
    """
    import torch

    assert recipe.preference is not None
    config, renderer = recipe.preference, ChatRenderer(tokenizer)
    if recipe.control == "no_update":
        still = replace(config.optimiser, learning_rate=0.0, matrix_learning_rate=0.0)
        config = replace(config, optimiser=still)
    torch.manual_seed(recipe.seed)
    reward = PreferenceModel(model, config)
    unseen = token_pairs(recipe.tasks, "dev", recipe.evaluation.tasks, renderer)
    results = _accuracies("before", unseen, reward.gaps(unseen))
    pairs = token_pairs(recipe.tasks, "train", config.pairs, renderer)
    if recipe.control == "shuffled_rewards":
        pairs = _shuffled(pairs, recipe.seed)
    log = MetricsLog(out / "metrics.jsonl", -1)
    try:
        for step, chosen in enumerate(
            _batches(len(pairs), config.batch, config.steps, recipe.seed)
        ):
            metrics = reward.update([pairs[place] for place in chosen])
            log.log(step + 1, metrics)
            report("train", step + 1, config.steps, metrics)
    finally:
        log.close()
    state = {"network": reward.state_dict(), "confidence": reward.margins.confidence}
    torch.save(state, out / WEIGHTS)
    return results | _accuracies("after", unseen, reward.gaps(unseen))


def token_pairs(
    tables: Sequence[TasksTable], split: Split, count: int, renderer: ChatRenderer
) -> list[TokenPair]:
    """Return the pairs of the first tasks of each table, as chats of question and reply.

    Raises:
        NoPreferences: If there is none.
    """
    pairs = []
    for table in tables:
        source = get_source(table.source)
        for address in table.addresses(split, count):
            pair = source.preference(source.build(address))
            if pair is not None:
                better = _tokens(renderer, pair.question, pair.chosen)
                worse = _tokens(renderer, pair.question, pair.rejected)
                pairs.append(TokenPair(better, worse, pair.act))
    if not pairs:
        names = ", ".join(table.source for table in tables)
        raise NoPreferences(
            f"{names} has no preferences: use a source with pairs, such as `verdicts`"
        )
    return pairs


def _tokens(renderer: ChatRenderer, question: str, reply: str) -> list[int]:
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": reply}]
    opened = renderer.open(messages)
    return [token for segment in opened for token in segment.ids]


def _shuffled(pairs: Sequence[TokenPair], seed: int) -> list[TokenPair]:
    """Exchange the replies of a random half of the pairs, so that preferences mean nothing."""
    draw = generator_for("shuffled preferences", seed)
    return [
        TokenPair(pair.rejected, pair.chosen, pair.act) if draw.random() < 0.5 else pair
        for pair in pairs
    ]


def _batches(count: int, batch: int, steps: int, seed: int) -> Iterator[list[int]]:
    draw = generator_for("preference", seed)
    order: list[int] = []
    for _ in range(steps):
        while len(order) < batch:
            order += [int(place) for place in draw.permutation(count)]
        yield order[:batch]
        order = order[batch:]


def _accuracies(moment: str, pairs: Sequence[TokenPair], gaps: Array) -> dict[str, ScoreInterval]:
    won = [0.5 if gap == 0 else float(gap > 0) for gap in gaps]
    acts = sorted({pair.act for pair in pairs})
    by_act = {
        f"{moment}/{act}": score_interval(
            [win for win, pair in zip(won, pairs, strict=True) if pair.act == act]
        )
        for act in acts
    }
    return {**by_act, moment: score_interval(won)}
