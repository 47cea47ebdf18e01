"""Token-faithful conversations: the tokens that an engine read and sampled, never re-encoded.

Chat rendering, the tree of tokens, trajectories, and the protocol of token engines. It knows no
environment and no engine's implementation.
"""
