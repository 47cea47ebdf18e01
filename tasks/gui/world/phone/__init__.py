"""The phone: its state, back stack, keyboard, notifications, clock, and how touches act on it.

Independent of single apps, which are found by name, and of whoever touches the screen.
"""
