"""Fixtures for all tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.docker_engine import docker_engine
from support.postgres import postgres_server

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The directory of public data beside the checkout."""
    if not _SHARED.is_dir():
        pytest.skip("the public data folder ../shared/data is not beside this checkout")
    return _SHARED


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The SQLAlchemy URL of a throw-away PostgreSQL server."""
    with postgres_server() as url:
        yield url


@pytest.fixture(scope="session")
def docker_url() -> Iterator[str]:
    """The URL of a throw-away Docker engine."""
    with docker_engine() as url:
        yield url
