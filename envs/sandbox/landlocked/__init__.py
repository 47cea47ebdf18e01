"""Backend for machines without namespaces: Landlock, seccomp and process limits.

It has no separate root: absolute paths of an image are placed below a temporary directory, whose
name is in `SANDBOX_ROOT`. Outside that directory a sandbox can only read the system's programs.
"""
