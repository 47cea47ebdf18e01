"""Vela, a small language with proposals and minutes: the template `long_language`."""

from hexathlon.tasks.terminal.templates.long.language import task

__all__ = ["task"]
