"""Checkpoints of a training run: Hugging Face directories that also name their dialect."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hexathlon.baselines.agents.checkpoint import SETTINGS
from hexathlon.baselines.learner.adapters import merged, save_adapters
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.warmstart.initial import save_policy

__all__ = ["save_checkpoint", "save_trained"]


def save_checkpoint(path: Path, model: Any, tokenizer: Any, recipe: Recipe) -> None:
    """Write a policy with its dialect."""
    save_policy(path, model, tokenizer)
    settings = {"dialect": recipe.policy.dialect, "shape": asdict(recipe.policy.shape)}
    (path / SETTINGS).write_text(json.dumps(settings))


def save_trained(recipe: Recipe, out: Path, model: Any, tokenizer: Any) -> None:
    """Write the trained policy to `policy/`, and any low-rank adapters to `adapters/`."""
    save_checkpoint(out / "policy", merged(model), tokenizer, recipe)
    if recipe.policy.lora_rank:
        save_adapters(out / "adapters", model, str(recipe.starting(out).resolve()))
