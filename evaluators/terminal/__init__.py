"""Verifiers of the terminal event."""
