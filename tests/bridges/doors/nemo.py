"""NeMo Gym's resources server for OpenEnv, over its own routes, in front of our OpenEnv server."""

import contextlib
import os
from typing import Any

import httpx
from bridges.contract import Played, described
from bridges.served import served
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.global_config import NEMO_GYM_CONFIG_DICT_ENV_VAR_NAME
from nemo_gym.server_utils import ServerClient
from omegaconf import OmegaConf
from resources_servers.openenv.app import OpenEnvResourcesServer, OpenEnvResourcesServerConfig

from hexathlon.baselines.bridges import nemo_gym
from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.openenv import make_app

_ANSWER = {
    "id": "answer", "created_at": 0, "model": "scripted", "object": "response", "output": [],
    "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
}  # fmt: skip


class Client(contextlib.ExitStack):
    sees = False
    tells_the_end = True

    def __init__(self, event: str, **settings: Any) -> None:
        super().__init__()
        os.environ.setdefault(NEMO_GYM_CONFIG_DICT_ENV_VAR_NAME, "{}")
        app = make_app(lambda: BridgedEpisode(event, **settings), TaskListing(event), event.lower())
        self.address = self.enter_context(served(app))

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        episode = {"task": task, "seed": seed}
        asked = nemo_gym.row(self.address, **episode)["responses_create_params"]
        prompt, opening = (message["content"] for message in asked["input"])
        server = resources_server(self.address, episode, client({}), 1).setup_webserver()
        with served(server) as url, httpx.Client(base_url=url, timeout=120) as session:
            session.post("/seed_session", json={}).raise_for_status()
            turns = [session.post("/step", json={"text": action}).json() for action in actions]
            verified = session.post(
                "/verify", json={"responses_create_params": asked, "response": _ANSWER}
            )
        if verified.is_error:
            raise RuntimeError(next(turn["error"] for turn in turns if turn.get("error")))
        texts = tuple(turn["text"] for turn in turns)
        return Played(task, seed, actions, opening, texts, verified.json()["reward"],
                      turns[-1]["done"], described(prompt))  # fmt: skip


def client(places: dict[str, Any]) -> ServerClient:
    """Return the client by which NeMo Gym's servers find each other."""
    head = BaseServerConfig(host="127.0.0.1", port=1)
    return ServerClient(head_server_config=head, global_config_dict=OmegaConf.create(places))


def resources_server(url: str, episode: dict[str, Any], servers: ServerClient, port: int) -> Any:
    """Return the server that plays an episode, configured as the guide says."""
    module = nemo_gym.__name__
    return OpenEnvResourcesServer(
        config=OpenEnvResourcesServerConfig(
            host="127.0.0.1", port=port, entrypoint="app.py", name="event",
            env_class=f"{module}.ServedEvent", action_class=f"{module}.TextTurn",
            reset_kwargs={"url": url, **episode},
        ),
        server_client=servers,
    )  # fmt: skip
