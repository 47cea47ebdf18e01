"""Terminal tasks: generated ones in Harbor form, and readers of Harbor and Terminal-Bench 1."""
