"""Connecting to a Ray cluster, or starting one on this machine for the duration of a command.

Clusters of several machines are started by `ray up`, KubeRay or a Slurm script; this module only
connects to them. Every failure raises a `ClusterError` with a remedy within a deadline, whereas Ray
itself exits the process when an address does not answer.
"""

import importlib
import logging
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from hexathlon.baselines.harness.errors import EnvironmentUnavailable
from hexathlon.evaluators.closing import Closing

__all__ = ["AUTO", "RayCluster", "ClusterError", "ClusterNode", "connect"]

AUTO = "auto"
"""The address that starts a cluster on this machine."""

OBJECT_STORE_BYTES = 100 * 2**20
"""Shared memory of a local cluster's object store, which stores messages over 100 KB."""

_ATTEMPTS = 2
"""Attempts to start a local cluster: Ray gives its node 30 seconds, fixed, to start."""

_MODE = "RAY_AUTH_MODE"
"""Ray's variable that decides whether tokens are sent and demanded."""

_PREFIX = "hexathlon-ray-"
_PLACE = Path("/tmp")


class ClusterError(EnvironmentUnavailable):
    """A cluster cannot be used; the message says why and what to do."""


class ClusterNode(NamedTuple):
    """A machine, or a share of one, in a cluster."""

    name: str
    """Ray's id of the node."""

    address: str
    alive: bool
    resources: Mapping[str, float]


class RayCluster(Closing):
    """A connection to a cluster; `connect` creates one.

    Closing it disconnects, which stops everything that this process started on the cluster. A
    cluster that `connect` started is shut down.

    Args:
        address: The requested address.
        folder: Ray's folder if the cluster is local, deleted on closing; else None.
    """

    def __init__(self, address: str, folder: Path | None) -> None:
        self.address = address
        self._folder = folder
        self._open = True

    @staticmethod
    def current() -> "RayCluster":
        """Return the cluster of the calling actor or task."""
        return RayCluster("", None)

    @property
    def local(self) -> bool:
        """Whether the cluster was started by this process."""
        return self._folder is not None

    def nodes(self) -> list[ClusterNode]:
        """Return the nodes, including dead ones."""
        import ray

        return [
            ClusterNode(
                str(row["NodeID"]),
                str(row["NodeManagerAddress"]),
                bool(row["Alive"]),
                dict(row.get("Resources", {})),
            )
            for row in ray.nodes()  # type: ignore[no-untyped-call]
        ]

    def resources(self) -> dict[str, float]:
        """Return the total resources of all nodes, free or in use."""
        import ray

        amounts = ray.cluster_resources()  # type: ignore[no-untyped-call]
        return {name: float(amount) for name, amount in amounts.items()}

    def close(self) -> None:
        """Disconnect, and stop the cluster if this process started it; idempotent."""
        if not self._open:
            return
        self._open = False
        import ray

        ray.shutdown()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def connect(
    address: str,
    *,
    cpus: float = 0.0,
    within: float = 60.0,
    resources: Mapping[str, float] | None = None,
) -> RayCluster:
    """Connect to a cluster.

    Args:
        address: `auto` starts a cluster on this machine, usable only with this user's Ray token;
            `HOST:PORT` is the port of a head node, for machines that are nodes themselves;
            `ray://HOST:PORT` is its client port, for all others.
        cpus: Cores that a local cluster declares, or this machine's if that is more.
        within: Seconds to wait for an answer.
        resources: Named resources that a local cluster declares.

    Raises:
        ClusterError: If Ray is not installed, the address is malformed or does not answer, or the
            cluster runs another version of Ray or Python.
    """
    _require_ray()
    import ray

    if ray.is_initialized():
        raise ClusterError(
            "this process is already connected to a cluster: close that connection first"
        )
    if address == AUTO:
        return _started(cpus, resources or {})
    if _require_answer(address, within):
        _use_token()
    try:
        ray.init(address, namespace=_PREFIX + str(os.getpid()), **_quiet())
    except Exception as error:
        raise ClusterError(_explained(address, error)) from error
    return RayCluster(address, None)


def _require_ray() -> None:
    # Read by Ray on import: no usage reports, GPUs stay visible to processes that reserve none, and
    # messages about lost workers stay out of this process's output.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".*")
    # 30 seconds by default, which a busy machine can need.
    os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "120")
    try:
        import ray  # noqa: F401
    except ImportError as error:
        raise ClusterError(
            f"--cluster needs Ray, which cannot be imported ({error}): "
            "pip install 'hexathlon[cluster]'"
        ) from None


