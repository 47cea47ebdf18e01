"""Expenses: entries by category and month, budgets, and receipts as files.

Receipts arrive from other apps by name; entries do not change when their pictures do.
"""

from hexathlon.tasks.gui.world.apps.expenses.expenses import ExpensesApp

__all__ = ["app"]

app = ExpensesApp()
"""The expenses app."""
