"""The shop: catalogue, cart, checkout, account, returns and the staff's pages.

Its goods are those of `hexathlon.tasks.catalogue`; it does not depend on tasks.
"""
