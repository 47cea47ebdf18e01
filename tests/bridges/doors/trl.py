"""A class for TRL's `environment_factory`, used as its trainer does."""

import contextlib
import inspect
import io
import json
from typing import Any

from bridges.contract import Played, picture_hash
from transformers.utils import get_json_schema

from hexathlon.baselines.bridges.trl import environment_class


class Client(contextlib.ExitStack):
    sees = True
    tells_the_end = True

    def __init__(self, event: str, **settings: Any) -> None:
        super().__init__()
        self.factory = environment_class(event, **settings)

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        env = self.factory()
        methods = {
            name: getattr(env, name)
            for name, _ in inspect.getmembers(type(env), predicate=inspect.isfunction)
            if name not in ("reset", "get_reward") and not name.startswith("_")
        }
        schemas = [get_json_schema(method)["function"] for method in methods.values()]
        contents = [env.reset(task=task, seed=seed)]
        for action in actions:
            call = json.loads(action)
            with contextlib.suppress(Exception):  # TRL's trainer catches them, too
                contents.append(methods[call["name"]](**call["arguments"]))
        reward = env.get_reward()
        over, system = env._episode.over, env._episode.env.system_prompt
        usable = tuple(sorted(tool.name for tool in env._episode.env.task.tools))
        env._episode.close()
        assert set(usable) <= {schema["name"] for schema in schemas}
        texts, images = zip(*map(_split, contents), strict=True)
        opening = texts[0].removeprefix(system)
        if opening.startswith("\n\nTools: "):
            opening = opening.partition(".\n\n")[2]
        return Played(task, seed, actions, opening.removeprefix("\n\n"), texts[1:],
                      reward, over, usable, sum(images, ()))  # fmt: skip


def _split(content: Any) -> tuple[str, tuple[str, ...]]:
    if isinstance(content, str):
        return content, ()
    text, picture = content
    data = io.BytesIO()
    picture["image"].save(data, "PNG")
    return text["text"], (picture_hash(data.getvalue()),)
