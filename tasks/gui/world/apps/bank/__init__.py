"""Bank: accounts, payments, payees, standing orders and cards.

Card payments include the orders of the shop. Transfers require confirmation; amounts are integer
cents.
"""

from hexathlon.tasks.gui.world.apps.bank.bank import BankApp

__all__ = ["app"]

app = BankApp()
"""The bank app."""
