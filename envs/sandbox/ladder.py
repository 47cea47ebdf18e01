"""The ladder of sandbox backends, and the choice of one."""

from functools import cache

from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox.base import SandboxBackend

__all__ = ["BACKENDS", "backend", "choose"]

BACKENDS = {
    "namespaces": "hexathlon.envs.sandbox.namespaces.backend:NamespaceBackend",
    "docker": "hexathlon.envs.sandbox.docker.backend:DockerBackend",
    "landlock": "hexathlon.envs.sandbox.landlocked.backend:LandlockBackend",
    "none": "hexathlon.envs.sandbox.landlocked.backend:UnconfinedBackend",
}
"""Name → class, in order of preference. `none` is no sandbox and is never chosen by default."""

_UNASKED = ("namespaces", "docker", "landlock")


@cache
def backend(name: str) -> SandboxBackend:
    """Return a backend by name, available or not.

    Raises:
        ValueError: If there is no backend of this name.
    """
    from importlib import import_module

    if name not in BACKENDS:
        raise ValueError(f"unknown sandbox {name!r}; known: {', '.join(BACKENDS)}")
    module, _, attribute = BACKENDS[name].partition(":")
    found: SandboxBackend = getattr(import_module(module), attribute)()
    return found


def choose(name: str | None = None, *, absolute_paths: bool = False) -> SandboxBackend:
    """Return the named backend, or the first available one.

    Args:
        name: Its name; None for any.
        absolute_paths: Whether files must be where an image says, as in `/app`.

    Raises:
        ValueError: If there is no backend of this name.
        BackendMissing: If it is unavailable, or none is available; the message gives the reason.
    """
    reasons = []
    for candidate in (name,) if name else _UNASKED:
        found = backend(candidate)
        probe = found.probe()
        if probe.available and absolute_paths and not probe.properties["absolute_paths"]:
            reasons.append(f"{candidate}: it has no absolute paths, such as /app")
            continue
        if probe.available:
            return found
        reasons.append(f"{candidate}: {probe.reason}")
    raise BackendMissing("no sandbox works here. " + "; ".join(reasons), cause="sandbox_missing")
