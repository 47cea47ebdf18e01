"""The command `play`."""

from pathlib import Path
from typing import Annotated

import typer

from hexathlon_cli.options import LevelName, TasksetName

__all__ = ["play"]


def play(
    env: Annotated[str, typer.Argument(help="Event, such as SQL.")],
    task: Annotated[str | None, typer.Option(help="Task id. [default: random]")] = None,
    taskset: TasksetName = None,
    split: Annotated[
        str | None, typer.Option(help="Split: train, dev or test. [default: train]")
    ] = None,
    level: LevelName = None,
    template: Annotated[str, typer.Option(help="Template name prefix, such as dialogue.")] = "",
    language: Annotated[
        str | None, typer.Option(help="Task language: en or zh. [default: the shell's]")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed for choosing tasks. [default: random]")
    ] = None,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Lines of JSON in and out, for programs.")
    ] = False,
    tasks: Annotated[int, typer.Option(min=1, help="Number of tasks, with --jsonl.")] = 1,
    verdicts: Annotated[
        Path | None, typer.Option(help="File that verdicts are appended to, with --jsonl.")
    ] = None,
) -> int:
    """Play an event yourself, or let a program play it.

    A session in a terminal shows the task, then prompts for tool calls; type /help for
    help. With --jsonl, the first line on standard output has the system prompt, the tools and the
    first observation; each line on standard input is an action, and is answered by one line.
    """
    import secrets

    from hexathlon.baselines.harness.errors import UsageError
    from hexathlon_cli.playing.choice import TaskChoice, line_command, play_command, shell_language

    if not jsonl and (tasks > 1 or verdicts is not None):
        raise UsageError("--tasks and --verdicts need --jsonl")
    chosen = secrets.randbelow(2**31) if seed is None else seed
    language = shell_language() if language is None else language
    choice = TaskChoice(task, taskset, split, level, template, language, chosen)
    return line_command(env, choice, tasks, verdicts) if jsonl else play_command(env, choice)
