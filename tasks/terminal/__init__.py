"""Terminal tasks: generated ones in Harbor form, and readers of Harbor and Terminal-Bench 1.

Sandboxes, and how a task's tests are run, are not known here.
"""
