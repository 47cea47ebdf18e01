"""The phone as a whole: its plan, its own screens, the keyboard, and how touches act.

Independent of tasks and of whoever touches the screen; apps are found by name.
"""
