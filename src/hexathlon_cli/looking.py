"""`list`, `show`, `play`, `selftest` and `doctor`: what there is, and whether it is sound."""

from typing import Annotated

import typer

__all__ = ["doctor", "list_", "play", "selftest", "show"]


def list_(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> int:
    """List the events and their task sets. Those of plugins are included."""
    from hexathlon_cli.exploring import list_command

    return list_command(as_json=as_json)


def show(
    name: Annotated[str, typer.Argument(help="Event or task id.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Show an event, or a task without its answer. A task has instruction, tools and limits."""
    from hexathlon_cli.exploring import show_command

    return show_command(name, as_json=as_json)


def play(
    env: Annotated[str, typer.Argument(help="Event, such as SQL.")],
    task: Annotated[str | None, typer.Option(help="Task id; by default a random one.")] = None,
    taskset: Annotated[
        str | None, typer.Option(help="Task source; the event's own by default.")
    ] = None,
    level: Annotated[str | None, typer.Option(help="tiny, easy, medium or hard.")] = None,
    template: Annotated[
        str, typer.Option(help="Only tasks whose template begins so, such as dialogue.")
    ] = "",
    language: Annotated[
        str | None, typer.Option(help="en or zh, where tasks have one; by default the shell's.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Decides which tasks come; by default others each time.")
    ] = None,
) -> int:
    """Play an event yourself, in the agent's place."""
    import secrets

    from hexathlon_cli.playing import Wish, play_command, shell_language

    wish = Wish(taskset, level, template, language or shell_language())
    return play_command(env, task, wish, secrets.randbelow(2**31) if seed is None else seed)


def selftest(
    env: Annotated[list[str], typer.Option(help="Event; may be repeated.")],
    tasks: Annotated[int, typer.Option(help="Tasks of the test split.")] = 100,
    taskset: Annotated[str | None, typer.Option(help="Task source.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes that share the work.")] = 1,
    sandbox: Annotated[
        list[str] | None,
        typer.Option(help="Sandbox of the terminal event; with several, verdicts must be equal."),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Kind of scripts, such as oracle; may be repeated.")
    ] = None,
) -> int:
    """Prove an event sound. Oracle 1, nothing 0, trivial policies at the floor, mutants 0."""
    from hexathlon_cli.exploring import selftest_command

    return selftest_command(env, tasks, taskset, jobs, sandbox or [], kind or [])


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> int:
    """Say what this machine can run, and why not."""
    from hexathlon_cli.exploring import doctor_command

    return doctor_command(as_json=as_json)
