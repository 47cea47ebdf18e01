"""Verdicts on role-play replies: performances with known faults, statements about them, tasks."""

__all__: list[str] = []
