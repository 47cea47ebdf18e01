"""Episodes of verifiers' own runner, against a scripted model server on loopback."""

import asyncio
import contextlib
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from bridges.contract import Played, described, split
from bridges.served import served
from verifiers.v1.utils.loaders import load_environment

from hexathlon.baselines.bridges.verifiers_env import PlayedEnvConfig
from hexathlon.baselines.bridges.verifiers_taskset import EventData, EventTask


class Client(contextlib.ExitStack):
    sees = True
    tells_the_end = False

    def __init__(self, event: str, **settings: Any) -> None:
        super().__init__()
        self.event, self.settings = event, settings
        patch = self.enter_context(pytest.MonkeyPatch.context())
        patch.syspath_prepend(str(Path(__file__).parents[1]))
        patch.setenv("SCRIPTED_KEY", "none")
        self.scripts: dict[str, tuple[str, ...]] = {}
        self.requests: dict[str, list[Any]] = {}
        self.names = itertools.count()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await self._model(scope, receive, send)

        self.address = self.enter_context(served(app))

    async def _model(self, scope: Any, receive: Any, send: Any) -> None:
        """The model server: the nth turn of a conversation is the nth action of its script."""
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        asked = json.loads(body)
        turn = sum(message["role"] == "assistant" for message in asked["messages"])
        self.requests[asked["model"]] = asked["messages"]
        message = {"role": "assistant", "content": self.scripts[asked["model"]][turn]}
        reply = {
            "id": "reply", "object": "chat.completion", "created": 0, "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip
        head = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": json.dumps(reply).encode()})

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        return self.play_together([(task, seed, actions)])[0]

    def play_together(self, episodes: list[tuple[str, int, tuple[str, ...]]]) -> list[Played]:
        return asyncio.run(self._play(episodes))

    async def _play(self, episodes: list[tuple[str, int, tuple[str, ...]]]) -> list[Played]:
        turns = max(len(actions) for _, _, actions in episodes)
        player = {"runtime": {"type": "subprocess"}, "max_turns": turns}
        config = PlayedEnvConfig(taskset={"id": "hexathlon-events"}, player=player)
        env = load_environment(config)
        async with env.serving():
            return await asyncio.gather(*(self._one(env, *each) for each in episodes))

    async def _one(self, env: Any, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        name = f"script{next(self.names)}"
        self.scripts[name] = actions
        client = vf.EvalClientConfig(base_url=f"{self.address}/v1", api_key_var="SCRIPTED_KEY")
        data = EventData(idx=0, name=task, event=self.event, seed=seed, settings=self.settings)
        context = vf.ModelContext(model=name, client=client)
        episode = await env.run_episode(EventTask(data), context)
        for error in [*episode.errors, *(e for trace in episode.traces for e in trace.errors)]:
            raise RuntimeError(error.message)
        (trace,) = episode.traces
        system, *rest = self.requests[name]
        heard = [split(each["content"]) for each in rest if each["role"] == "user"]
        texts, images = zip(*heard, strict=True)
        turns = sum(each["role"] == "assistant" for each in rest) + 1
        return Played(task, seed, actions, texts[0], texts[1:], trace.reward, turns == len(actions),
                      described(system["content"]), sum(images, ()))  # fmt: skip
