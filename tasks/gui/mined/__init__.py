"""Tasks mined from the simulator's apps by exploration, without templates.

A random walk through an app ends when a row has changed; the steps that the change needs become the
solution, and the change becomes the request. After the curriculum of MobileForge.
"""
