"""Sandboxes: isolated execution of the agent's commands.

One protocol (`base`), three backends (`namespaces`, `docker`, `landlock`), and a
ladder that chooses among them (`ladder`). Knows nothing of tasks, tools or verdicts.
"""
