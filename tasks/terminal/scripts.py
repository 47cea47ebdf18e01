"""Scripts for terminal tasks: solutions run in the shell through the public tools."""

import shlex
from collections.abc import Sequence

from hexathlon.tasks.source import Script
from hexathlon.tasks.terminal.draft import Ticket
from hexathlon.tasks.terminal.harbor import HarborTask
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["following", "running", "solving", "working"]


def running(command: str) -> str:
    """Return the call that runs a command."""
    return tool_call("run", command=command)


def solving(solution: str, *, look: bool = False) -> Script:
    """Run a solution in its own shell and submit."""
    if look:
        yield running("ls -A; cat README* 2>/dev/null | head -50")
    yield running(f"bash -s <<'HEX_SOLUTION'\n{solution}HEX_SOLUTION")
    yield tool_call("submit")


def working(tickets: Sequence[Ticket], scripts: Sequence[str]) -> Script:
    """Work through a shift: look around, run a ticket's script, report.

    Args:
        tickets: The tickets whose exploration to play; empty for none.
        scripts: The solution of each ticket.
    """
    for number, script in enumerate(scripts):
        for look in tickets[number].looks if tickets else ():
            yield running(look)
        yield running(f"bash -s <<'HEX_SOLUTION'\n{script}HEX_SOLUTION")
        yield tool_call("submit")


def following(task: HarborTask) -> Script:
    """Run the solution of each step of a task directory, submitting after each step."""
    setting = " ".join(f"{k}={shlex.quote(v)}" for k, v in task.solution_variables.items())
    for step in task.steps:
        for path, data in step.solution.items():
            text = data.decode("utf-8", "replace")
            yield tool_call("write_file", path=f"/solution/{path}", text=text)
        if "solve.sh" in step.solution:
            yield running(f"env {setting} bash /solution/solve.sh")
        yield running("rm -rf /solution")
        yield tool_call("submit")
