"""Folders, filter fields and bulk actions of the mail site."""

__all__ = ["ACTIONS", "FIELDS", "FOLDERS", "UNDO_SECONDS"]

FOLDERS = ("inbox", "archive", "sent", "drafts", "spam", "trash")
"""Folders that every mailbox has; users add their own."""

FIELDS = ("sender", "subject", "recipients")
"""Fields of a message that a filter can match."""

ACTIONS = ("archive", "trash", "spam", "inbox", "star", "unstar", "move", "label", "unlabel")
"""Actions on the selected messages of a list."""

UNDO_SECONDS = 100
"""How long a sent message can be taken back."""
