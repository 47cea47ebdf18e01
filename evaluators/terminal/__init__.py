"""Verifiers of the terminal event: results of tests, and Harbor's reward.

The environment runs the tests; these verifiers score their results.
"""
