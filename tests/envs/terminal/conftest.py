"""An environment in the best sandbox of this machine; skipped if there is none."""

from collections.abc import Iterator

import gymnasium
import pytest

import hexathlon  # noqa: F401 - registers the ids
from hexathlon.envs.errors import BackendMissing
from hexathlon.envs.sandbox.ladder import choose
from hexathlon.envs.terminal.env import TerminalEnv


@pytest.fixture
def env() -> Iterator[TerminalEnv]:
    try:
        choose()
    except BackendMissing as error:
        pytest.skip(str(error))
    made = gymnasium.make("hexathlon/Terminal-v1").unwrapped
    assert isinstance(made, TerminalEnv)
    yield made
    made.close()
