import json
import os
import sys
from pathlib import Path

import pytest
from bridges.contract import installed

if not installed("mcp", "2.3"):
    pytest.skip("scripts/bridges mcp", allow_module_level=True)

import anyio
import mcp
from bridges.contract import EVENT, TASKS, broken, gold
from bridges.guide import example

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.mcp import READ_TASK, make_server
from hexathlon.baselines.bridges.rendering import TurnReply
from hexathlon.envs.errors import EnvFault


def test_no_reward_is_told_and_nothing_runs_after_the_end() -> None:
    played = gold()[0]
    results: list[TurnReply] = []

    async def play() -> None:
        with BridgedEpisode(EVENT) as episode:
            opening = episode.open(played.task, played.seed)
            async with mcp.Client(make_server(episode, opening, results.append)) as session:
                names = [tool.name for tool in (await session.list_tools()).tools]
                assert names == [READ_TASK, *(tool["name"] for tool in opening.tools)]
                for action in played.actions:
                    call = json.loads(action)
                    answer = await session.call_tool(call["name"], call["arguments"])
                    told = answer.model_dump_json()
                    assert "reward" not in told and "score" not in told and played.task not in told
                late = await session.call_tool("list_tables", {})
                assert late.is_error and "has ended" in late.content[0].text

    anyio.run(play)
    assert [reply.reward for reply in results] == [1.0]


def test_the_guides_client_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    exec(example("mcp_client.py"), {})
    with BridgedEpisode(EVENT, split="train", level="tiny") as episode:
        seen = [episode.open(seed=0).text, episode.call("list_tables", {}).text]
    assert capsys.readouterr().out == "".join(f"{text}\n" for text in seen)


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
