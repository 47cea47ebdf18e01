"""The initial policy of a run: a given checkpoint, or a small policy created and cloned here."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hexathlon.baselines.agents.checkpoint import SETTINGS
from hexathlon.baselines.learner.adapters import AdapterConfig, add_adapters
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.pipeline.tasks_table import shares
from hexathlon.baselines.rollout.environments import make_env
from hexathlon.baselines.training.checkpoints import save_checkpoint
from hexathlon.baselines.training.metrics import ProgressCallback
from hexathlon.baselines.training.palette import has_palette, load_palette, make_palette
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.warmstart.cloning import clone
from hexathlon.baselines.warmstart.demonstrations import (
    Demonstration,
    Demonstrator,
    sample_of,
    transcript,
)
from hexathlon.baselines.warmstart.initial import make_model, make_tokenizer, word_pieces
from hexathlon.baselines.warmstart.renaming import renamed

__all__ = ["load_reference", "load_start", "make_start"]

_COUNTED = 5_000
"""Number of demonstrations on which the tokenizer is trained; more would hardly change it."""

_LEAST = 64
"""Minimum number of demonstrations, even without cloning, since the tokenizer needs text."""


def load_start(
    recipe: Recipe, out: Path, report: ProgressCallback, ranks: Ranks
) -> tuple[Any, Any]:
    """Return the initial model and tokenizer, which are created once and then loaded."""
    from hexathlon.baselines.engines.local.loading import load_checkpoint

    place = recipe.origin(out)
    exists = recipe.policy.checkpoint or (place / SETTINGS).exists()
    ranks.wait()
    if not exists:
        make_start(recipe, place, report, ranks)
    ranks.wait()
    palette = recipe.palette
    missing = palette.active and not has_palette(out)
    ranks.wait()
    if missing:
        by_table = _demonstrations(recipe, palette.pairs, report, ranks)
        make_palette(recipe, out, list(itertools.chain.from_iterable(by_table)), report, ranks)
    ranks.wait()
    checkpoint = load_checkpoint(recipe.starting(out), dtype=recipe.policy.dtype)
    if recipe.policy.lora_rank:
        add_adapters(checkpoint.model, AdapterConfig(recipe.policy.lora_rank), recipe.seed)
    if palette.active:
        load_palette(recipe, out, checkpoint.model)
    return checkpoint.model, checkpoint.tokenizer


def load_reference(recipe: Recipe, out: Path) -> Any:
    """Return a frozen copy of the initial policy; None if `beta` is 0."""
    if recipe.learn.objective.beta <= 0:
        return None
    from hexathlon.baselines.engines.local.loading import load_checkpoint

    model = load_checkpoint(recipe.starting(out), dtype=recipe.policy.dtype).model
    if recipe.palette.active:
        load_palette(recipe, out, model)
    return model.requires_grad_(False)


def make_start(recipe: Recipe, place: Path, report: ProgressCallback, ranks: Ranks = ALONE) -> int:
    """Create a small policy from its tasks' transcripts, with behaviour cloning if configured.

    Args:
        recipe: The recipe, with `scale` applied.
        place: The checkpoint directory.
        report: Called for every demonstration and every cloning step.
        ranks: The ranks that share the work; rank 0 writes.

    Returns:
        Its number of parameters.
    """
    import torch

    count = max(recipe.clone.demonstrations, _LEAST)
    demonstrations = _demonstrations(recipe, count, report, ranks)
    tokenizer = _tokenizer(recipe, demonstrations, ranks)
    torch.manual_seed(recipe.seed)
    model = make_model(recipe.policy.shape, len(tokenizer), recipe.seed)
    if recipe.clone.demonstrations and recipe.clone.settings.steps:
        _clone(recipe, model, tokenizer, demonstrations, report, ranks)
    if ranks.first:
        save_checkpoint(place, model, tokenizer, recipe)
    return sum(parameter.numel() for parameter in model.parameters())


def _demonstrations(
    recipe: Recipe, count: int, report: ProgressCallback, ranks: Ranks
) -> list[list[Demonstration]]:
    """Play this rank's share of `count` demonstrations, for each table.

    They come from the split's first tasks; on unbounded splits, training draws other tasks.
    """
    counts = shares(recipe.tasks, count, recipe.seed, "demonstrations")
    tasks = [
        ranks.share(table.addresses("train", count))
        for table, count in zip(recipe.tasks, counts, strict=True)
    ]
    total, done = sum(map(len, tasks)), itertools.count(1)
    report("demonstrate", 0, total, {})
    by_table: list[list[Demonstration]] = []
    for table, share in zip(recipe.tasks, tasks, strict=True):
        pictures = recipe.policy.shape.patches > 0
        with Demonstrator(
            table.env, make_env, recipe.clone.noise, pictures=pictures
        ) as demonstrator:
            by_table.append([])
            for task in share:
                played = demonstrator.demonstrate(task, thinking=recipe.clone.thoughts)
                by_table[-1].append(played)
                report("demonstrate", next(done), total, {})
    return by_table


def _tokenizer(recipe: Recipe, by_table: Sequence[Sequence[Demonstration]], ranks: Ranks) -> Any:
    """Train a tokenizer on the transcripts of all ranks, equally many from each table."""
    most = len(ranks.share(range(_COUNTED // len(by_table))))
    texts = ranks.joined(
        [
            [message["content"] for message in transcript(played, recipe.policy.dialect)]
            for demonstrations in by_table
            for played in demonstrations[:most]
        ]
    )
    shape = recipe.policy.shape
    return ranks.from_first(
        lambda: make_tokenizer(
            itertools.chain.from_iterable(texts),
            shape.vocabulary,
            shape.phrases,
            pictures=shape.patches > 0,
        )
    )


def _clone(
    recipe: Recipe,
    model: Any,
    tokenizer: Any,
    by_table: Sequence[Sequence[Demonstration]],
    report: ProgressCallback,
    ranks: Ranks,
) -> None:
    """Train a model on the demonstrations of all ranks, some with made-up names."""
    from hexathlon.baselines.tokens.render import ChatRenderer

    table, renderer, pieces = recipe.clone, ChatRenderer(tokenizer), word_pieces(tokenizer)
    report("clone", 0, table.settings.steps, {})
    # Names are identified by word counts, separately for each event.
    demonstrations = [
        variant
        for played in by_table
        for variant in renamed(
            played,
            table.renamed,
            recipe.seed,
            table.copies,
            pieces,
            ranks,
            table.quoted,
            rare=table.rare,
            capitals=table.capitals,
            labels=table.labels,
            renumber=table.renumber,
        )
    ]
    samples = [sample_of(played, recipe.policy.dialect, renderer) for played in demonstrations]
    clone(
        model,
        ranks.joined(samples),
        table.settings,
        recipe.seed,
        lambda step, metrics: report("clone", step + 1, table.settings.steps, metrics),
        ranks,
    )
