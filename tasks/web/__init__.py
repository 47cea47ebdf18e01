"""Tasks of the web event: simulated sites, templates of tasks over them, and public formats.

Knows nothing of browsers and pages: those are the environment's.
"""
