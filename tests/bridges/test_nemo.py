"""NeMo Gym plays an event: its resources server for OpenEnv, its agent, and a scripted model."""

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("nemo_gym", reason="scripts/bridges nemo")

from bridges.contract import EVENT, broken, gold
from bridges.doors.nemo import client, resources_server
from bridges.guide import example
from bridges.served import served
from nemo_gym import server_utils
from nemo_gym.config_types import ModelServerRef, ResourcesServerRef
from nemo_gym.global_config import NEMO_GYM_CONFIG_DICT_ENV_VAR_NAME
from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.openenv import make_app
from hexathlon.baselines.engines.apis.base import ApiCall
from hexathlon.baselines.gateway.app import Gateway
from support import serving
from support.gateways import Scripted

NAMES = ("event", "player", "model")


@pytest.fixture(autouse=True)
def _configured(monkeypatch: pytest.MonkeyPatch) -> None:
    """NeMo Gym's processes find their configuration there, and have one HTTP client each."""
    monkeypatch.setenv(NEMO_GYM_CONFIG_DICT_ENV_VAR_NAME, "{}")
    monkeypatch.setattr(server_utils, "_GLOBAL_AIOHTTP_CLIENT", None)


@contextlib.contextmanager
def gym(url: str, model: Any, episode: dict[str, Any]) -> Iterator[str]:
    """Yield the address of an agent server; its resources and model servers end with it."""
    sockets = {name: socket.create_server(("127.0.0.1", 0)) for name in NAMES}
    ports = {name: each.getsockname()[1] for name, each in sockets.items()}
    places = {name: {"kind": {"impl": {"host": "127.0.0.1", "port": ports[name]}}}
              for name in NAMES}  # fmt: skip
    servers = client(places)
    resources = resources_server(url, episode, servers, ports["event"])
    player = SimpleAgent(
        config=SimpleAgentConfig(
            host="127.0.0.1",
            port=ports["player"],
            entrypoint="app.py",
            name="player",
            resources_server=ResourcesServerRef(type="resources_servers", name="event"),
            model_server=ModelServerRef(type="responses_api_models", name="model"),
        ),
        server_client=servers,
    )
    with (
        serving.served(resources.setup_webserver(), sockets["event"]),
        serving.served(Gateway(model), sockets["model"], lifespan="off"),
        serving.served(player.setup_webserver(), sockets["player"]) as address,
    ):
        yield address


def plays(actions: tuple[str, ...]) -> Scripted:
    """A model that takes these turns with the tool `step`, and then stops."""

    def script(call: ApiCall) -> dict[str, Any]:
        done = sum(message["role"] == "tool" for message in call.request.messages)
        if done >= len(actions):
            return {"content": "Done."}
        function = {"name": "step", "arguments": json.dumps({"text": actions[done]})}
        return {"tool_calls": [{"id": f"c{done}", "function": function}]}

    return Scripted(script)


def played(url: str, actions: tuple[str, ...], folder: Path) -> httpx.Response:
    """Play the first gold episode with these actions and return NeMo Gym's answer."""
    episode = {"task": gold()[0].task, "seed": gold()[0].seed}
    with contextlib.chdir(folder):
        exec(example("nemo_row.py").replace("http://127.0.0.1:8000", url), {})
    row = json.loads((folder / "sql.jsonl").read_text())
    with gym(url, plays(actions), episode) as address:
        return httpx.post(f"{address}/run", json=row, timeout=120)


def test_rewards_and_texts_are_those_of_the_event(tmp_path: Path) -> None:
    episode = gold()[0]
    app = make_app(lambda: BridgedEpisode(EVENT), TaskListing(EVENT), "sql")
    with served(app) as url:
        solved = played(url, episode.actions, tmp_path).json()
    assert solved["reward"] == 1.0
    asked = solved["responses_create_params"]["input"]
    assert asked[1]["content"] == episode.opening
    outputs = [json.loads(each["output"])["text"] for each in solved["response"]["output"]
               if each["type"] == "function_call_output"]  # fmt: skip
    assert tuple(outputs) == episode.answers


def test_an_unfinished_episode_earns_nothing(tmp_path: Path) -> None:
    app = make_app(lambda: BridgedEpisode(EVENT), TaskListing(EVENT), "sql")
    with served(app) as url:
        assert played(url, gold()[0].actions[:1], tmp_path).json()["reward"] == 0.0


def test_a_fault_is_an_error_and_no_reward(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    app = make_app(broken, TaskListing(EVENT), "sql")
    with served(app) as url:
        answer = played(url, gold()[0].actions, tmp_path)
    assert answer.status_code == 500
    assert "the disk is gone" in caplog.text
