"""Verifiers of the shopping event."""
