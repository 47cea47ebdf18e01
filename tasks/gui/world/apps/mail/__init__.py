"""Mail: folders, threads of look-alike subjects, attachments, drafts and a signature.

Reads names and addresses from the contacts. Independent of the calendar and the tasks, to which it
hands an email's subject through their forms.
"""

from hexathlon.tasks.gui.world.apps.mail.mail import MailApp

__all__ = ["app"]

app = MailApp()
"""The mail app."""
