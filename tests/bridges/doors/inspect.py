"""Samples of inspect_ai, evaluated with its scripted model."""

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import inspect_ai
from bridges.contract import Played, url_hash
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from hexathlon.baselines.bridges.inspect_tasks import event_task


def model(actions: tuple[str, ...]) -> Any:
    """A model that takes scripted actions, as inspect's own tests script theirs."""
    outputs = []
    for action in actions:
        call = json.loads(action)
        output = ModelOutput.for_tool_call("mockllm/model", call["name"], call["arguments"])
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        outputs.append(output)
    return get_model("mockllm/model", custom_outputs=outputs)


def evaluated(task: Any, actions: tuple[str, ...], place: Path) -> Any:
    """Evaluate a task with scripted actions and return its log."""
    (log,) = inspect_ai.eval(task, model=model(actions), log_dir=str(place), display="none")
    return log


class Client(contextlib.ExitStack):
    sees = True
    tells_the_end = True

    def __init__(self, event: str, **settings: Any) -> None:
        super().__init__()
        self.event, self.settings = event, settings
        self.place = Path(self.enter_context(tempfile.TemporaryDirectory()))

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        return self.play_together([(task, seed, actions)])[0]

    def play_together(self, episodes: list[tuple[str, int, tuple[str, ...]]]) -> list[Played]:
        """Play all in one evaluation: inspect runs one at a time."""
        tasks = []
        for number, (task, seed, actions) in enumerate(episodes):
            chosen = event_task(self.event, tasks=[task], seed=seed, **self.settings)
            # Ends an episode that the script leaves open: the prompt, then two messages a turn.
            chosen.message_limit = 2 + 2 * len(actions)
            name = f"{self.event}{number}"
            tasks.append(inspect_ai.task_with(chosen, name=name, model=model(actions)))
        logs = inspect_ai.eval(tasks, max_tasks=len(tasks), log_dir=str(self.place), display="none")
        logs.sort(key=lambda log: int(log.eval.task.removeprefix(self.event)))
        return [_seen(log, *each) for log, each in zip(logs, episodes, strict=True)]


def _seen(log: Any, task: str, seed: int, actions: tuple[str, ...]) -> Played:
    (sample,) = log.samples
    if sample.error is not None:
        assert log.status == "error" and not sample.scores
        raise RuntimeError(sample.error.message)
    assert [message.role for message in sample.messages[:2]] == ["system", "user"]
    seen = [sample.messages[1], *(each for each in sample.messages if each.role == "tool")]
    offered = next(each.tools for each in sample.events if each.event == "model")
    return Played(
        task, seed, actions, seen[0].text, tuple(each.text for each in seen[1:]),
        sample.scores["verdict"].value, sample.limit is None,
        tuple(sorted(tool.name for tool in offered)),
        tuple(url_hash(each) for message in seen for each in _pictures(message, sample)),
    )  # fmt: skip


def _pictures(message: Any, sample: Any) -> list[str]:
    if isinstance(message.content, str):
        return []
    names = [part.image for part in message.content if part.type == "image"]
    return [sample.attachments[name.removeprefix("attachment://")] for name in names]
