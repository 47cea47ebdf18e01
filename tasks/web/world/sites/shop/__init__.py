"""The shop: catalogue, cart, checkout, account, returns and the staff's pages.

Its goods are those of `hexathlon.tasks.catalogue`. Independent of tasks.
"""
