"""Calendar: agenda, days and months, events with guests, alarms and repetitions.

Reads names from the contacts. Independent of mail and messages, through which guests are told.
"""

from hexathlon.tasks.gui.world.apps.calendar.calendar import CalendarApp

__all__ = ["app"]

app = CalendarApp()
"""The app for the calendar."""
