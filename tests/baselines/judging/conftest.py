"""Judges on a real server, and clients of them."""

import asyncio
from collections.abc import Iterator

import pytest

from hexathlon.baselines.judging.opening import JudgeSettings, identify_judge, open_client
from support.judge_server import JudgeServer


@pytest.fixture(scope="session")
def judges() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        yield server


@pytest.fixture
def ask(judges):
    """Run `work(client)` with a client of the named judge and return what it returns."""

    def run(name, work, **settings):
        opened = JudgeSettings(judges.model(name), structured=True, **settings)
        identity = identify_judge(opened)

        async def whole():
            client = open_client(opened, identity)
            try:
                return await work(client)
            finally:
                await client.close()

        return asyncio.run(whole())

    return run
