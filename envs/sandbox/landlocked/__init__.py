"""The rung for machines without namespaces: Landlock, seccomp and limits of the process.

There is no root of its own: absolute paths of an image stand below a temporary folder, whose name
is in `SANDBOX_ROOT`. What a sandbox can do outside that folder is read the system's programs.
"""
