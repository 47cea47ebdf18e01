"""What a table of the training split is worth: much in training, next to nothing in test."""

import pytest

from support.memoriser import Memoriser
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
