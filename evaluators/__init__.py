"""Scoring: verifiers, judges, trial records, statistics.

Playing episodes and agents are left to `hexathlon.baselines`.
"""
