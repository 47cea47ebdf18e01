"""The simulated shop: catalogue, store, service desk and tau2's retail desk.

Environments and verifiers share it. What a task asks of the shop is not known here.
"""
