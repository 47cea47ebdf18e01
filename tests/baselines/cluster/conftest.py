"""One local cluster for all tests of this folder that a process runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray")

from hexathlon.baselines.cluster.connect import RayCluster, connect


@pytest.fixture(scope="session")
def cluster() -> Iterator[RayCluster]:
    """A cluster of this machine with room for tests of several workers; `toys` is a resource."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))  # for `support`
        with connect("auto", cpus=16, resources={"toys": 8}) as opened:
            yield opened
