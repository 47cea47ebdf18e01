"""Observation text of commands and screens: cleaned, truncated, with exit status."""

import re

from hexathlon.envs.sandbox.execution import Execution, Screen
from hexathlon.envs.sandbox.limits import Stop

__all__ = ["clean", "execution_text", "screen_text"]

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movement
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # window titles, links
    r"|\x1b[PX^_][^\x1b]*\x1b\\"  # other strings
    r"|\x1b[ -/]*[0-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_REASONS = {
    Stop.TIME: "stopped at its time limit",
    Stop.OUTPUT: "stopped: it printed too much",
    Stop.MEMORY: "the memory limit was reached",
    Stop.PROCESSES: "the limit on processes was reached",
    Stop.DISK: "the disk limit was reached",
    Stop.INODES: "the limit on the number of files was reached",
    Stop.DESCRIPTORS: "the limit on open files was reached",
    Stop.SHELL_ENDED: "the shell ended",
}


def clean(data: bytes) -> str:
    """Decode terminal output: remove escape sequences, spell out other control characters."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    text = _ESCAPES.sub("", text)
    if "\r" in text:  # a line's last state is what a terminal shows
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"^{chr(code ^ 64)}" if code < 128 else f"<{code:02x}>"


def execution_text(done: Execution) -> str:
    """Return the output with a note of what was cut, the exit status and the reason of a stop."""
    if done.cut_bytes:
        head, tail = done.output[: done.cut_at], done.output[done.cut_at :]
        text = f"{clean(head)}\n[… {done.cut_bytes:,} bytes cut …]\n{clean(tail)}"
    else:
        text = clean(done.output)
    notes = [] if done.exit_status is None else [f"exit status {done.exit_status}"]
    if done.stop is not None:
        notes.append(_REASONS[done.stop])
    if done.restarted:
        notes.append("a new shell was started, its variables and jobs are gone")
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{end}[{'; '.join(notes)}]"


def screen_text(screen: Screen) -> str:
    """Return the screen's rows and the cursor position."""
    place = f"[cursor in row {screen.row + 1}, column {screen.column + 1}]"
    return f"{_CONTROL.sub(_spelled, screen.text())}\n{place}"
