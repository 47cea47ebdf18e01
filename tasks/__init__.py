"""Tasks: records, generators, splits, oracles, loaders of public formats.

How an agent acts on a task, and how its result is scored, is not known here.
"""
