"""Sandboxes: isolated execution of the agent's commands.

One protocol (`base`), three backends (`namespaces`, `docker`, `landlock`), and a ladder that
chooses among them (`ladder`). Independent of tasks, tools and verdicts.
"""
