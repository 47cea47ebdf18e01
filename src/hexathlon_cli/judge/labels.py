"""The command `judge labels`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.judge.options import Seed

__all__ = ["labels"]


def labels(
    out: Annotated[Path, typer.Option(help="Label file.")],
    seed: Seed = 0,
    items: Annotated[int, typer.Option(min=1, help="Minimum number of labels.")] = 2400,
) -> int:
    """Generate a labelled set, with labels known by construction.

    The file has one JSON line per reply and is read by `judge audit --labels`.
    """
    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon.evaluators.judges.audit.labelled import generate_labels, write_labels
    from hexathlon.tasks.validation import reason
    from hexathlon_cli.output import print_text

    rubric, replies = generate_labels(seed, items)
    try:
        write_labels(out, replies)
    except OSError as error:
        raise UsageError(f"cannot write {out}: {reason(error)}") from None
    count = len(replies) * len(rubric.criteria)
    print_text(f"{count:,} labels of {len(replies):,} replies, rubric {rubric.id}: {out}")
    return 0
