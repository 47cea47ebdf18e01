"""Vela, a small language with proposals and minutes: the template `long_language`.

Holds the interpreter's sources by rules, an independent reference, and the project's papers.
It does not know how programs are run inside a sandbox.
"""

from hexathlon.tasks.terminal.templates.long.language import task

__all__ = ["task"]
