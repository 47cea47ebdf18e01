"""Tasks of the web event: simulated sites, task templates across them, and public formats.

Independent of browsers and pages, which belong to the environment.
"""
