"""Token-faithful conversations: prompt and sampled tokens of an engine, never re-encoded.

Contains chat rendering, the token tree, trajectories, and requests to token engines. Independent of
environments and engine implementations.
"""
