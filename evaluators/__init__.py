"""Evaluation: verifiers, trial records, statistics."""
