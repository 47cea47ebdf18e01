"""Environments of the Tinker cookbook, driven token by token through its own renderer."""

import asyncio
import contextlib
from typing import Any

import tinker
from bridges.contract import Played, described, split
from bridges.tokenizers import tiny_tokenizer
from tinker_cookbook.renderers import get_renderer
from tinker_cookbook.rl.message_env import EnvFromMessageEnv

from hexathlon.baselines.bridges.tinker_env import EventMessageEnv


class Client(contextlib.ExitStack):
    sees = True
    tells_the_end = True

    def __init__(self, event: str, **settings: Any) -> None:
        super().__init__()
        self.event, self.settings = event, settings
        self.tokenizer = tiny_tokenizer()
        self.renderer = get_renderer("role_colon", self.tokenizer)

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        return asyncio.run(self._play(task, seed, actions))

    async def _play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        inner = EventMessageEnv(self.event, task, seed, **self.settings)
        try:
            if self.settings.get("screenshot"):  # this renderer writes text only
                return await self._by_messages(inner, task, seed, actions)
            env = EnvFromMessageEnv(self.renderer, inner)
            observation, stop = await env.initial_observation()
            assert isinstance(observation, tinker.ModelInput) and stop
            for action in actions:
                ids = self.tokenizer.encode(f" {action}\n\nUser:", add_special_tokens=False)
                step = await env.step(ids, extra={"stop_reason": "stop"})
                assert "parse_error" not in step.metrics
            assert step.next_observation.length > observation.length
            return _seen(inner._messages, task, seed, actions, step.reward, step.episode_done)
        finally:
            await inner.close()

    async def _by_messages(
        self, inner: Any, task: str, seed: int, actions: tuple[str, ...]
    ) -> Played:
        await inner.initial_observation()
        for action in actions:
            step = await inner.step({"role": "assistant", "content": action})
        return _seen(inner._messages, task, seed, actions, step.reward, step.episode_done)


def _seen(
    messages: list[Any], task: str, seed: int, actions: tuple[str, ...], reward: float,
    done: bool,
) -> Played:  # fmt: skip
    contents = [_openai(each["content"]) for each in messages if each["role"] == "user"]
    texts, images = zip(*map(split, contents), strict=True)
    return Played(task, seed, actions, texts[0], texts[1:], reward, done,
                  described(messages[0]["content"]), sum(images, ()))  # fmt: skip


def _openai(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [{"type": "image_url", "image_url": {"url": each["image"]}} if "image" in each else each
            for each in content]  # fmt: skip
