"""Expenses: entries by category and month, budgets, and receipts as files.

Receipts arrive from other apps by name; entries do not change when their picture does.
"""

from hexathlon.tasks.gui.world.apps.expenses.expenses import ExpensesApp

__all__ = ["app"]

app = ExpensesApp()
"""The app for expenses."""
