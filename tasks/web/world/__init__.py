"""The simulated web: sites with their state, behind hosts, shared by environment and verifier.

A site is a pure program from a request and its SQLite state to a response. Independent of browsers,
tasks and expected answers.
"""
