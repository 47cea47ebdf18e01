"""Phone: recent calls, favourites, keypad, voicemail, blocked numbers and forwarding.

Reads names from the contacts. Incoming calls are shown by the phone itself, which lists them here.
"""

from hexathlon.tasks.gui.world.apps.phone.calls import PhoneCallsApp

__all__ = ["app"]

app = PhoneCallsApp()
"""The phone app."""
