"""The learner: parameter updates from per-token streams.

Batches, scoring, gradients, optimisers, a critic and low-rank adapters. Independent of environments
and estimators: it maps streams to updated parameters. Other processes are visible only through
`Ranks`.
"""
