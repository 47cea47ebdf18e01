"""Leaderboard: a static site built from records alone."""
