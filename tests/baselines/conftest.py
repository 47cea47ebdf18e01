"""The toy event and a chat server, for every test of agents and harness."""

from collections.abc import Iterator

import pytest

from support.chat_server import ChatServer
from support.events import register_toy, unregister


@pytest.fixture(scope="session", autouse=True)
def toy_event() -> Iterator[None]:
    register_toy()
    yield
    unregister()


@pytest.fixture(scope="session")
def chat_server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        yield server
