"""Algorithms: pure functions from groups of samples to per-token streams.

A method is a choice from each registry, written in a recipe; nothing here knows a trainer, an
engine or an environment. Estimators say how good a token was, surrogates turn that into a loss,
corrections weigh tokens by how far the sampler was from the learner, and objectives add streams
of their own (cross-entropy on observations, a pull towards a reference).

Conventions, where public libraries differ: docs/notes/algorithms.md.
"""
