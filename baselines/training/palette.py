"""The palette of a run (Reasoning Palette): fitted and learned once, then loaded.

`palette.safetensors` contains the autoencoder, `palette/` the policy after the warm-up, from which
training starts. Pairs are the recipe's demonstrations, as cloning plays them, and the policy's own
embeddings are pooled. In the warm-up, every pair is learned with a prefix from its own posterior,
and once without a prefix, since evaluations never have one.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hexathlon.baselines.algorithms.palette import (
    PaletteVae,
    fit_palette,
    palette_loss,
    pooled_pair,
)
from hexathlon.baselines.algorithms.samples import Sample
from hexathlon.baselines.engines.local.soft import PrefixTable, read_prefixes
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.tokens.render import ChatRenderer
from hexathlon.baselines.tokens.soft import DRAWN, soft_ids
from hexathlon.baselines.training.checkpoints import save_checkpoint
from hexathlon.baselines.training.metrics import ProgressCallback
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.warmstart.cloning import CloneConfig, clone
from hexathlon.baselines.warmstart.demonstrations import Demonstration, sample_of

__all__ = ["has_palette", "load_palette", "make_palette", "pooled_samples", "prefixed"]

_FILE = "palette.safetensors"


def has_palette(out: Path) -> bool:
    """Return whether a run's folder contains its palette and the policy that has learned it."""
    return (out / _FILE).exists()


def load_palette(recipe: Recipe, out: Path, model: Any) -> None:
    """Let a model read the prefixes of a run's palette."""
    from safetensors.torch import load_file

    table, embedding = recipe.palette, model.get_input_embeddings().weight
    vae = PaletteVae(embedding.shape[1], table.tokens, table.latent)
    vae.load_state_dict(load_file(out / _FILE))
    read_prefixes(model, PrefixTable(vae.eval().requires_grad_(False).prefix, table.latent))


def make_palette(
    recipe: Recipe,
    out: Path,
    demonstrations: Sequence[Demonstration],
    report: ProgressCallback,
    ranks: Ranks = ALONE,
) -> None:
    """Fit the palette of a run, and train its initial policy to read prefixes.

    Args:
        recipe: The recipe, with `scale` applied.
        out: The run's folder.
        demonstrations: This rank's share of the pairs.
        report: Called after every step of the warm-up.
        ranks: The ranks that share the warm-up; rank 0 fits and writes.
    """
    from safetensors.torch import save_file

    from hexathlon.baselines.engines.local.loading import load_checkpoint

    table = recipe.palette
    model, tokenizer, _ = load_checkpoint(recipe.origin(out), dtype=recipe.policy.dtype)
    renderer = ChatRenderer(tokenizer)
    own = [sample_of(each, recipe.policy.dialect, renderer) for each in demonstrations]
    samples = ranks.joined(own)
    pooled = pooled_samples(model, samples)
    vae = ranks.from_first(
        lambda: fit_palette(
            pooled, table.tokens, table.latent, table.beta, table.fit_steps, recipe.seed
        )
    )
    report("palette", 0, table.warmup_steps, _fit_metrics(vae, pooled, table.beta))
    if table.warmup_steps:
        _warm_up(recipe, model, samples, vae, _posterior_draws(vae, pooled, recipe.seed), report,
                 ranks)  # fmt: skip
    if ranks.first:
        save_checkpoint(out / "palette", model, tokenizer, recipe)
        part = out / f"{_FILE}.part"
        save_file(vae.state_dict(), part)
        os.replace(part, out / _FILE)


def _warm_up(
    recipe: Recipe,
    model: Any,
    samples: Sequence[Sample],
    vae: PaletteVae,
    latents: torch.Tensor,
    report: ProgressCallback,
    ranks: Ranks,
) -> None:
    """Train a model on samples, each with the prefix of its latent variable and without one."""
    table = recipe.palette
    numbers = range(DRAWN, DRAWN + len(samples))
    assigned = dict(zip(numbers, latents, strict=True))
    read_prefixes(model, PrefixTable(vae.prefix, table.latent, assigned))
    steered = [
        prefixed(sample, soft_ids(number, table.tokens))
        for number, sample in zip(numbers, samples, strict=True)
    ]
    clone(
        model,
        [*samples, *steered],
        CloneConfig(
            steps=table.warmup_steps,
            optimiser=recipe.learn.optimiser,
            token_budget=recipe.learn.token_budget,
        ),
        recipe.seed,
        lambda step, metrics: report("palette", step + 1, table.warmup_steps, metrics),
        ranks,
    )


@torch.no_grad()
def pooled_samples(model: Any, samples: Sequence[Sample]) -> torch.Tensor:
    """Return the pooled input embeddings of samples, `[samples, width]`, on the CPU."""
    embed = model.get_input_embeddings()
    device = embed.weight.device
    rows = [
        pooled_pair(
            embed(torch.from_numpy(sample.ids).to(device)).float().cpu(),
            torch.from_numpy(sample.sampled),
        )
        for sample in samples
    ]
    return torch.stack(rows)


def prefixed(sample: Sample, prefix: tuple[int, ...]) -> Sample:
    """Return a sample that begins with a prefix, which is context only."""
    count = len(prefix)
    none = np.zeros(count, dtype=np.bool_)
    return replace(
        sample,
        ids=np.concatenate([np.array(prefix, dtype=np.int64), sample.ids]),
        sampled=np.concatenate([none, sample.sampled]),
        observed=np.concatenate([none, sample.observed]),
        behaviour=np.concatenate([np.zeros(count), sample.behaviour]),
        turn=np.concatenate([np.full(count, -1), sample.turn]),
        version=None
        if sample.version is None
        else np.concatenate([np.full(count, -1), sample.version]),
        withheld=None if sample.withheld is None else np.concatenate([none, sample.withheld]),
        hints=tuple((start + count, stop + count) for start, stop in sample.hints),
    )


def _posterior_draws(vae: PaletteVae, pooled: torch.Tensor, seed: int) -> torch.Tensor:
    """Return a draw from the posterior of each pair, `[pairs, latent]`."""
    mean, log_variance = vae.posterior(pooled)
    return mean + (log_variance / 2).exp() * _noise(len(pooled), vae.latent, seed)


def _noise(pairs: int, latent: int, seed: int) -> torch.Tensor:
    return torch.randn(pairs, latent, generator=torch.Generator().manual_seed(seed))


def _fit_metrics(vae: PaletteVae, pooled: torch.Tensor, beta: float) -> dict[str, float]:
    parts = palette_loss(vae, pooled, _noise(len(pooled), vae.latent, 0), beta)
    return {
        "palette/reconstruction": float(parts.reconstruction),
        "palette/divergence": float(parts.divergence),
    }
