"""Scripts for terminal tasks: solutions run in the shell through the public tools."""

import shlex

from hexathlon.tasks.source import Script
from hexathlon.tasks.terminal.harbor import HarborTask
from hexathlon.tasks.tool_calls import tool_call

__all__ = ["following", "running", "solving"]


def running(command: str) -> str:
    """Return the call that runs a command."""
    return tool_call("run", command=command)


def solving(solution: str, *, look: bool = False) -> Script:
    """Run a solution in its own shell and submit."""
    if look:
        yield running("ls -A; cat README* 2>/dev/null | head -50")
    yield running(f"bash -s <<'HEX_SOLUTION'\n{solution}HEX_SOLUTION")
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
