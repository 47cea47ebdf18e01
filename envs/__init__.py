"""Environments: one Gymnasium environment per task family, on a shared base class."""
