"""What an update can fail with."""

__all__ = ["LossNotFinite"]


class LossNotFinite(Exception):
    """A loss or a gradient is not a number; nothing was changed by the step."""
