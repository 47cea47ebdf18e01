"""The GUI event: phones and desktops that an agent sees and touches, each behind one protocol.

An episode's device is simulated, a real desktop, the user's emulator or a recording. Tasks, and how
an outcome is scored, are not decided here.
"""
