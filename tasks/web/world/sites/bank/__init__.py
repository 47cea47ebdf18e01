"""The bank: accounts, transfers, standing orders, cards, and a company's expense claims.

Independent of tasks.
"""
