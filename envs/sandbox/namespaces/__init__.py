"""The default rung: Linux namespaces over layered files in memory, with or without root.

A small process of our own, the keeper (`keeper`), forks sandboxes from itself on request. It
holds the layers of files in a mount namespace that nobody else sees (`layers`). Each sandbox is a
child that builds its root (`root`), shuts itself in (`confine`) and stays as process 1 (`init`).
The caller's side is in `backend`, `sandbox` and `link`. Keeper and init import the standard
library only, so that a sandbox costs little more than its shell.
"""
