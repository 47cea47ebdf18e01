"""Templates: kinds of tasks, each of which draws a phone, a request and what is right.

Independent of ids, splits and the environment.
"""
