"""The GUI environment: a device operated through its screen, and the agent's tools for it.

Independent of grading: expected answers and states are never available here.
"""
