"""Contacts: people with numbers, addresses and groups; favourites, search, look-alike names.

Independent of the apps that show names for numbers.
"""

from hexathlon.tasks.gui.world.apps.contacts.contacts import ContactsApp

__all__ = ["app"]

app = ContactsApp()
