"""OpenEnv's own client against `make_app` on loopback."""

import contextlib
from typing import Any

from bridges.contract import Played, url_hash
from bridges.served import served
from openenv.core.generic_client import GenericEnvClient

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.openenv import make_app


class Client(contextlib.ExitStack):
    sees = True
    tells_the_end = True

    def __init__(self, event: str, **settings: Any) -> None:
        super().__init__()
        app = make_app(lambda: BridgedEpisode(event, **settings), TaskListing(event), event.lower())
        self.address = self.enter_context(served(app))

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        return play(self.address, task, seed, actions)


def play(address: str, task: str, seed: int, actions: tuple[str, ...]) -> Played:
    """Play an episode on the server at an address."""
    chosen = {"task": task}
    with GenericEnvClient(base_url=address).sync() as env:
        opening = env.reset(seed=seed, **chosen).observation
        results = [env.step({"text": action}) for action in actions]
    seen = [opening, *(each.observation for each in results)]
    return Played(
        task, seed, actions, opening["text"], tuple(each["text"] for each in seen[1:]),
        results[-1].reward or 0.0, results[-1].done,
        tuple(sorted(tool["function"]["name"] for tool in opening["tools"])),
        tuple(url_hash(each["image"]) for each in seen if each["image"]),
    )  # fmt: skip
