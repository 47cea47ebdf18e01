"""Warm starts: a small policy that is worth reinforcing.

An untrained model with a tokenizer of its own, induction heads in its weights, demonstrations
played by the oracles of tasks, made-up names in them, and behaviour cloning. It knows no recipe and
no reinforcement: what a run combines of it is decided in `training`.
"""
