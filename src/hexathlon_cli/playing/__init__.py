"""Playing sessions of `hexathlon play`: choice of tasks, typed lines, screens.

The rules of an event are its environment's; a session only reads lines and shows messages.
"""
