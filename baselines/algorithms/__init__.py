"""Algorithms: pure functions from groups of samples to per-token streams.

A method is a choice from each registry, written in a recipe. Estimators say how good a token was,
surrogates turn that into a loss, corrections weigh tokens by how far the sampler was from the
learner, and objectives add streams of their own (cross-entropy on observations, a divergence from a
reference). Nothing here knows a trainer, an engine or an environment; which rollouts there are is
decided in `pipeline`.

Conventions, where public libraries differ: docs/notes/algorithms.md.
"""
