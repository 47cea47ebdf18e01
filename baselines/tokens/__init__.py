"""Token-faithful conversations: what the engine saw, token by token, and nothing re-encoded."""
