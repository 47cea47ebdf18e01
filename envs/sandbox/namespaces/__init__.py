"""Default backend: Linux namespaces over layered in-memory files, with or without root.

A small process, the supervisor (`supervisor`), forks sandboxes from itself on request. It holds the
layers of files in a private mount namespace (`layers`). Each sandbox is a child that builds its
root (`root`), drops its privileges (`confine`) and stays as process 1 (`init`). The caller's side
is in `backend`, `sandbox` and `link`. Supervisor and init import the standard library only, so that
a sandbox costs little more than its shell.
"""
