"""OpenReward's own client against `make_ors_app` on loopback."""

import base64
import contextlib
import json
from typing import Any

from bridges.contract import Played, picture_hash
from bridges.served import served
from openreward import OpenReward
from openreward.api.environments.types import Task

from hexathlon.baselines.bridges.episodes import BridgedEpisode
from hexathlon.baselines.bridges.listing import TaskListing
from hexathlon.baselines.bridges.ors import make_ors_app


class Client(contextlib.ExitStack):
    sees = True
    tells_the_end = True

    def __init__(self, event: str, **settings: Any) -> None:
        super().__init__()
        self.name = event.lower()
        app = make_ors_app(lambda: BridgedEpisode(event, **settings), TaskListing(event), self.name)
        self.address = self.enter_context(served(app))

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        with OpenReward(api_key="none", base_url=self.address) as client:
            env = client.environments.get(self.name, base_url=self.address)
            row = Task(self.name, self.name, {"task": task, "seed": seed}, None)
            with env.session(task=row) as session:
                system, *opening = session.get_prompt()
                offered = tuple(sorted(tool.name for tool in session.list_tools()))
                outputs = []
                for action in actions:
                    call = json.loads(action)
                    outputs.append(session.call_tool(call["name"], call["arguments"]))
        contents = [opening, *(output.blocks for output in outputs)]
        texts, images = zip(*map(_split, contents), strict=True)
        last = outputs[-1]
        if "\n\nTools: " in system.text:
            names = system.text.rpartition("\n\nTools: ")[2].rstrip(".").split(", ")
            assert set(names) <= set(offered)
            offered = tuple(sorted(names))
        return Played(task, seed, actions, texts[0], texts[1:], last.reward or 0.0,
                      last.finished, offered, sum(images, ()))  # fmt: skip


def _split(blocks: Any) -> tuple[str, tuple[str, ...]]:
    text, *pictures = blocks
    return text.text, tuple(picture_hash(base64.b64decode(each.data)) for each in pictures)
