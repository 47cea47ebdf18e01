"""An environment registered with SkyRL-Gym."""

import contextlib
from typing import Any

import skyrl_gym
from bridges.contract import Played, described, split
from skyrl_gym.envs.registration import registry


class Client(contextlib.ExitStack):
    sees = True
    tells_the_end = True

    def __init__(self, event: str, **settings: Any) -> None:
        super().__init__()
        self.name = f"hexathlon-{event}"
        if self.name not in registry:
            skyrl_gym.register(self.name, "hexathlon.baselines.bridges.skyrl:make_env",
                               kwargs={"env_config": {"event": event, **settings}})  # fmt: skip

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        with skyrl_gym.make(self.name, extras={"task": task, "seed": seed}) as env:
            prompt, _ = env.init([])
            assert [message["role"] for message in prompt] == ["system", "user"]
            results = [env.step(action) for action in actions]
        contents = [prompt[1]["content"], *(r["observations"][0]["content"] for r in results)]
        texts, images = zip(*map(split, contents), strict=True)
        last, names = results[-1], described(prompt[0]["content"])
        return Played(task, seed, actions, texts[0], texts[1:], last["reward"],
                      last["done"], names, sum(images, ()))  # fmt: skip
