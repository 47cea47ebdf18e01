"""Errors of devices."""

__all__ = ["DeviceRefusal"]


class DeviceRefusal(Exception):
    """An action that cannot be carried out; the message tells the agent why and what to do."""
