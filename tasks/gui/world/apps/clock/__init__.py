"""Clock: alarms with weekdays, the time of cities, a stopwatch with laps, and timers.

Independent of other apps. Time is the phone's simulated one; nothing rings by itself.
"""

from hexathlon.tasks.gui.world.apps.clock.clock import ClockApp

__all__ = ["app"]

app = ClockApp()
"""The app for alarms, timers and the time of cities."""
