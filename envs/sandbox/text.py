"""What of a command's end the agent is shown: clean text, cut in the middle, with its status."""

import re

from hexathlon.envs.sandbox.execution import Execution
from hexathlon.envs.sandbox.limits import SandboxLimits, Stop

__all__ = ["clean", "execution_text", "screen_text"]

# Colours, cursor moves, titles, character sets; then single control characters.
_SEQUENCES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?"
    r"|[ -/]+[0-~]|[0-~])"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n|$)", re.MULTILINE)
_RUBBED_OUT = re.compile(r"[^\n\x08]\x08")

_WALLS = {
    Stop.OUTPUT: "stopped: it printed more than {output:,} bytes",
    Stop.MEMORY: "memory ran out: a process was killed",
    Stop.PROCESSES: "the limit of {processes} processes was reached",
    Stop.DISK: "the disk is full",
    Stop.INODES: "the limit on the number of files was reached",
    Stop.DESCRIPTORS: "a process ran out of file descriptors",
}


def clean(data: bytes) -> str:
    """Return output as a plain terminal would leave it on paper: no control characters.

    Bytes that are no UTF-8 show as the replacement character; of a line that was printed over
    with carriage returns, as progress bars are, the last state remains.
    """
    text = _SEQUENCES.sub("", data.decode("utf-8", "replace"))
    if "\x08" in text:
        previous = ""
        while previous != text:
            previous, text = text, _RUBBED_OUT.sub("", text)
    if "\r" in text:
        text = _OVERWRITTEN.sub("", text)
    return _CONTROLS.sub("", text)


def execution_text(execution: Execution, limits: SandboxLimits, seconds: float) -> str:
    """Return what the agent reads: the output, then one line in brackets.

    Args:
        execution: The command's end.
        limits: The sandbox's limits, to be named where one was hit.
        seconds: The deadline that the command had; measured times are never shown.
    """
    output = execution.output
    if execution.cut_bytes:
        head, tail = output[: execution.cut_at], output[execution.cut_at :]
        marker = f"\n[... {execution.cut_bytes:,} bytes left out ...]\n"
        text = clean(head) + marker + clean(tail)
    else:
        text = clean(output)
    if text and not text.endswith("\n"):
        text += "\n"
    return text + f"[{'; '.join(_ending(execution, limits, seconds))}]"


def _ending(execution: Execution, limits: SandboxLimits, seconds: float) -> list[str]:
    parts = []
    if execution.timed_out:
        parts.append(f"stopped after {seconds:g} seconds")
    elif execution.stop in _WALLS:
        wall = _WALLS[execution.stop]
        parts.append(wall.format(output=limits.output_bytes, processes=limits.processes))
    if execution.exit_status is not None:
        parts.append(f"exit status {execution.exit_status}")
    if execution.restarted:
        parts.append("the shell ended; a new one was started, files stay")
    return parts or ["no exit status"]


def screen_text(lines: tuple[str, ...], row: int, column: int) -> str:
    """Return a screen as the agent reads it: its rows, then where the cursor stands."""
    text = "\n".join(_CONTROLS.sub("", line) for line in lines).rstrip()
    return f"{text}\n[cursor at row {row + 1}, column {column + 1}]"
