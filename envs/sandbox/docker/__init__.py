"""The docker rung, through the `docker` package (extra `docker`).

A container's root is read-only; what may be written are files in memory of a limited size, since
the engine's own layers have no quota. A snapshot is therefore the difference to the image, as
data, not an image of the engine.
"""
