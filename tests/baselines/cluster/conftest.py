"""One local cluster, shared by the tests of this folder."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray")

from hexathlon.baselines.cluster.connect import RayCluster, connect
from hexathlon.baselines.engines.served.server import INTERPRETER
from support.served import MADE

# Ray's workers give way to all other processes by default, here to the tests beside them.
os.environ.setdefault("RAY_worker_niceness", "0")


@pytest.fixture(scope="package")
def cluster() -> Iterator[RayCluster]:
    """A local cluster with room for several workers; `toys` is a custom resource."""
    with pytest.MonkeyPatch.context() as patch:
        # For `support`.
        patch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]), prepend=os.pathsep)
        with pytest.MonkeyPatch.context() as starting:
            if INTERPRETER not in os.environ:  # for the servers of engine replicas
                starting.setenv(INTERPRETER, str(MADE))
            opened = connect("auto", cpus=16, resources={"toys": 8})
        with opened:
            yield opened
