"""Verifiers of the terminal event: results of tests, and Harbor's reward.

Running the tests is the environment's; here their results are scored.
"""
