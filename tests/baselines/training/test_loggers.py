"""TensorBoard and Weights & Biases receive a run's metrics, through the real packages."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.api import train
from hexathlon.baselines.training.loggers import open_loggers
from hexathlon.baselines.training.metrics import read_metrics
from hexathlon.baselines.training.recipe import load_recipe
from hexathlon.baselines.training.samples import choose_samples
from hexathlon.evaluators.records import read_records

RECIPE = """
name = "toy"
steps = 2
save_every = 1
[tasks]
env = "harness/Toy-v0"
source = "toy"
turns = 5
[policy.shape]
vocabulary = 300
width = 32
layers = 2
heads = 2
kv_heads = 1
feed_forward = 64
context = 256
[clone]
demonstrations = 64
[clone.settings]
steps = 5
batch = 16
[rollout]
groups = 2
members = 2
max_tokens = 12
[credit.estimator]
name = "reinforce"
parameters = { baseline = 0.5 }
[evaluation]
tasks = 4
every = 1
"""


@pytest.fixture
def recipe(tmp_path: Path) -> str:
    path = tmp_path / "toy.toml"
    path.write_text(RECIPE)
    return str(path)


def test_tensorboard_has_metrics_evaluations_and_samples(recipe: str, tmp_path: Path) -> None:
    reason = "pip install 'hexathlon[logging]'"
    pytest.importorskip("tensorboard", reason=reason)
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    out = tmp_path / "run"
    results = train(recipe, out, log_to=["tensorboard"])
    events = EventAccumulator(str(out / "tensorboard"), {"tensors": 0, "scalars": 0})
    events.Reload()
    logged: dict[int, dict[str, float]] = defaultdict(dict)
    for name in events.Tags()["scalars"]:
        for event in events.Scalars(name):
            logged[event.step][name] = event.value
    for row in read_metrics(out / "metrics.jsonl"):
        step = row.pop("step")
        for name, value in row.items():
            if (step, name) != (2, "dev/success"):  # the evaluation after the last step
                assert logged[step][name] == pytest.approx(value, rel=1e-5, abs=1e-7)
    for step, moment in ((0, "before"), (2, "after")):
        bounds = [logged[step][f"dev/{name}"] for name in ("low", "success", "high")]
        interval = results[moment]
        assert bounds == pytest.approx([interval.low, interval.mean, interval.high], rel=1e-5)
    assert logged[1]["dev/low"] <= logged[1]["dev/success"] <= logged[1]["dev/high"]
    texts = {
        (event.step, name): event.tensor_proto.string_val[0].decode()
        for name in events.Tags()["tensors"]
        for event in events.Tensors(name)
    }
    assert json.loads(texts[0, "recipe/text_summary"].strip("`\n"))["name"] == "toy"
    for step, moment in ((0, "before"), (2, "after")):
        for sample in choose_samples(list(read_records(out / moment))):
            kind = "solved" if sample.reward == 1.0 else "failed"
            shown = texts[step, f"samples/{kind}/text_summary"]
            assert sample.task in shown and sample.transcript in shown
    assert {step for step, name in texts if name.startswith("samples/")} == {0, 1, 2}


def log_records(data: bytes) -> Iterator[bytes]:
    """The records of an offline run: LevelDB's log format behind a header of seven bytes."""
    block, head = 32_768, 7
    place, parts = head, b""
    while place + head <= len(data):
        if block - place % block < head:  # too little room for a header: padding
            place += block - place % block
            continue
        size, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        parts += data[place + head : place + head + size]
        place += head + size
        if kind in (1, 4):  # whole, or the last part
            yield parts
            parts = b""


def test_weights_and_biases_works_offline(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = pytest.importorskip("wandb", reason="pip install 'hexathlon[logging]'")
    from wandb.proto import wandb_internal_pb2

    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    out = tmp_path / "run"
    results = train(recipe, out, log_to=["wandb"])
    wandb.teardown()  # its own process writes the file
    (file,) = (out / "wandb").glob("offline-run-*/run-*.wandb")
    logged: dict[int, dict[str, Any]] = defaultdict(dict)
    for data in log_records(file.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        for item in record.history.item:
            name = item.key or "/".join(item.nested_key)
            logged[record.history.step.num][name] = json.loads(item.value_json)
    for step, moment in ((0, "before"), (2, "after")):
        bounds = [logged[step][f"dev/{name}"] for name in ("low", "success", "high")]
        interval = results[moment]
        assert bounds == pytest.approx([interval.low, interval.mean, interval.high])
        assert logged[step]["samples/_type"] == "table-file"
    for row in read_metrics(out / "metrics.jsonl"):
        assert logged[row["step"]].keys() >= row.keys() - {"step"}
    tables = list((out / "wandb").rglob("*.table.json"))
    shown = [row for table in tables for row in json.loads(table.read_text())["data"]]
    for sample in choose_samples(list(read_records(out / "after"))):
        assert list(sample) in shown


def test_a_logger_that_is_missing_is_named(
    recipe: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_recipe(recipe)
    with pytest.raises(ValueError, match="expected tensorboard and wandb"):
        open_loggers(["mlflow"], tmp_path, loaded)
    monkeypatch.setitem(__import__("sys").modules, "wandb", None)
    with pytest.raises(ValueError, match=r"pip install 'hexathlon\[logging\]'"):
        open_loggers(["wandb"], tmp_path, loaded)


def test_samples_are_the_first_solved_and_the_first_failed_trial() -> None:
    def record(task: str, reward: float | None, observation: Any = "3 rows") -> dict[str, Any]:
        step = {"action": "```list```", "observation": observation}
        return {"key": {"task": task}, "reward": reward, "opening": "Count.", "steps": [step]}

    records = [record("a", 0.0), record("b", None), record("c", 1.0), record("d", 1.0)]
    solved, failed = choose_samples(records)
    assert (solved.task, failed.task) == ("c", "a")
    assert "**task**" in solved.transcript and "3 rows" in solved.transcript
    assert "````\n```list```\n````" in solved.transcript
    assert choose_samples(records[1:2]) == [choose_samples(records[1:])[1]]
    assert choose_samples([]) == []
    parts = [{"type": "text", "text": "look"}, {"type": "image", "sha256": "0"}]
    assert "look\n[image]" in choose_samples([record("e", 1.0, parts)])[0].transcript
    (long,) = choose_samples([record("f", 1.0, "x" * 9_999)])
    assert len(long.transcript) < 3_000
