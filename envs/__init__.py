"""Environments: one gymnasium environment per family on a shared base.

Independent of agents, and of how runs are recorded.
"""
