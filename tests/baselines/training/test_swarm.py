"""Runs that share rollouts as text (SAPO)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install 'hexathlon[train]'")

from hexathlon.baselines.algorithms.estimators import all_samples
from hexathlon.baselines.codecs import get_codec
from hexathlon.baselines.codecs.base import fitted
from hexathlon.baselines.learner.batching import Example
from hexathlon.baselines.training.rollouts import newest, shared
from hexathlon.baselines.training.start import make_start
from support import dice  # noqa: F401 - registers its source
from support.registered_parts import tiny_recipe, trainer_of

SIZE = {"groups": 6, "members": 6, "max_tokens": 12}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("start")
    cloned = {"demonstrations": 64, "settings": {"steps": 60, "batch": 16}}
    make_start(tiny_recipe(clone=cloned), place, lambda *told: None)
    return place


@pytest.fixture(scope="module")
def peer(start: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two steps that shares its rollouts."""
    folder = tmp_path_factory.mktemp("swarm") / "peer"
    recipe = tiny_recipe(rollout=SIZE, swarm={"share": True}, seed=5)
    with trainer_of(recipe, start, folder) as trainer:
        for _ in range(2):
            trainer.advance()
    return folder


def drawn(trainer: Any, step: int = 0) -> list[Any]:
    return trainer.components.of_peers(step)


def test_groups_of_peers_are_read_with_the_own_tokens(peer, start, tmp_path) -> None:
    recipe = tiny_recipe(rollout=SIZE, swarm={"peers": [str(peer)], "groups": 99})
    played = [each for path in newest(peer / "rollouts", 4) for each in shared(path)]
    assert all(each.tokens is None and each.system_prompt for each in played)
    rewards: dict[tuple[Path, str], list[float]] = {}
    for path in newest(peer / "rollouts", 4):
        for each in shared(path):
            rewards.setdefault((path, each.key[1]), []).append(each.record["reward"])
    varied = [values for values in rewards.values() if len(set(values)) > 1]
    with trainer_of(recipe, start, tmp_path) as trainer:
        groups = drawn(trainer)
        learner = trainer.components.learner
        assert len(groups) == len(varied) > 0
        assert sorted(group.rewards.tolist() for group in groups) == sorted(varied)
        for sample in all_samples(groups):
            example = Example(sample, np.zeros(len(sample.ids)), sample.sampled.astype(float))
            (score,) = learner.score([example])
            assert np.allclose(sample.behaviour, np.where(sample.sampled, score, 0.0), atol=1e-5)
            assert set(sample.version[sample.sampled]) == {0} and sample.behaviour.any()
        metrics = trainer.advance()
    assert metrics["swarm/groups"] == len(varied)


@pytest.mark.parametrize("dialect", ["lines", "hermes", "react"])
def test_what_peers_said_is_what_is_trained_on(peer, start, tmp_path, dialect) -> None:
    """Whatever the dialect, the policy's codec reads the peers' actions from the sampled tokens."""
    recipe = tiny_recipe(rollout=SIZE, swarm={"peers": [str(peer)], "groups": 99})
    recipe = recipe.model_copy(
        update={"policy": recipe.policy.model_copy(update={"dialect": dialect})}
    )
    played = [each for path in newest(peer / "rollouts", 4) for each in shared(path)]
    said = {step["action"] for each in played for step in each.record["steps"]}
    codec = fitted(get_codec(dialect), played[0].tools)
    read = set()
    with trainer_of(recipe, start, tmp_path) as trainer:
        renderer = trainer._renderer
        for sample in all_samples(drawn(trainer)):
            for turn in range(len(sample.rewards)):
                ids = sample.ids[sample.sampled & (sample.turn == turn)].tolist()
                read.add(codec.decode({"role": "assistant", "content": renderer.decode(ids)}))
    assert read and read <= said


def test_a_step_draws_as_many_groups_as_asked_from_the_newest_batches(
    peer, start, tmp_path
) -> None:
    recipe = tiny_recipe(rollout=SIZE, swarm={"peers": [str(peer)], "groups": 2, "newest": 1})
    with trainer_of(recipe, start, tmp_path) as trainer:
        groups, again = drawn(trainer, 3), drawn(trainer, 3)
        assert len(groups) == 2 and [g.task for g in groups] == [g.task for g in again]
        tasks = {each.key[1] for each in shared(newest(peer / "rollouts", 1)[0])}
        assert {group.task for group in groups} <= tasks


def test_peers_that_have_shared_nothing_yet_give_no_groups(start, tmp_path) -> None:
    recipe = tiny_recipe(rollout=SIZE, swarm={"peers": [str(tmp_path / "later")]})
    with trainer_of(recipe, start, tmp_path / "own") as trainer:
        assert drawn(trainer) == []
        assert trainer.advance()["swarm/groups"] == 0


def test_rollouts_without_their_prompts_are_refused(start, tmp_path) -> None:
    with trainer_of(tiny_recipe(rollout=SIZE), start, tmp_path / "silent") as trainer:
        trainer.advance()
    recipe = tiny_recipe(rollout=SIZE, swarm={"peers": [str(tmp_path / "silent")]})
    with (
        trainer_of(recipe, start, tmp_path / "own") as trainer,
        pytest.raises(ValueError, match="no prompts; train with swarm.share = true"),
    ):
        trainer.advance()
