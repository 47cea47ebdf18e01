"""The torch engine: continuous batching for a checkpoint in this process.

Sampled tokens depend on the request's seed, not on the batch. Chat templates are left to `tokens`.
"""
