"""Tasks of the GUI event: a simulated phone, its apps, and the work to do on it.

Independent of how the agent sees and touches the screen, and of how results are scored.
"""
