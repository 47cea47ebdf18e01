"""A model that plays the toy event: right on most tasks, one short on the others."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hexathlon.baselines.agents.base import Episode, Turn, text_of
from hexathlon.baselines.engines.base import Usage
from hexathlon.baselines.harness.config import ExecutionConfig
from hexathlon.baselines.harness.models import OpenedModel
from hexathlon.baselines.harness.run import evaluate
from hexathlon.envs.messages import Message
from support.events import toy_config
from support.toy import ADD, SUBMIT

PLACE = "http://127.0.0.1:9/v1"
MODEL = f"endpoint:{PLACE}#counter"


class CounterAgent:
    """Reads the target from the instruction; errs where it is a multiple of three."""

    name, version, asynchronous = "llm", "1", False

    def begin(self, episode: Episode) -> "_CounterPlayer":
        return _CounterPlayer()


class _CounterPlayer:
    def __init__(self) -> None:
        self._left = -1

    def act(self, messages: Sequence[Message]) -> Turn:
        if self._left < 0:
            found = re.search(r"counter to (\d+)", text_of(messages))
            assert found is not None
            target = int(found[1])
            self._left = target - (target % 3 == 0)
        amount = min(9, self._left)
        self._left -= amount
        return Turn(ADD % amount if amount else SUBMIT, Usage(50, 5, 1))


def counter_run(run: Path, **flags: Any) -> Path:
    """Let the counter play toy tasks under the name of a model on a server."""
    config = toy_config(MODEL, **{"tasks": 12, **flags})
    description = {
        "kind": "endpoint", "name": "counter", "place": PLACE, "dialect": "json",
        "sampling": config.sampling.model_dump(mode="json"), "revision": None,
    }  # fmt: skip
    model = OpenedModel(CounterAgent(), description, None)
    return evaluate(config, ExecutionConfig(fsync="never"), run, model=model).run
