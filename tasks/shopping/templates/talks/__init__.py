"""Conversations at the service desk in which several matters interact.

A case draws matters, which state what the customer wants; `resolve` then derives all bookings from
the matters together, and again as somebody would who overlooks one of the twists.
"""
