"""The command `train init`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.options import LevelName, TasksetName
from hexathlon_cli.output import print_text

__all__ = ["init"]


def init(
    out: Annotated[Path, typer.Option(help="Checkpoint directory; must not exist.")],
    env: Annotated[str, typer.Option(help="Event that supplies the transcripts.")] = "SQL",
    taskset: TasksetName = None,
    level: LevelName = None,
    transcripts: Annotated[int, typer.Option(min=16, help="Number of oracle transcripts.")] = 500,
    clone: Annotated[
        int, typer.Option(min=0, help="Steps of behaviour cloning; 0 for an untrained policy.")
    ] = 0,
    vocabulary: Annotated[int, typer.Option(min=300, help="Vocabulary size, in tokens.")] = 2048,
    width: Annotated[int, typer.Option(min=32, help="Hidden size, a multiple of 32.")] = 160,
    layers: Annotated[int, typer.Option(min=1, help="Number of layers.")] = 4,
    context: Annotated[int, typer.Option(min=128, help="Context length, in tokens.")] = 2048,
    dialect: Annotated[str, typer.Option(help="Tool-call dialect.")] = "compact",
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> None:
    """Create a small checkpoint and tokenizer for an event.

    The model has the Qwen3 architecture; the tokenizer is trained on the event's transcripts.
    """
    from hexathlon.baselines.codecs.registry import CODEC_NAMES
    from hexathlon.baselines.harness.environments import find_environment
    from hexathlon.baselines.harness.errors import UsageError, near_miss
    from hexathlon.baselines.training.recipe import RecipeError, recipe_of
    from hexathlon.tasks.task import LEVELS
    from hexathlon_cli.train.guard import guarded, require_torch

    if out.exists():
        raise UsageError(f"{out} exists; name a new directory with --out")
    if width % 32:
        raise UsageError(f"--width must be a multiple of 32, the head size, got {width}")
    if dialect not in CODEC_NAMES:
        raise UsageError(near_miss("dialect", dialect, CODEC_NAMES))
    if level is not None and level not in LEVELS:
        raise UsageError(near_miss("level", level, LEVELS))
    info = find_environment(env)
    heads = width // 32
    shape = {
        "vocabulary": vocabulary, "width": width, "layers": layers, "heads": heads,
        "kv_heads": heads // 2 if heads % 2 == 0 else heads, "feed_forward": 3 * width,
        "context": context,
    }  # fmt: skip
    try:
        recipe = recipe_of(
            {
                "name": "init", "seed": seed, "steps": 0,
                "tasks": {"env": info.id, "source": taskset or info.tasksets[0], "level": level},
                "policy": {"dialect": dialect, "shape": shape},
                "clone": {"demonstrations": transcripts, "settings": {"steps": clone}},
            }
        )  # fmt: skip
    except RecipeError as error:
        raise UsageError(str(error)) from None
    require_torch()
    from hexathlon.baselines.training.start import make_start

    count = guarded(lambda report: make_start(recipe, out, report))
    print_text(f"checkpoint: {out} ({count / 1e6:.2f} M parameters)")
