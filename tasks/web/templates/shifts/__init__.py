"""Shifts: days of work in one persistent world, composed from a library of requests.

A shift knows records of sites and how a person changes them, rules of the day, and what may happen
to a request afterwards. How requests reach the agent, and how they are scored, is not known here.
"""
