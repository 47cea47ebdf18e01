"""Shifts: days of work in one persistent world, composed from a library of requests.

A shift consists of records on the sites and ways to change them, the rules of the day, and events
that may affect a request afterwards. Independent of how requests reach the agent and of how they
are scored.
"""
