"""A training run in a folder: start, go on, finish.

The folder holds `recipe.json` (the resolved recipe), `start/` (the policy that training began
with), `before/` and `after/` (evaluations on unseen tasks, run folders like those of `hexathlon
eval`), `rollouts/` (the records of what was played), `states/` (to go on from), `metrics.jsonl`,
`curve.html` and `curve.png`, and in the end `policy/`, a checkpoint; low-rank adapters are merged
into it and stand alone in `adapters/`. Running the same recipe into the same folder goes on.
"""

import itertools
import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import gymnasium

from hexathlon.baselines import interrupts
from hexathlon.baselines.agents.checkpoint import SETTINGS
from hexathlon.baselines.learner.adapters import (
    AdapterConfig,
    add_adapters,
    merged,
    save_adapters,
)
from hexathlon.baselines.learner.ranks import ALONE, Ranks
from hexathlon.baselines.training.cloning import clone
from hexathlon.baselines.training.curve import write_curve
from hexathlon.baselines.training.demonstrations import (
    Demonstration,
    Demonstrator,
    sample_of,
    transcript,
)
from hexathlon.baselines.training.initial import (
    make_model,
    make_tokenizer,
    save_policy,
    word_pieces,
)
from hexathlon.baselines.training.loop import Trainer
from hexathlon.baselines.training.measuring import evaluated
from hexathlon.baselines.training.metrics import Listener, MetricsLog, Report
from hexathlon.baselines.training.ranks import other_ranks
from hexathlon.baselines.training.recipe import Recipe
from hexathlon.baselines.training.renaming import renamed
from hexathlon.baselines.training.tasks_table import shares
from hexathlon.envs.base import Environment
from hexathlon.evaluators.statistics import ScoreInterval

__all__ = ["RecipeDiffers", "make_start", "save_checkpoint", "train", "train_rank"]


_COUNTED = 5_000
"""Demonstrations whose words the tokenizer is made of; more tell it little."""


class RecipeDiffers(Exception):
    """The folder holds the run of another recipe."""


def train(
    recipe: Recipe, out: Path, report: Report, extra: tuple[Listener, ...] = ()
) -> dict[str, ScoreInterval]:
    """Run a recipe to its end; a folder that holds part of it is continued.

    Args:
        recipe: What is done.
        out: The run's folder.
        report: Is told of every step.
        extra: Listeners beside the metrics file.

    Returns:
        Mean reward on unseen tasks with its 95 % interval, `before` and `after`; of a mixture also
        of each event, as `before/sql-tiny`.

    Raises:
        RecipeDiffers: The folder holds another recipe's run.
        NothingToLearn: The policy gets no signal.
        RankFailed: A process that trained beside this one ended with an error.
    """
    recipe = recipe.scaled()
    _claim(out, recipe)

    def stoppable(phase: str, step: int, steps: int, metrics: dict[str, float]) -> None:
        report(phase, step, steps, metrics)
        interrupts.check()

    with interrupts.deferred(), other_ranks(out, recipe.ranks) as ranks:
        return train_rank(recipe, out, stoppable, ranks, extra)


def train_rank(
    recipe: Recipe, out: Path, report: Report, ranks: Ranks, extra: tuple[Listener, ...] = ()
) -> dict[str, ScoreInterval]:
    """Do one rank's part of a recipe; all ranks do the same, and the first writes and reports."""
    import torch

    torch.set_num_threads(1)
    model, tokenizer = _start(recipe, out, report, ranks)
    reference = _reference(recipe, out)
    found = evaluated(recipe, recipe.starting(out), out, "before", report, ranks)
    ranks.wait()
    trainer = Trainer(recipe, model, tokenizer, make_env, out, reference, ranks)
    log: MetricsLog | None = None
    try:
        trainer.resume()
        log = MetricsLog(out / "metrics.jsonl", trainer.step) if ranks.first else None
        if log and trainer.step == 0:
            log.log(0, _success(found, "before"))
        while trainer.step < recipe.steps:
            metrics = trainer.advance()
            every = recipe.evaluation.every
            # After the last step the evaluation `after` says it.
            if every and trainer.step % every == 0 and trainer.step < recipe.steps:
                measured = trainer.measure(recipe.evaluation.tasks)
                metrics |= {"dev/success": measured.success, **measured.by_event}
            for listener in ([log] if log else []) + list(extra):
                listener.log(trainer.step, metrics)
            report("train", trainer.step, recipe.steps, metrics)
            if trainer.step % recipe.save_every == 0 or trainer.step == recipe.steps:
                if ranks.first:
                    trainer.save()
                ranks.wait()
    finally:
        trainer.close()
        for listener in ([log] if log else []) + list(extra):
            listener.close()
    if ranks.first:
        _keep_policy(recipe, out, model, tokenizer)
    ranks.wait()
    found |= evaluated(recipe, out / "policy", out, "after", report, ranks)
    if "after" in found:
        write_curve(out, _success(found, "after"))
    ranks.wait()
    return found


def _success(found: Mapping[str, ScoreInterval], moment: str) -> dict[str, float]:
    """Return one evaluation as metrics, those of single events included."""
    return {
        name.replace(moment, "dev/success", 1): interval.mean
        for name, interval in found.items()
        if name.partition("/")[0] == moment
    }


