"""Tasks: records, generators, splits, oracles, loaders of public formats.

Independent of how agents act on a task and of how results are scored.
"""
