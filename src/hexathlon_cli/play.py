"""The command `play`."""

from typing import Annotated

import typer

from hexathlon_cli.options import LevelName, TasksetName

__all__ = ["play"]


def play(
    env: Annotated[str, typer.Argument(help="Event, such as SQL.")],
    task: Annotated[str | None, typer.Option(help="Task id. [default: random]")] = None,
    taskset: TasksetName = None,
    level: LevelName = None,
    template: Annotated[str, typer.Option(help="Template name prefix, such as dialogue.")] = "",
    language: Annotated[
        str | None, typer.Option(help="Task language: en or zh. [default: the shell's]")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the choice of tasks. [default: random]")
    ] = None,
) -> int:
    """Play an event yourself.

    Tasks come from the train split. Type /help for the commands of a session.
    """
    import secrets

    from hexathlon_cli.playing.choice import Wish, play_command, shell_language

    wish = Wish(taskset, level, template, language or shell_language())
    return play_command(env, task, wish, secrets.randbelow(2**31) if seed is None else seed)