def _quiet() -> dict[str, Any]:
    """Return settings that keep Ray's messages in its log files."""
    return {"log_to_driver": False, "logging_level": logging.CRITICAL}


def _started(cpus: float, resources: Mapping[str, float]) -> RayCluster:
    import ray

    _remove_leftovers()
    for attempt in range(_ATTEMPTS):
        # A short path: those of Ray's sockets are limited to 107 bytes.
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=_PLACE))
        try:
            ray.init(
                num_cpus=max(math.ceil(cpus), os.cpu_count() or 1),
                resources=dict(resources),
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                _temp_dir=str(folder),
                # Start workers on demand, not one per declared core in advance.
                _system_config={"prestart_worker_first_driver": False},
                **_quiet(),
            )
            break
        except Exception as error:
            ray.shutdown()
            if "timed out" in str(error) and attempt + 1 < _ATTEMPTS:
                continue
            reason = _first_line(error)
            raise ClusterError(
                f"Ray could not start on this machine: {reason}; its logs are in {folder}"
            ) from error
    return RayCluster(AUTO, folder)


def _remove_leftovers() -> None:
    """Delete the folders of local clusters whose process was killed."""
    for folder in _PLACE.glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            shutil.rmtree(folder, ignore_errors=True)


def _require_answer(address: str, within: float) -> bool:
    """Raise `ClusterError` unless a Ray cluster answers at an address.

    Ray exits the process if there is no answer, so a child process checks first.

    Returns:
        Whether the cluster asks for this user's token, which Ray leaves out by default if an
        address is given.
    """
    host, port = _place(address)
    until = time.monotonic() + within
    try:
        socket.create_connection((host, port), timeout=within).close()
    except OSError as error:
        raise ClusterError(
            f"no cluster answers at {address} ({error.strerror or error}): check the address and "
            "that `ray start --head` runs there, or use --cluster auto for this machine"
        ) from None
    if address.startswith("ray://"):
        return _MODE not in os.environ and _has_token()
    choices: list[dict[str, str]] = [{}]
    if _MODE not in os.environ and _has_token():
        choices.append({_MODE: "token"})
    try:
        for choice in choices:
            left = max(until - time.monotonic(), 1.0)
            reason = _unhealthy(address, left, choice)
            if not reason:
                return bool(choice)
    except subprocess.TimeoutExpired:
        raise ClusterError(
            f"{address} accepts connections but did not answer as a Ray cluster within "
            f"{within:.0f} s: check that it is the port of the head node (6379 by default)"
        ) from None
    raise ClusterError(
        f"{address} is not a healthy Ray cluster: {reason}; check that it is the port of "
        "the head node (6379 by default) and that this machine has the cluster's "
        "authentication token"
    )


def _unhealthy(address: str, within: float, settings: Mapping[str, str]) -> str:
    """Ask a cluster for its health in a child process; return its complaint, if any."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--address", address]
    answer = subprocess.run(
        command, capture_output=True, timeout=within, env={**os.environ, **settings}
    )
    if answer.returncode == 0:
        return ""
    lines = answer.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "no reason given"


def _has_token() -> bool:
    """Return whether this user has a token, which `ray start` then demands from clients."""
    place = os.environ.get("RAY_AUTH_TOKEN_PATH", "") or Path.home() / ".ray" / "auth_token"
    return bool(os.environ.get("RAY_AUTH_TOKEN")) or Path(place).is_file()


def _use_token() -> None:
    """Send the token with every request of this process and of those that it starts."""
    os.environ[_MODE] = "token"
    core: Any = importlib.import_module("ray._raylet")
    core.Config.initialize("")  # Ray has read the variable already


def _place(address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    known = parts.scheme in ("", "ray") if host else False
    if not host or port is None or not known:
        raise ClusterError(
            f"--cluster must be {AUTO}, HOST:PORT or ray://HOST:PORT, got {address!r}"
        )
    return host, port


def _explained(address: str, error: Exception) -> str:
    text = str(error)
    if "ersion mismatch" in text or "ersion" in text and "Python" in text:
        own = f"Python {sys.version.split()[0]} and Ray {_ray_version()}"
        return (
            f"the cluster at {address} does not run the versions of this environment, {own}: "
            f"install the same ones on both ({' '.join(text.split())})"
        )
    return (
        f"cannot connect to the cluster at {address}: {_first_line(error)}; HOST:PORT works only "
        "on a machine that is a node of the cluster; from elsewhere use ray://HOST:10001"
    )


def _ray_version() -> str:
    import ray

    return str(ray.__version__)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0]
