import json
from pathlib import Path

import pytest

inspect_ai = pytest.importorskip("inspect_ai", reason="scripts/bridges inspect")

from bridges.contract import EVENT, GOLD, Played, broken, check_bridge
from bridges.guide import example

from hexathlon.baselines.bridges import inspect_tasks
from hexathlon.baselines.bridges.inspect_tasks import event_task


def model(actions: tuple[str, ...]):
    """A model that takes scripted actions, as inspect's own tests script theirs."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    outputs = []
    for action in actions:
        call = json.loads(action)
        output = ModelOutput.for_tool_call("mockllm/model", call["name"], call["arguments"])
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        outputs.append(output)
    return get_model("mockllm/model", custom_outputs=outputs)


def evaluated(task, actions: tuple[str, ...], place: Path):
    (log,) = inspect_ai.eval(task, model=model(actions), log_dir=str(place), display="none")
    return log


class Client:
    def __init__(self, place: Path) -> None:
        self.place = place

    def play(self, task: str, seed: int, actions: tuple[str, ...]) -> Played:
        chosen = event_task(EVENT, tasks=[task], seed=seed)
        # Ends an episode that the script leaves open: the prompt, then two messages a turn.
        chosen.message_limit = 2 + 2 * len(actions)
        log = evaluated(chosen, actions, self.place)
        (sample,) = log.samples
        assert sample.error is None, sample.error
        assert [message.role for message in sample.messages[:2]] == ["system", "user"]
        texts = tuple(each.text for each in sample.messages if each.role == "tool")
        reward = sample.scores["verdict"].value
        return Played(task, seed, actions, sample.messages[1].text, texts, reward,
                      sample.limit is None)  # fmt: skip


def test_episodes_are_those_of_gymnasium(tmp_path: Path) -> None:
    check_bridge(Client(tmp_path))


def test_the_log_has_the_tools_and_the_terms(tmp_path: Path) -> None:
    gold = GOLD[0]
    log = evaluated(event_task(EVENT, tasks=[gold.task], seed=gold.seed), gold.actions, tmp_path)
    (sample,) = log.samples
    names = {tool.name for each in sample.events if each.event == "model" for tool in each.tools}
    assert {"run_query", "submit"} <= names
    assert gold.task not in str(sample.messages)
    assert sample.scores["verdict"].metadata
    assert log.results.scores[0].metrics["mean"].value == 1.0


def test_a_screen_is_an_image() -> None:
    import numpy as np

    from hexathlon.evaluators.content import Image

    screen = Image.from_array(np.zeros((4, 3, 3), np.uint8))
    text, image = inspect_tasks._content("Home", screen)
    assert (text.text, image.image) == ("Home", screen.data_url())


def test_samples_are_the_first_tasks_of_a_split() -> None:
    task = event_task(EVENT, level="tiny", split="dev", count=3)
    assert [sample.metadata["index"] for sample in task.dataset] == [0, 1, 2]
    assert all("/tiny/dev/" in sample.id for sample in task.dataset)


def test_a_fault_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(inspect_tasks, "BridgedEpisode", lambda *_, **__: broken())
    log = evaluated(event_task(EVENT, tasks=[GOLD[0].task]), GOLD[0].actions, tmp_path)
    assert log.status == "error"
    assert "the disk is gone" in log.error.message
    assert not log.samples[0].scores


def test_the_guides_example_runs() -> None:
    names: dict[str, object] = {}
    exec(example("inspect_example.py"), names)
    assert len(names["sql"]().dataset) == 100
