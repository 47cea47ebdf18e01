"""Questions whose difficulty lies in the engine: its dialect, or the work that a statement takes.

Each has a small database of its own, with columns of dates, times and JSON.
"""
