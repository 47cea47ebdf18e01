"""Terminal tasks: generated ones in Harbor form, and readers of Harbor and Terminal-Bench 1.

Independent of sandboxes and of how a task's tests are run.
"""
