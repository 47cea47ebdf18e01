"""Tasks: lists of things to do, with steps, dates, priorities and flags.

Independent of other apps; texts that they share become tasks.
"""

from hexathlon.tasks.gui.world.apps.tasks.todo import TasksApp

__all__ = ["app"]

app = TasksApp()
"""The tasks app."""
