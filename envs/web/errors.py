"""Errors of actions that a page or browser refuses; the agent reads their messages."""

__all__ = ["ActionError"]


class ActionError(Exception):
    """An action that cannot be carried out; the message tells the agent why."""
