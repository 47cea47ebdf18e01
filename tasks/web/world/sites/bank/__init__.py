"""The bank: accounts, transfers, standing orders, cards, and a company's expense claims.

It knows nothing of tasks.
"""
