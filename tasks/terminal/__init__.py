"""The terminal event: generated tasks in Harbor format; readers of Harbor and Terminal-Bench 1."""
