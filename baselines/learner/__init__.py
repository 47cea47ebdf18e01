"""The learner: parameter updates from per-token streams.

Batches, scoring, gradients, optimisers, a critic and low-rank adapters. It knows no environment and
no estimator: it maps streams to updated parameters. Other processes are visible only through
`Ranks`.
"""
