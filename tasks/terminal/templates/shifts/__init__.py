"""Shifts: days on call on one machine, composed from a library of tickets.

Each module holds one kind of ticket with its files, its unannounced traps, its probes, its
solutions and their near misses; `day` composes them, `handbook` holds the rules of the house.
"""

from hexathlon.tasks.terminal.templates.shifts import templates

__all__ = ["templates"]
