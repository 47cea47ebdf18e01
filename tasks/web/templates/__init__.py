"""Templates of tasks on the web: one module per site, others for tasks across several sites.

They draw worlds, requests and expected results. They do not depend on a browser: scripts go through
a `Pilot`.
"""
