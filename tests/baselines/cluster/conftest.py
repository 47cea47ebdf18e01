"""One local cluster, shared by the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray")

from hexathlon.baselines.cluster.connect import RayCluster, connect


@pytest.fixture(scope="package")
def cluster() -> Iterator[RayCluster]:
    """A local cluster with room for several workers; `toys` is a custom resource."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))  # for `support`
        with connect("auto", cpus=16, resources={"toys": 8}) as opened:
            yield opened
