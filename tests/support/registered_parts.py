"""Recipes of one or two steps on the toy event that make the loop call registered components."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hexathlon.baselines.algorithms import catalogue as algorithms
from hexathlon.baselines.algorithms.registry import Registry
from hexathlon.baselines.pipeline import catalogue as pipeline
from hexathlon.baselines.training.recipe import Recipe, recipe_of

__all__ = ["REGISTRIES", "Call", "calls_of", "named_parts", "tiny_recipe", "trainer_of"]

REGISTRIES: dict[str, Registry[Any]] = {
    name: getattr(catalogue, name)
    for catalogue in (algorithms, pipeline)
    for name in catalogue.__all__
    if name.isupper()
}

SHAPE = {
    "vocabulary": 300, "width": 32, "layers": 1, "heads": 2, "kv_heads": 1,
    "feed_forward": 64, "context": 256,
}  # fmt: skip


def tiny_recipe(**changes: Any) -> Recipe:
    """Return a recipe for the dice event; changes replace whole tables."""
    tables: dict[str, Any] = {
        "name": "parts",
        "steps": 8,
        "save_every": 1,
        "tasks": {"env": "harness/Toy-v0", "source": "dice", "turns": 5},
        "policy": {"shape": SHAPE},
        "rollout": {"groups": 2, "members": 4, "max_tokens": 12},
        "learn": {"optimiser": {"learning_rate": 1e-3}},
        "evaluation": {"tasks": 1},
    }
    return recipe_of({**tables, **changes})


@contextmanager
def trainer_of(recipe: Recipe, start: Path, folder: Path, backend: Any = None) -> Iterator[Any]:
    """Open a trainer that starts from a stored policy."""
    from hexathlon.baselines.engines.local.loading import load_checkpoint
    from hexathlon.baselines.rollout.environments import make_env
    from hexathlon.baselines.training.trainer import Trainer

    policy = recipe.policy.model_copy(update={"checkpoint": str(start)})
    recipe = recipe.model_copy(update={"policy": policy})
    checkpoint, reference = load_checkpoint(start), None
    if recipe.learn.objective.beta > 0:
        reference = load_checkpoint(start).model.requires_grad_(False)
    trainer = Trainer(
        recipe, checkpoint.model, checkpoint.tokenizer, make_env, folder, reference, backend=backend
    )
    try:
        trainer.resume()
        yield trainer
    finally:
        trainer.close()


def named_parts(recipe: Recipe) -> set[tuple[str, str]]:
    """Return the components that a recipe names, by registry."""
    objective, generate = recipe.learn.objective, recipe.generate
    named = {
        ("SAMPLERS", generate.sampler.name),
        ("ALLOCATORS", generate.allocator.name),
        ("STRUCTURES", generate.structure.name),
        ("HINTS", generate.hint.name),
        ("CONTEXTS", generate.context.name),
        ("HORIZONS", generate.horizon.name),
        ("REPLAYS", recipe.replay.name),
        ("ESTIMATORS", recipe.credit.estimator.name),
        ("BOUNDS", recipe.learn.bounds.name),
        ("SURROGATES", objective.surrogate),
        ("CORRECTIONS", objective.correction),
        ("AGGREGATIONS", objective.aggregation),
    }
    named |= {("SHAPINGS", part.name) for part in recipe.credit.shapings}
    named |= {("FILTERS", part.name) for part in recipe.credit.filters}
    named |= {("TOKEN_RULES", part.name) for part in recipe.credit.tokens}
    if generate.pruning is not None:
        named.add(("PRUNINGS", generate.pruning.name))
    if recipe.asynchrony.active:
        named.add(("LATENESS", recipe.asynchrony.late))
    return named | ({("DIVERGENCES", objective.divergence)} if objective.beta > 0 else set())


class Call(NamedTuple):
    """One call of a registered component."""

    registry: str
    name: str
    arguments: tuple[Any, ...]
    result: Any


def calls_of(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Record every later call of a registered component."""
    calls: list[Call] = []

    def recording(registry: str, name: str, part: Any) -> Any:
        @functools.wraps(part)
        def call(*arguments: Any, **parameters: Any) -> Any:
            result = part(*arguments, **parameters)
            calls.append(Call(registry, name, arguments, result))
            return result

        return call

    for kind, registry in REGISTRIES.items():
        for name in registry:
            monkeypatch.setitem(registry._parts, name, recording(kind, name, registry[name]))
    return calls
