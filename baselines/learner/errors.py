"""Errors of an update."""

__all__ = ["LossNotFinite"]


class LossNotFinite(Exception):
    """A loss or gradient is not finite; the step changed no parameter."""
