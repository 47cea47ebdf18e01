"""Names of the built-in agents whose scores are the floor and the ceiling of an event."""

__all__ = ["CEILING_AGENT", "FLOOR_AGENTS", "IMITATING_AGENTS"]

CEILING_AGENT = "oracle"

IMITATING_AGENTS = ("constant", "neighbour", "overlap", "identity")
"""Agents that imitate solved train tasks."""

FLOOR_AGENTS = ("noop", "random", "dump", "majority", *IMITATING_AGENTS)
"""Agents that understand nothing; the floor of an event is the best of them."""
