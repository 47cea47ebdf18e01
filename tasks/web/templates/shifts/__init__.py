"""Shifts: days of work in one persistent world, composed from a library of requests.

A shift has records of sites and ways to change them, rules of the day, and events that may affect a
request afterwards. Independent of how requests reach the agent and of how they are scored.
"""
