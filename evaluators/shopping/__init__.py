"""Verifiers of the shopping event: orders, and the public rules of WebShop and tau2 by name.

How the shop answers an agent is not known here; only its final state and the transcript are read.
"""
