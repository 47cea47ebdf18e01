"""The terminal event: a shell in a sandbox, and a grader out of its reach.

Isolation is in `hexathlon.envs.sandbox`, the tests of a task in `hexathlon.tasks.terminal`.
"""
