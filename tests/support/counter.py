"""A model that plays the toy event: right on most tasks, off by one on the others."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hexathlon.baselines.agents.base import Episode, Turn, text_of
from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.harness.config import ExecutionConfig
from hexathlon.baselines.harness.models import OpenedModel
from hexathlon.baselines.harness.run import evaluate
from hexathlon.envs.errors import EnvFault
from hexathlon.envs.messages import Message
from hexathlon.envs.tools import tool
from support.events import register_toy, toy_config, unregister
from support.toy import ADD, SUBMIT, ToyEnv

PLACE = "http://127.0.0.1:9/v1"
MODEL = f"endpoint:{PLACE}#counter"


class CounterAgent:
    """Reads the target from the instruction; fails if it is a multiple of three."""

    name, version, asynchronous = "llm", "1", False

    def begin(self, episode: Episode) -> "_CounterPlayer":
        return _CounterPlayer()


class _CounterPlayer:
    def __init__(self) -> None:
        self._left = -1

    def act(self, messages: Sequence[Message]) -> Turn:
        if self._left < 0:
            result = re.search(r"counter to (\d+)", text_of(messages))
            assert result is not None
            target = int(result[1])
            self._left = target - (target % 3 == 0)
        amount = min(9, self._left)
        self._left -= amount
        return Turn(ADD % amount if amount else SUBMIT, Usage(50, 5, 1))


class FailingEnv(ToyEnv):
    """Fails whenever the counter would exceed nine, unless the target is divisible by eight."""

    broken = True

    @tool
    def tool_add(self, amount: int) -> str:
        if self.broken and self.counter + amount > 9 and self.task.params["target"] % 8:
            raise EnvFault("the counter broke", cause="sandbox_lost")
        return super().tool_add(amount)


@contextmanager
def failing_toy() -> Iterator[None]:
    """Register `FailingEnv` as the environment `Fails`."""
    register_toy("harness/Fails-v0", f"{__name__}:FailingEnv")
    try:
        yield
    finally:
        unregister("harness/Fails-v0")


def counter_run(run: Path, **flags: Any) -> Path:
    """Have `CounterAgent` play toy tasks under the name of a model on a server."""
    known = {name: flags.pop(name) for name in list(flags) if name in ExecutionConfig.model_fields}
    config = toy_config(MODEL, **{"tasks": 12, **flags})
    description = {
        "kind": "endpoint", "name": "counter", "place": PLACE, "dialect": "json",
        "sampling": config.sampling.model_dump(mode="json"), "revision": None,
    }  # fmt: skip
    model = OpenedModel(CounterAgent(), description, None)
    return evaluate(config, ExecutionConfig(fsync="never", **known), run, model=model).run
