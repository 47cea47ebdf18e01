"""An environment in the best sandbox of this machine, and the names of the backends it has."""

from collections.abc import Iterator

import gymnasium
import pytest

import hexathlon  # noqa: F401 - registers the ids
from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox import ladder
from hexathlon.envs.terminal.env import TerminalEnv


@pytest.fixture
def env() -> Iterator[TerminalEnv]:
    try:
        ladder.choose()
    except BackendMissing as error:
        pytest.skip(str(error))
    made = gymnasium.make("hexathlon/Terminal-v1").unwrapped
    assert isinstance(made, TerminalEnv)
    yield made
    made.close()


@pytest.fixture(params=["namespaces", pytest.param("docker", marks=pytest.mark.slow)])
def backend_name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of each backend that works here."""
    if request.param == "docker":
        monkeypatch.setenv("DOCKER_HOST", request.getfixturevalue("docker_url"))
    ladder.backend.cache_clear()
    probe = ladder.backend(request.param).probe()
    if not probe.available:
        pytest.skip(f"{request.param}: {probe.reason}")
    yield request.param
    if request.param == "docker":
        ladder.backend("docker").engine.close()
    ladder.backend.cache_clear()
