"""What a table of the training split is worth: much in training, next to nothing in test."""

import pytest

from hexathlon.tasks.roleplay.scenes.compose import SCENES
from support.memoriser import Memoriser
from support.scene_memoriser import SceneMemoriser
from support.scenes import build, play

KINDS = ("boundary", "secret")


def results(kind, learnt, tests):
    """Scores and shares of right beats of a memoriser on further training tasks and on test."""
    seen = [build(f"roleplay/{kind}/hard/train/{index:05d}") for index in range(learnt)]
    tables = {language: Memoriser(seen, language) for language in ("en", "zh")}
    found = {}
    for split, first in (("train", 50_000), ("test", 0)):
        tasks = [build(f"roleplay/{kind}/hard/{split}/{first + i:05d}") for i in range(tests)]
        verdicts = [play(t, tables[t.params["language"]].actions(t))[1] for t in tasks]
        found[split] = (
            sum(verdict.score for verdict in verdicts) / tests,
            sum(verdict.partial for verdict in verdicts) / tests,
        )
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_memoriser_solves_nothing_in_test(kind):
    found = results(kind, 120, 10)
    assert found["test"][0] <= 0.1
    assert found["train"][1] > found["test"][1] + 0.1  # it does learn the wordings


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_large_table_solves_training_tasks_and_no_test_tasks(kind):
    found = results(kind, 1_500, 32)
    assert found["train"][0] >= 0.25 and found["test"][0] <= 0.1


def test_scenes_learnt_by_heart_are_worth_nothing_in_test():
    seen = [build(f"roleplay/{s}/hard/train/{i:05d}") for i in range(20) for s in SCENES]
    tables = {language: SceneMemoriser(seen, language) for language in ("en", "zh")}
    found = {}
    for split, first in (("train", 9_000), ("test", 0)):
        tasks = [
            build(f"roleplay/{s}/hard/{split}/{first + i:05d}") for i in (0, 1) for s in SCENES
        ]
        verdicts = [play(t, list(tables[t.params["language"]].actions(t)))[1] for t in tasks]
        found[split] = [verdict.partial for verdict in verdicts]
        assert not any(verdict.score for verdict in verdicts)
    assert sum(found["train"]) > sum(found["test"]) + 1  # it does learn the sentences
