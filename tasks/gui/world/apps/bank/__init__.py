"""Bank: accounts, payments, payees, standing orders and cards.

Card payments include the orders of the shop. Transfers ask before they are sent; amounts are whole
cents.
"""

from hexathlon.tasks.gui.world.apps.bank.bank import BankApp

__all__ = ["app"]

app = BankApp()
"""The app for the bank."""
