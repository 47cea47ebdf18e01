"""Algorithms: pure functions from groups of samples to per-token streams.

A method is a choice from each registry, written in a recipe. Estimators compute advantages,
surrogates turn them into losses, corrections weigh tokens by the mismatch of sampler and learner,
and objectives add further streams (cross-entropy on observations, a divergence from a
reference). Nothing here knows a trainer, an engine or an environment; `pipeline` decides which
rollouts there are.

For conventions on which public libraries differ, see docs/notes/methods.md.
"""
