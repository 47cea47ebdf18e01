"""A Linux desktop as a device: real programs in a sandbox, their windows, keys and files.

Independent of the tasks and of how results are scored.
"""
