"""The phone as a whole: its plan, its own screens, the keyboard, and how touches act.

Independent of tasks and of the user; apps are found by name.
"""
