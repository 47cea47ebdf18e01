"""Calendar: agenda, days and months, events with guests, reminders and recurrence.

Reads names from the contacts. Independent of mail and messages, through which guests are informed.
"""

from hexathlon.tasks.gui.world.apps.calendar.calendar import CalendarApp

__all__ = ["app"]

app = CalendarApp()
"""The calendar app."""
