"""Warm starts: initial policies that reinforcement learning can improve.

Untrained models with tokenizers of their own, induction heads, demonstrations played by the tasks'
oracles, made-up names in them, and behaviour cloning. It knows no recipe and no reinforcement
learning: `training` decides what a run uses.
"""
