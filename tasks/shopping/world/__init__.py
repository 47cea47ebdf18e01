"""The simulated shop: catalogue, store, service desk and tau2's retail desk.

Shared by environments and verifiers. Independent of what a task asks of the shop.
"""
