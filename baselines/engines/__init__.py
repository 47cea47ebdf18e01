"""Engines turn messages into a reply; nothing else knows which one is at work."""
