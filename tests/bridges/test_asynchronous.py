"""The episode for coroutines: closing, faults of time, and a new beginning after them."""

import asyncio

import pytest
from bridges.contract import EVENT, gold

from hexathlon.baselines.bridges.asynchronous import AsyncEpisode, episode_of
from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.envs.errors import DeadlineExceeded
from hexathlon.envs.plugins import offer
from support import drill


def test_closing_again_returns_and_an_episode_can_begin_anew() -> None:
    played = gold()[0]

    async def twice() -> list[str]:
        episode = episode_of(EVENT)
        texts = []
        for _ in range(2):
            texts.append((await episode.open(played.task, played.seed)).text)
            await asyncio.wait_for(episode.close(), 60)
            await asyncio.wait_for(episode.close(), 60)
            assert episode.over and episode.reward == 0.0
        return texts

    assert asyncio.run(twice()) == [played.opening] * 2


def test_a_call_beyond_its_deadline_is_a_fault_until_the_next_episode() -> None:
    offer("test/Drill-v0", drill.HOSTED, family="drill", title="Drill", tasksets=("drill",))

    async def hung() -> None:
        episode = AsyncEpisode(lambda: BridgedEpisode("test/Drill-v0"), deadline=5.0)
        await episode.open(drill.TASK, 1)
        with pytest.raises(DeadlineExceeded, match="deadline of 5 s"):
            await episode.say(drill.hang("blocking"))
        with pytest.raises(DeadlineExceeded):
            _ = episode.reward
        with pytest.raises(DeadlineExceeded):
            await episode.say(drill.SUBMIT)
        await episode.open(drill.TASK, 1)
        assert (await episode.say(drill.SUBMIT)).done
        await episode.close()

    asyncio.run(hung())
