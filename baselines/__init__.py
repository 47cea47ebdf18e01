"""Agents, inference engines, rollouts, evaluation and training.

This package plays environments and trains policies. It imports `tasks`, `evaluators` and `envs`,
which never import it; publication is left to `leaderboard`.
"""
