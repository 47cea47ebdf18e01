"""Scenes: long evenings with several visitors, whose threads cross and come due much later.

A thread (`threads_*`) is one matter between the character and some figures, with one trap or more;
`compose` weaves threads and ordinary questions into one evening.
"""
