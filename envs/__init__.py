"""Environments: one gymnasium environment per family on a shared base.

Which agent plays, and how a run of episodes is recorded, is not known here.
"""
