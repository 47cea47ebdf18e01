"""Scoring: verifiers, judges, trial records, statistics.

How an episode is played, and by which agent, is not known here.
"""
