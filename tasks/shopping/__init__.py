"""Tasks of the shopping event: purchases, customer service, public formats, and the shop itself.

How an agent sees the shop, and how an order is scored, is not known here.
"""
