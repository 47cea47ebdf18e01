"""Adapters through which other trainers, harnesses and agents play the events.

Each module serves one interface, imports its package when used, and stays thin: `episodes` plays an
episode as text, tool calls, images and a reward, and `listing` lists tasks. Nothing here scores,
trains or evaluates, and no other package of the suite imports it.
"""
