"""`eval CHECKPOINT`: a checkpoint directory plays through the torch engine, reproducibly."""

import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.agents.checkpoint import SETTINGS, revision_of
from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.run import stored_plan
from hexathlon.baselines.harness.verify import verify_run
from hexathlon.baselines.warmstart.initial import make_tokenizer
from support.events import records, toy_run
from support.policies import untrained_policy


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of an untrained policy that uses the compact dialect."""
    return untrained_policy(tmp_path_factory.mktemp("policies") / "untrained")


@pytest.fixture
def broken(untrained: Path, tmp_path: Path) -> Path:
    """A copy that a test may corrupt."""
    return Path(shutil.copytree(untrained, tmp_path / "broken"))


def test_checkpoint_runs_are_reproducible(untrained: Path, tmp_path: Path) -> None:
    sampling = {"max_reply_tokens": 12, "sampling_seed": 3}
    runs = [tmp_path / name for name in ("one", "other")]
    for run, concurrency in zip(runs, (4, 4), strict=True):
        outcome = toy_run(run, str(untrained), **sampling, concurrency=concurrency)
        assert outcome.played == 8
    plan = stored_plan(runs[0])
    assert plan is not None
    assert plan["model"]["kind"] == "checkpoint"
    assert plan["model"]["dialect"] == "compact"
    assert plan["model"]["revision"] == revision_of(untrained)
    first, second = (
        {record["key"]["task"]: record["steps"] for record in records(run)} for run in runs
    )
    assert first == second
    for record in records(runs[0]):
        assert record["status"] == "scored"
        assert record["usage"]["agent"]["output"] > 0
    assert verify_run(runs[0]).findings == ()


def test_revision_depends_on_weights(untrained: Path, broken: Path) -> None:
    file = broken / "model.safetensors"
    damaged = bytearray(file.read_bytes())
    damaged[-1] ^= 1
    file.write_bytes(bytes(damaged))
    assert revision_of(broken) != revision_of(untrained)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: (path / "config.json").unlink(), "no config.json"),
        (lambda path: (path / "config.json").write_text("{"), "is not JSON"),
        (lambda path: (path / "tokenizer.json").unlink(), "the tokenizer of .* cannot be read"),
        (lambda path: (path / "chat_template.jinja").unlink(), "no chat template"),
        (lambda path: (path / "chat_template.jinja").write_text("{{ 1 }}"), "does not render"),
        (lambda path: (path / "model.safetensors").unlink(), "has no weights"),
        (
            lambda path: (path / "model.safetensors").write_bytes(
                (path / "model.safetensors").read_bytes()[:5000]
            ),
            "is not a complete safetensors file",
        ),
        (lambda path: (path / SETTINGS).write_text("[]"), "is invalid"),
        (lambda path: (path / SETTINGS).write_text('{"dialect": "dutch"}'), "no dialect 'dutch'"),
    ],
)
def test_damaged_checkpoint_gives_one_line_error(broken, tmp_path, damage, message) -> None:
    damage(broken)
    with pytest.raises(UsageError, match=message):
        toy_run(tmp_path / "run", str(broken))
    assert not (tmp_path / "run").exists()


def test_tokenizer_of_another_model_is_rejected(broken: Path, tmp_path: Path) -> None:
    bigger = make_tokenizer([chr(97 + n % 26) * (n % 9) + "xyz" for n in range(3000)], 900)
    bigger.save_pretrained(str(broken))
    with pytest.raises(UsageError, match="not from the same checkpoint"):
        toy_run(tmp_path / "run", str(broken))


def test_missing_weights_are_rejected(broken: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(str(broken / "model.safetensors"))
    del tensors["model.norm.weight"]
    save_file(tensors, str(broken / "model.safetensors"), {"format": "pt"})
    with pytest.raises(UsageError, match="lacks 1 of its model's weights, such as model.norm"):
        toy_run(tmp_path / "run", str(broken))


def test_non_finite_weights_are_rejected(broken: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(str(broken / "model.safetensors"))
    tensors["model.norm.weight"][0] = float("nan")
    save_file(tensors, str(broken / "model.safetensors"), {"format": "pt"})
    with pytest.raises(UsageError, match=r"model.norm.weight .* not finite"):
        toy_run(tmp_path / "run", str(broken))
