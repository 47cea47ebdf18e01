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
    verdicts: Annotated[
        str,
        typer.Option(
            help="Label replies for the statements of this template of the source verdicts, such "
            "as other-kinds, instead of the rubric shopkeeper; needs --rubric-out."
        ),
    ] = "",
    rubric_out: Annotated[
        Path | None, typer.Option(help="Rubric file for --verdicts, read by judge audit.")
    ] = None,
) -> int:
    """Generate a labelled set, with labels known by construction.

    The file has one JSON line per reply and is read by `judge audit --labels`.
    """
    from hexathlon.baselines.harness.errors import UsageError, near_miss
    from hexathlon.evaluators.judges.audit.labelled import generate_labels, write_labels
    from hexathlon.evaluators.judges.rubric_files import rubric_text
    from hexathlon.evaluators.roleplay.verdict_labels import VERDICT_TEMPLATES, label_verdicts
    from hexathlon.tasks.validation import reason
    from hexathlon_cli.output import print_text

    if bool(verdicts) != (rubric_out is not None):
        raise UsageError("--verdicts and --rubric-out belong together: give both or neither")
    if verdicts and verdicts not in VERDICT_TEMPLATES:
        raise UsageError(near_miss("template", verdicts, VERDICT_TEMPLATES))
    rubric, replies = (
        label_verdicts(verdicts, seed, items) if verdicts else generate_labels(seed, items)
    )
    path = out
    try:
        write_labels(path, replies)
        if rubric_out is not None:
            path = rubric_out
            path.write_text(rubric_text(rubric), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {reason(error)}") from None
    count = sum(len(reply.labels) for reply in replies)
    print_text(f"{count:,} labels of {len(replies):,} replies, rubric {rubric.id}: {out}")
    return 0
