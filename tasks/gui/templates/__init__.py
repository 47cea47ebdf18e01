"""Templates: kinds of tasks, each of which draws a phone, a request and the expected result.

Independent of ids, splits and the environment.
"""
