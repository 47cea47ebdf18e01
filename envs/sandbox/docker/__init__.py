"""Docker backend, based on the `docker` package (extra `docker`).

A container's root is read-only. Writable directories are in-memory file systems of limited size,
since the engine's own layers have no quota. A snapshot is therefore the difference from the image,
as data, not an image of the engine.
"""