def _keep_policy(recipe: Recipe, out: Path, model: Any, tokenizer: Any) -> None:
    save_checkpoint(out / "policy", merged(model), tokenizer, recipe)
    if recipe.policy.lora_rank:
        save_adapters(out / "adapters", model, str(recipe.starting(out).resolve()))


def _claim(out: Path, recipe: Recipe) -> None:
    out.mkdir(parents=True, exist_ok=True)
    file, text = out / "recipe.json", json.dumps(recipe.model_dump(mode="json"), indent=1)
    if file.exists() and file.read_text() != text:
        raise RecipeDiffers(
            f"{out} holds the run of another recipe (see {file}); choose another --out"
        )
    file.write_text(text)


def make_env(env_id: str) -> Environment:
    """Make an environment by its id."""
    env: Any = gymnasium.make(env_id)
    return env  # type: ignore[no-any-return]


def _start(recipe: Recipe, out: Path, report: Report, ranks: Ranks) -> tuple[Any, Any]:
    """Return the policy that training begins with, made once and then read again."""
    from hexathlon.baselines.engines.local.loading import load_checkpoint

    place = recipe.starting(out)
    made = recipe.policy.checkpoint or (place / SETTINGS).exists()
    ranks.wait()
    if not made:
        make_start(recipe, place, report, ranks)
    ranks.wait()
    checkpoint = load_checkpoint(place, dtype=recipe.policy.dtype)
    if recipe.policy.lora_rank:
        add_adapters(checkpoint.model, AdapterConfig(recipe.policy.lora_rank), recipe.seed)
    return checkpoint.model, checkpoint.tokenizer


def make_start(recipe: Recipe, place: Path, report: Report, ranks: Ranks = ALONE) -> int:
    """Make a small policy from a source's own transcripts, cloned where the recipe says so.

    Returns:
        How many parameters it has.
    """
    import torch

    from hexathlon.baselines.tokens.render import ChatRenderer

    dialect = recipe.policy.dialect
    played = _demonstrations(recipe, report, ranks)
    counted = [
        one for part in played for one in part[: len(ranks.share(range(_COUNTED // len(played))))]
    ]
    told = ranks.joined([[said["content"] for said in transcript(one, dialect)] for one in counted])
    shape = recipe.policy.shape
    tokenizer = ranks.from_first(
        lambda: make_tokenizer(chain.from_iterable(told), shape.vocabulary, shape.phrases)
    )
    torch.manual_seed(recipe.seed)
    model = make_model(shape, len(tokenizer), recipe.seed)
    if recipe.clone.demonstrations and recipe.clone.settings.steps:
        renderer = ChatRenderer(tokenizer)
        table = recipe.clone
        pieces = word_pieces(tokenizer)
        # Which words are names is counted over one event at a time.
        shown = [
            one
            for part in played
            for one in renamed(part, table.renamed, recipe.seed, table.copies, pieces, ranks)
        ]
        samples = ranks.joined([sample_of(one, dialect, renderer) for one in shown])
        settings = table.settings
        clone(
            model,
            samples,
            settings,
            recipe.seed,
            lambda step, metrics: report("clone", step + 1, settings.steps, metrics),
            ranks,
        )
    if ranks.first:
        save_checkpoint(place, model, tokenizer, recipe)
    return sum(parameter.numel() for parameter in model.parameters())


def _demonstrations(recipe: Recipe, report: Report, ranks: Ranks) -> list[list[Demonstration]]:
    """Play this rank's share of the demonstrations of each table.

    They are of the split's first tasks; training draws from others where the split has no end.
    """
    wanted = max(recipe.clone.demonstrations, 64)
    counts = shares(recipe.tasks, wanted, recipe.seed, "demonstrations")
    tasks = [
        ranks.share(table.addresses("train", count))
        for table, count in zip(recipe.tasks, counts, strict=True)
    ]
    total, done = sum(map(len, tasks)), itertools.count(1)
    played: list[list[Demonstration]] = []
    for table, own in zip(recipe.tasks, tasks, strict=True):
        with Demonstrator(table.env, make_env, recipe.clone.noise) as demonstrator:
            played.append([])
            for task in own:
                shown = demonstrator.demonstrate(task, thinking=recipe.clone.thoughts)
                played[-1].append(shown)
                report("demonstrate", next(done), total, {})
    return played


def _reference(recipe: Recipe, out: Path) -> Any:
    if recipe.learn.objective.beta <= 0:
        return None
    from hexathlon.baselines.engines.local.loading import load_checkpoint

    place = recipe.starting(out)
    model = load_checkpoint(place, dtype=recipe.policy.dtype).model
    return model.requires_grad_(False)


def save_checkpoint(path: Path, model: Any, tokenizer: Any, recipe: Recipe) -> None:
    """Write a policy with the dialect that it speaks."""
    save_policy(path, model, tokenizer)
    settings = {"dialect": recipe.policy.dialect, "shape": asdict(recipe.policy.shape)}
    (path / SETTINGS).write_text(json.dumps(settings))
