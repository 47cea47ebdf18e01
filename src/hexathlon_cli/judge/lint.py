"""The command `judge lint`."""

from typing import Annotated

import typer

__all__ = ["lint"]


def lint(
    rubric: Annotated[str, typer.Argument(help="Rubric file or name.")],
) -> int:
    """Check a rubric file and show its hash.

    Warnings name criteria that judges answer unreliably: compound questions and vague words.
    """
    from hexathlon.evaluators.judges.lint import lint as lint_rubric
    from hexathlon_cli.judge.rubrics import load_rubric
    from hexathlon_cli.output import note, print_text

    loaded = load_rubric(rubric)
    for finding in lint_rubric(loaded):
        note(f"warning: {finding}")
    judged = len(loaded.judged)
    print_text(f"{loaded.id} v{loaded.version}: {len(loaded.decided)} criteria, {judged} judged")
    print_text(f"aggregator {loaded.aggregator}, hash {loaded.hash}")
    return 0
