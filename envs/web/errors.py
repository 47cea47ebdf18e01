"""Refusals that a page or a browser gives to an action; the agent reads them."""

__all__ = ["ActionError"]


class ActionError(Exception):
    """An action that cannot be carried out; the message tells the agent why."""
