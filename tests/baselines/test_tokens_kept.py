"""Tokens stored beside the records of an evaluation, and trajectories of a training run."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")
pytest.importorskip("transformers", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.harness.tokens import TOKENS_FILE, read_tokens
from hexathlon.baselines.tokens.trajectory import Trajectory
from hexathlon.baselines.tokens.tree import Node, TokenTree
from hexathlon.baselines.training.rollouts import RolloutLog, rescored, stored
from hexathlon.evaluators.records import record_key
from support.events import FIRST, TOY, records, toy_run
from support.policies import untrained_policy
from support.resuming import whole
from support.toy import ToyEnv


def test_an_evaluation_keeps_its_tokens(tmp_path: Path) -> None:
    policy = str(untrained_policy(tmp_path / "policy", context=2048))
    flags = {"tasks": 2, "max_tokens": 8, "keep_tokens": True}
    toy_run(tmp_path / "run", policy, **flags)
    written = {record["hash"]: record for record in records(tmp_path / "run")}
    kept = list(read_tokens(tmp_path / "run"))
    assert {one.record_hash for one in kept} == set(written)
    for one in kept:
        record = written[one.record_hash]
        assert one.key == record_key(record)
        drawn = [node for node in one.tree.nodes if node.kind == "sampled"]
        assert len(drawn) == record["turns"] > 0
        used = [step["tokens"]["output"] for step in record["steps"]]
        assert [len(node.ids) for node in drawn] == used
        assert all(len(node.log_probabilities) == len(node.ids) for node in drawn)


def test_torn_token_line_is_removed_on_resume(tmp_path: Path) -> None:
    policy = str(untrained_policy(tmp_path / "policy", context=2048))
    flags = {"tasks": 2, "max_tokens": 8, "keep_tokens": True}
    run = tmp_path / "run"
    toy_run(run, policy, **flags)
    whole_lines = (run / TOKENS_FILE).read_bytes()
    (run / TOKENS_FILE).write_bytes(whole_lines + b'{"key":')
    assert len(list(read_tokens(run))) == 2
    toy_run(run, policy, **flags)
    assert (run / TOKENS_FILE).read_bytes() == whole_lines


def test_agent_without_tokens_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs a checkpoint directory"):
        toy_run(tmp_path / "run", "agent:oracle", keep_tokens=True)
    assert not (tmp_path / "run").exists()


def played() -> Trajectory:
    from hexathlon.baselines.agents.scripted import ScriptedAgent
    from hexathlon.baselines.rollout.rollout import EnvironmentSlot

    trajectory = whole(ScriptedAgent("oracle"), EnvironmentSlot(ToyEnv), (TOY, FIRST, 0, 0))
    nodes = [
        Node((1, 2), "prompt"),
        Node((3,), "sampled", 0, 0, (-0.1 - 0.2,), (4,), finish="stop", state="ab", trial=0),
        Node((5,), "sampled", 1, 1, (-1e-17,), (4,), trial=0),
    ]
    return Trajectory(
        trajectory.record, TokenTree(nodes), "system", (), {"00": b"\x00\xff"}, errors=(0, 2)
    )


@pytest.mark.parametrize("tokens", [True, False])
def test_a_training_run_stores_its_rollouts(tokens: bool, tmp_path: Path) -> None:
    trajectory = played()
    log = RolloutLog(tmp_path, "rescored", tokens=tokens)
    (again,) = log.keep(3, 1, [trajectory])
    (path,) = tmp_path.glob("*.jsonl.gz")
    assert again.tokens == trajectory.tokens
    assert again.record["reward"] == trajectory.record["reward"] == 1.0
    assert [record["reward"] for record in rescored(path)] == [1.0]
    if tokens:
        (read,) = stored(path)
        assert read.tokens == trajectory.tokens and read.media == trajectory.media
        assert read.record == trajectory.record
        assert [sample.errors for sample in read.samples()] == [(0, 2)]
    else:
        with pytest.raises(ValueError, match="keep_tokens"):
            stored(path)
