"""The learner: parameter updates from per-token streams.

Batches, scoring, losses' gradients, optimisers, several processes, and the transport of weights to
engines. It knows no environment and no estimator: streams come in, better parameters go out.
"""
