import base64
import io
import json

import pytest
from bridges.contract import installed

if not installed("mcp", "2.3"):
    pytest.skip("scripts/bridges mcp", allow_module_level=True)

import anyio
import mcp
from bridges.contract import EVENT, GOLD, IDLE, TASKS, Played, broken
from PIL import Image as Picture

from hexathlon.baselines.bridges.episodes import BridgedEpisode, TurnReply
from hexathlon.baselines.bridges.mcp import READ_TASK, make_server
from hexathlon.envs.errors import EnvFault


class Client:
    """Plays one episode through an MCP session inside the process."""

    def __init__(self) -> None:
        self.results: list[TurnReply] = []

    async def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        episode = BridgedEpisode(EVENT)
        opening = episode.open(task, seed)
        async with mcp.Client(make_server(episode, opening, self.results.append)) as session:
            read = await session.call_tool(READ_TASK, {})
            calls = [json.loads(action) for action in actions]
            answers = [await session.call_tool(each["name"], each["arguments"]) for each in calls]
        episode.close()
        texts = tuple(each.content[0].text for each in answers)
        ended = bool(self.results) and self.results[-1].done
        reward = self.results[-1].reward if ended else 0.0
        return Played(task, seed, actions, read.content[0].text, texts, reward, ended)


@pytest.mark.parametrize("played", GOLD + IDLE, ids=["gold", "gold", "idle", "idle"])
def test_episodes_are_those_of_gymnasium(played: Played) -> None:
    assert anyio.run(Client().play, played.task, played.seed, played.actions) == played


def test_sessions_do_not_disturb_each_other() -> None:
    seen: list[Played] = []

    async def one(played: Played) -> None:
        seen.append(await Client().play(played.task, played.seed, played.actions))

    async def all_of_them() -> None:
        async with anyio.create_task_group() as group:
            for played in (GOLD + IDLE) * 2:
                group.start_soon(one, played)

    anyio.run(all_of_them)
    assert sorted(seen) == sorted((GOLD + IDLE) * 2)


def test_no_reward_is_told_and_nothing_runs_after_the_end() -> None:
    gold = GOLD[0]
    results: list[TurnReply] = []

    async def play() -> None:
        with BridgedEpisode(EVENT) as episode:
            opening = episode.open(gold.task, gold.seed)
            async with mcp.Client(make_server(episode, opening, results.append)) as session:
                names = [tool.name for tool in (await session.list_tools()).tools]
                assert names == [READ_TASK, *(tool["name"] for tool in opening.tools)]
                for action in gold.actions:
                    call = json.loads(action)
                    answer = await session.call_tool(call["name"], call["arguments"])
                    told = answer.model_dump_json()
                    assert "reward" not in told and "score" not in told and gold.task not in told
                late = await session.call_tool("list_tables", {})
                assert late.is_error and "has ended" in late.content[0].text

    anyio.run(play)
    assert [reply.reward for reply in results] == [1.0]


def test_bad_calls_are_answered_by_the_environment() -> None:
    async def play() -> None:
        with BridgedEpisode(EVENT) as episode:
            opening = episode.open(TASKS[0], 0)
            async with mcp.Client(make_server(episode, opening, print)) as session:
                answer = await session.call_tool("run_querry", {})
                assert "Did you mean 'run_query'?" in answer.content[0].text
                answer = await session.call_tool("run_query", {"sql": 3})
                assert "must be of type string" in answer.content[0].text

    anyio.run(play)


def test_a_fault_is_an_error() -> None:
    results: list[TurnReply | EnvFault] = []

    async def play() -> None:
        with broken() as episode:
            opening = episode.open(TASKS[0], 0)
            async with mcp.Client(make_server(episode, opening, results.append)) as session:
                answer = await session.call_tool("list_tables", {})
                assert answer.is_error and "the disk is gone" in answer.content[0].text
                late = await session.call_tool("list_tables", {})
                assert late.is_error and "has ended" in late.content[0].text

    anyio.run(play)
    assert [type(result) for result in results] == [EnvFault]


def test_screens_arrive() -> None:
    pytest.importorskip("android_env", reason="pip install 'hexathlon[gui]'")

    async def play() -> None:
        with BridgedEpisode("GUI", split="test", level="tiny", screenshot=True) as episode:
            opening = episode.open(seed=0)
            async with mcp.Client(make_server(episode, opening, print)) as session:
                parts = (await session.call_tool(READ_TASK, {})).content
                picture = Picture.open(io.BytesIO(base64.b64decode(parts[1].data)))
                assert picture.size == (opening.image.width, opening.image.height)

    anyio.run(play)
