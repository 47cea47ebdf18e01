"""R-EMID of runs on `roleplay-shift`, with a scorer whose preferences are known."""

import json

import pytest

from hexathlon.baselines.harness.errors import UsageError
from hexathlon.baselines.roleplay.shift import shift_exchanges, shifts_of_run
from hexathlon_cli.app import run


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The oracle and an agent that says nothing of use, on 24 tasks of every factor and side."""
    folder = tmp_path_factory.mktemp("shift")
    for name in ("oracle", "random"):
        line = ["eval", f"agent:{name}", "--envs", "RolePlay", "--taskset", "roleplay-shift"]
        line += ["--split", "dev", "--level", "tiny", "--tasks", "24", "--out", str(folder / name)]
        assert run(line) == 0
    return folder


def shared_words(context, reply):
    """A score that rises with the words that reply and context have in common."""
    words = set(reply.lower().split())
    return 0.2 * len(words & set(context.lower().split())) - 5.0


def test_the_oracles_replies_are_the_references(played):
    exchanges = shift_exchanges(played / "oracle")
    assert set(exchanges) == {f"{n}-{s}" for n in ("user", "character", "dialogue")
                              for s in ("in", "out")}  # fmt: skip
    assert all(one.reply == one.reference for group in exchanges.values() for one in group)
    found = shifts_of_run(played / "oracle", shared_words, negatives=200)
    assert [one.factor for one in found] == ["user", "character", "dialogue"]
    assert all(one.result.value == pytest.approx(0.0) for one in found)


def test_other_replies_have_less_information_than_the_references(played):
    found = shifts_of_run(played / "random", shared_words, negatives=400)
    for one in found:
        assert one.inside > 1 and one.outside > 1
        assert one.result.in_distribution.value != one.result.shifted.value


def test_the_models_own_replies_are_part_of_its_dialogue(played):
    record = json.loads((played / "random" / "records.jsonl").read_text("utf-8").splitlines()[0])
    exchanges = shift_exchanges(played / "random")
    later = [one for group in exchanges.values() for one in group]
    first = next(one for one in later if one.reply in record["steps"][0]["action"])
    assert first.reply and first.reply != first.reference


def test_runs_of_other_tasks_are_refused(tmp_path):
    line = ["eval", "agent:noop", "--envs", "RolePlay", "--level", "tiny", "--tasks", "1"]
    assert run([*line, "--out", str(tmp_path / "run")]) == 0
    with pytest.raises(UsageError, match="evaluate with --taskset roleplay-shift"):
        shift_exchanges(tmp_path / "run")
