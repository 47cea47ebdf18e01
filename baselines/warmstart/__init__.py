"""Warm starts: initial policies that reinforcement learning can improve.

Untrained models with their tokenizers, induction heads, demonstrations played by the tasks'
oracles, made-up names in them, and behaviour cloning. It does not depend on recipes or
reinforcement learning: `training` decides what a run uses.
"""
