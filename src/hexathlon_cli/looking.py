"""The commands `list`, `show`, `play`, `selftest` and `doctor`."""

from typing import Annotated

import typer

__all__ = ["doctor", "list_", "play", "selftest", "show"]


def list_(as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False) -> int:
    """List events and task sets, plugins included."""
    from hexathlon_cli.exploring import list_command

    return list_command(as_json=as_json)


def show(
    name: Annotated[str, typer.Argument(help="Event, such as SQL, or task id.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False,
) -> int:
    """Show an event, or a task without its answer."""
    from hexathlon_cli.exploring import show_command

    return show_command(name, as_json=as_json)


def play(
    env: Annotated[str, typer.Argument(help="Event, such as SQL.")],
    task: Annotated[str | None, typer.Option(help="Task id. [default: random]")] = None,
    taskset: Annotated[
        str | None, typer.Option(help="Task set. [default: the event's own]")
    ] = None,
    level: Annotated[
        str | None, typer.Option(help="Level: tiny, easy, medium or hard. [default: all]")
    ] = None,
    template: Annotated[str, typer.Option(help="Template name prefix, such as dialogue.")] = "",
    language: Annotated[
        str | None, typer.Option(help="Task language: en or zh. [default: the shell's]")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the choice of tasks. [default: random]")
    ] = None,
) -> int:
    """Play an event yourself."""
    import secrets

    from hexathlon_cli.playing import Wish, play_command, shell_language

    wish = Wish(taskset, level, template, language or shell_language())
    return play_command(env, task, wish, secrets.randbelow(2**31) if seed is None else seed)


def selftest(
    env: Annotated[list[str], typer.Option(help="Event, such as SQL; repeatable.")],
    tasks: Annotated[int, typer.Option(help="Number of tasks, from the test split.")] = 100,
    taskset: Annotated[
        str | None, typer.Option(help="Task set. [default: the event's own]")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.")] = 1,
    sandbox: Annotated[
        list[str] | None,
        typer.Option(help="Sandbox of the terminal event; repeat it to compare verdicts."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Kind of script, such as oracle; repeatable. [default: all]"),
    ] = None,
) -> int:
    """Check the scores of an event's oracle, mutants and cheaters."""
    from hexathlon_cli.exploring import selftest_command

    return selftest_command(env, tasks, taskset, jobs, sandbox or [], kind or [])


def doctor(as_json: Annotated[bool, typer.Option("--json", help="JSON output.")] = False) -> int:
    """Show what this machine can run, and what is missing."""
    from hexathlon_cli.exploring import doctor_command

    return doctor_command(as_json=as_json)
