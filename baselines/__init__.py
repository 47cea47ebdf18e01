"""Agents, inference engines, rollouts, evaluation and training.

Everything that plays environments and improves policies is here. Tasks, verifiers and environments
are in the folders to the left and know nothing of it; publication is left to `leaderboard`.
"""
