"""Messages: conversations with contacts, drafts, sharing and forwarding, blocked numbers.

Independent of the network: what is sent is stored, and what arrives is put there by a plan.
"""

from hexathlon.tasks.gui.world.apps.messages.messages import MessagesApp

__all__ = ["app"]

app = MessagesApp()
