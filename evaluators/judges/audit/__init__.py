"""Audit of judges: agreement, biases, attacks, corrected means."""
