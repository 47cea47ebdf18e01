"""The learner: parameter updates from per-token streams.

Batches, scoring, gradients, optimisers, a critic and low-rank adapters. It knows no environment and
no estimator: streams come in, better parameters go out. Other processes are seen through `Ranks`
alone.
"""
