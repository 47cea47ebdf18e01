"""The torch engine: continuous batching for a checkpoint in this process.

Draws depend on the request's seed alone, not on the batch. Chat templates are left to `tokens`.
"""
