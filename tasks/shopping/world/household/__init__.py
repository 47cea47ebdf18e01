"""A household that orders from a market of small sellers over a month.

Offers, sellers, records and tools; requests are composed in `templates.household`.
"""
