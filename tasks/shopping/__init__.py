"""Tasks of the shopping event: purchases, customer service, public formats, and the shop itself.

Independent of how agents see the shop and of how orders are scored.
"""
