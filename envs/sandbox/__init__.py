"""Sandboxes: where what an agent types is run, and cannot get out of.

One protocol (`base`), three rungs (`namespaces`, `docker`, `landlock`), one ladder that chooses
among them (`ladder`). Knows nothing of tasks, tools or verdicts.
"""
