"""Agents: whatever maps messages to a message."""
