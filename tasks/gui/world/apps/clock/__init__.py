"""Clock: alarms with weekdays, a world clock, a stopwatch with laps, and timers.

Independent of other apps. Time is the phone's simulated one; nothing rings by itself.
"""

from hexathlon.tasks.gui.world.apps.clock.clock import ClockApp

__all__ = ["app"]

app = ClockApp()
"""The clock app."""
