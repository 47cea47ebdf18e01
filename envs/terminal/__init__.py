"""The terminal event: a shell in a sandbox, and a grader out of its reach.

How processes are isolated is `hexathlon.envs.sandbox`; what the tests mean is not known here.
"""
