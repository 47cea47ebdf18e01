"""Verifiers of the shopping event: orders, and the public rules of WebShop and tau2 by name.

They read only the final state and the transcript; the shop itself belongs to the environment.
"""
