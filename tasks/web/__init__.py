"""Tasks of the web event: simulated sites, templates of tasks over them, and public formats.

Independent of browsers and pages, which belong to the environment.
"""
